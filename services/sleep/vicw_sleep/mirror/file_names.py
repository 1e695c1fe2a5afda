"""Names of files and folders that every file system takes, and that Obsidian can link to. Callers' names are hostile.

A name is folded first, so that two that a file system without cases (or with another normal form of Unicode) takes for
one are one here, too. What still has to be changed to be safe gets a hash of what it was, so that two names never
become one.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from base64 import b32encode

from vicw_shared.text import fold_case

UNTAGGED = "_untagged"
"""The tag of what has none: no ``slug`` begins so."""
_MOST_BYTES = 60
_HASH_CHARS = 12
_SHORT_HASH = 6
# Separators, what Windows forbids, what ends or splits an Obsidian link, what a shell or a URL would take for its own.
_UNSAFE = re.compile(r"""[\\/:*?"<>|#^\[\]%~`$&;!'{}@]+""")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def slug(name: str) -> str:
    """Return ``name`` as a part of a file's name: 1 to about 70 bytes of UTF-8, never two names' alike.

    >>> slug("Amulets"), slug("snake_case")
    ('amulets', 'snake_case')
    >>> slug("../../etc/passwd")
    'etc_passwd~mjjxvi'
    """
    folded = unicodedata.normalize("NFC", fold_case(name))
    seen = "".join("_" if unicodedata.category(ch) in _INVISIBLE else ch for ch in folded)
    kept = _cut(_UNSAFE.sub("_", seen)).strip("._ ")
    if _DEVICE.fullmatch(kept):  # to Windows it is a device, whatever comes behind its first dot
        return f"{kept.replace('.', '_')}~{digest(folded)[:_SHORT_HASH]}"
    if kept == folded and kept:
        return kept
    return f"{kept or 'x'}~{digest(folded)[:_SHORT_HASH]}"


def digest(*parts: str) -> str:
    """Return 12 letters and digits (60 bits) that stand for ``parts``."""
    key = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    return b32encode(hashlib.blake2b(key, digest_size=8).digest()).decode().lower()[:_HASH_CHARS]


def source_name(source: str) -> str:
    """Return what a source is called: the last part of a path or an address, without what asks or leads inside it.

    >>> source_name("https://example.org/a/handbook.md?x=1"), source_name("C:\\\\notes\\\\day.md"), source_name("/")
    ('handbook.md', 'day.md', '/')
    """
    plain = re.split(r"[?#]", source, maxsplit=1)[0].rstrip("/\\") if "://" in source else source.rstrip("/\\")
    return re.split(r"[/\\]", plain)[-1] or source


def _cut(name: str) -> str:
    """Return the beginning of a name that takes no more than so many bytes, in whole characters."""
    return name.encode("utf-8", "ignore")[:_MOST_BYTES].decode("utf-8", "ignore")
