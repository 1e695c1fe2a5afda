"""Token estimate of a text without a tokenizer, since each model has its own."""

from __future__ import annotations

BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens: one for every three bytes of UTF-8, rounded up.

    English prose has about four characters per token with usual tokenizers, so the estimate errs on the safe side; a
    character of Chinese or Japanese counts as one token. Hexadecimal, base64 and the like can take more tokens.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
