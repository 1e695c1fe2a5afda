"""The tokenizer of an ONNX model, in the file that lies beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicw_embedding.engine.windows import find_frame
from vicw_shared.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path


class OnnxTokenizer:
    """Reads texts as the model was trained to. Its methods may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """Raises SettingsError if ``path``, a ``tokenizer.json``, is missing or damaged."""
        from tokenizers import Tokenizer

        if not path.is_file():
            raise SettingsError(
                f"{path} is missing: an ONNX model needs its tokenizer. Put the file of this name that was published "
                "with the model there"
            )
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises no narrower one
            raise SettingsError(f"{path} is damaged, fetch it again ({error})") from error
        # Windows are cut and padded elsewhere; a text that says "[SEP]" is plain text.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self.frame = find_frame(self._encode("a", special=False), self._encode("a", special=True))
        self.vocabulary: int = self._tokenizer.get_vocab_size(with_added_tokens=True)

    def tokenize(self, text: str) -> list[int]:
        """Return the text's token ids without special tokens; text that looks like one is plain text."""
        # A tokenizer whose vocabulary has "</s>" as a word finds it in the text all the same.
        special = {*self.frame.prefix, *self.frame.suffix}
        return [token for token in self._encode(text, special=False) if token not in special]

    def _encode(self, text: str, *, special: bool) -> list[int]:
        # A lone surrogate is not valid text; NUL would end it in other engines.
        valid = text.encode("utf-8", "replace").decode().replace("\0", " ")
        ids: list[int] = self._tokenizer.encode(valid, add_special_tokens=special).ids
        return ids
