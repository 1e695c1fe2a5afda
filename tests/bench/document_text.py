"""Words of real documents that are read, against a second extractor: ``python tests/bench/document_text.py FOLDER``.

PDF is compared with the words that both pypdf and pdfminer.six find (``pip install pypdf pdfminer.six fonttools``):
each of them runs words together or cuts them where the other does not. Word, slides and books are compared with all
text of their XML. A share is of these words, with their counts, that are read, too; files with fewer than 50 are left
out.
"""

from __future__ import annotations

import argparse
import html
import re
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path
from statistics import mean

from vicw_readers.paths import read_paths
from vicw_readers.records import SourceItem

_WORD = re.compile(r"\w+")
_TAGS = re.compile(r"<(style|script|title)\b.*?</\1>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MIN_WORDS = 50
_PARTS = {
    ".docx": re.compile(r"word/document\.xml"),
    ".pptx": re.compile(r"ppt/slides/slide\d+\.xml"),
    ".epub": re.compile(r".*\.x?html?"),
}
_TEXT = {".docx": re.compile(r"<w:t(?: [^>]*)?>([^<]*)|<w:p[ >]|<w:tab/>"), ".pptx": re.compile(r"<a:t>([^<]*)|<a:p>")}


def words(text: str) -> Counter[str]:
    """Return the words of a text with their counts, without case."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def second(path: Path) -> Counter[str]:
    """Return the words of a file that others find."""
    if path.suffix == ".pdf":
        import pdfminer.high_level
        import pypdf

        one = "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
        return words(one) & words(pdfminer.high_level.extract_text(path))
    texts = []
    with zipfile.ZipFile(path) as archive:
        for name in filter(_PARTS[path.suffix].fullmatch, archive.namelist()):
            page = archive.read(name).decode("utf-8", "replace")
            found = _TEXT.get(path.suffix)
            texts.append(
                "".join(m[1] if m[1] is not None else " " for m in found.finditer(page))
                if found
                else _TAGS.sub(" ", page)
            )
    return words(html.unescape("\n".join(texts)))


def main() -> None:
    """Print the share of each file, and their mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every n-th file only")
    options = parser.parse_args()
    shares = []
    files = [path for path in sorted(options.folder.rglob("*")) if path.suffix in {".pdf", *_PARTS}]
    for path in files[:: options.every]:
        try:
            wanted = second(path)
        except Exception as error:  # the second extractor cannot read it
            print(f"  –   {path.name}: {type(error).__name__}")
            continue
        if wanted.total() < _MIN_WORDS:
            continue
        records = list(read_paths([path]))
        read = words("\n".join(record.item.text for record in records if isinstance(record, SourceItem)))
        shares.append((wanted & read).total() / wanted.total())
        print(f"{shares[-1]:.3f} {path.name} ({wanted.total()} words)", flush=True)
    print(f"{mean(shares):.4f} mean of {len(shares)} files")


if __name__ == "__main__":
    main()
