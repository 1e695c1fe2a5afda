"""Names of files and folders that are valid on every file system and in Obsidian links. Callers' names are untrusted.

A name is folded first, so that names that a case-insensitive (or Unicode-normalising) file system treats as equal are
equal here, too. A name that is changed further gets a hash of the original, so that two names never collide.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from base64 import b32encode

from vicw_shared.text import fold_case

UNTAGGED = "_untagged"
"""Folder name for untagged atoms: no ``slug`` starts with an underscore."""
_MAX_BYTES = 60
_HASH_CHARS = 12
_SHORT_HASH = 6
# Separators, and characters that are special in Windows, Obsidian links, shells or URLs.
_UNSAFE = re.compile(r"""[\\/:*?"<>|#^\[\]%~`$&;!'{}@]+""")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def slug(name: str) -> str:
    """Return ``name`` as part of a file name: 1 to about 70 bytes of UTF-8, unique per folded name.

    >>> slug("Amulets"), slug("snake_case")
    ('amulets', 'snake_case')
    >>> slug("../../etc/passwd")
    'etc_passwd~mjjxvi'
    """
    folded = unicodedata.normalize("NFC", fold_case(name))
    visible = "".join("_" if unicodedata.category(ch) in _INVISIBLE else ch for ch in folded)
    safe = _cut(_UNSAFE.sub("_", visible)).strip("._ ")
    if _DEVICE.fullmatch(safe):  # Windows treats it as a device, with any suffix
        return f"{safe.replace('.', '_')}~{digest(folded)[:_SHORT_HASH]}"
    if safe == folded and safe:
        return safe
    return f"{safe or 'x'}~{digest(folded)[:_SHORT_HASH]}"


def digest(*parts: str) -> str:
    """Return a hash of ``parts``: 12 letters and digits (60 bits)."""
    key = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    return b32encode(hashlib.blake2b(key, digest_size=8).digest()).decode().lower()[:_HASH_CHARS]


def source_name(source: str) -> str:
    """Return a source's display name: the last part of a path or URL, without query and fragment.

    >>> source_name("https://example.org/a/handbook.md?x=1"), source_name("C:\\\\notes\\\\day.md"), source_name("/")
    ('handbook.md', 'day.md', '/')
    """
    plain = re.split(r"[?#]", source, maxsplit=1)[0].rstrip("/\\") if "://" in source else source.rstrip("/\\")
    return re.split(r"[/\\]", plain)[-1] or source


def _cut(name: str) -> str:
    """Return the longest beginning of a name within the byte limit, in whole characters."""
    return name.encode("utf-8", "ignore")[:_MAX_BYTES].decode("utf-8", "ignore")
