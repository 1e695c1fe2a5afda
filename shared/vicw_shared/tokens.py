"""What a text costs a language model, by an estimate that needs no tokenizer: every model has its own."""

from __future__ import annotations

BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return an estimate: one token for every three bytes of UTF-8, rounded up.

    English prose has about four characters a token with usual tokenizers, so that it errs on the safe side; a
    character of Chinese or Japanese counts as one token. Hexadecimal, base64 and the like can take more than that.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
