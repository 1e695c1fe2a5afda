"""How top-level definitions begin in languages other than Python.

Patterns match at the start of a line. They are rules of thumb: a miss only moves the border between two items,
no line is ever lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_JS_MODIFIERS = r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
_JS = (
    _JS_MODIFIERS + r"(?P<kind>function|class|interface|enum|namespace|type)\b\s*\*?\s*(?P<name>[\w$]+)",
    r"(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)\s*(?::[^=]{1,200})?=\s*(?:async\s*)?"
    r"(?:function\b|class\b|\(|[\w$]+\s*=>)",
)
_GO = (
    r"func\s+(?:\(\s*(?:\w+\s+)?\*?(?P<outer>\w+)[^)]*\)\s*)?(?P<name>\w+)",
    r"(?P<kind>type)\s+(?P<name>\w+)",
)
_RUST_MODIFIERS = r"(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|async|const|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*"
_RUST = (
    _RUST_MODIFIERS + r"(?P<kind>fn|struct|enum|trait|union|mod|type|macro_rules!)\s+(?P<name>\w+)",
    r"(?:unsafe\s+)?(?P<kind>impl)\b(?:<[^{]*?>)?\s+(?P<name>[^{]{1,120}?)\s*(?:\{|where\b|$)",
)
_CLASSES = (
    r"\s{0,4}(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|open|data|case|inline|"
    r"readonly|strictfp|unsafe|file|value|override|suspend|implicit|fileprivate|indirect)\s+)*"
    r"(?P<kind>class|@?interface|enum(?:\s+class)?|record|struct|trait|object|protocol|extension|actor)\s+"
    r"(?P<name>[\w.]+)",
    r"(?:(?:public|private|internal|inline|override|suspend|open|static|final)\s+)*"
    r"(?P<kind>fun|func|def)\s+(?:<[^>]*>\s*)?(?P<name>[\w.]+)",
)
_C = (
    r"(?:typedef\s+)?(?P<kind>struct|class|enum(?:\s+class)?|union)\s+(?P<name>\w+)[^;=()]*$",
    r"(?:template\s*<[^{;]{0,200}>\s*)?(?!(?:if|for|while|switch|return|else|do|typedef|using|namespace)\b)"
    r"[A-Za-z_][\w \t*&:<>,~]{0,200}?[ \t*&](?P<name>[\w:~]+)[ \t]*\([^;]*$",
)
_RUBY = (r"(?P<kind>class|module|def)\s+(?P<name>[\w.:?!]+)",)
_PHP = (r"(?:(?:abstract|final|readonly)\s+)*(?P<kind>function|class|interface|trait|enum)\s+&?(?P<name>\w+)",)
_SHELL = (r"(?:function\s+)?(?P<name>[\w.-]+)\s*\(\)", r"function\s+(?P<name>[\w.-]+)")
_LUA = (r"(?:local\s+)?function\s+(?P<name>[\w.:]+)",)

_BY_SUFFIX: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), _JS),
    ".go": _GO,
    ".rs": _RUST,
    **dict.fromkeys((".java", ".kt", ".kts", ".cs", ".scala", ".swift", ".groovy"), _CLASSES),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".mm"), _C),
    ".rb": _RUBY,
    ".php": _PHP,
    **dict.fromkeys((".sh", ".bash", ".zsh"), _SHELL),
    ".lua": _LUA,
}
_FUNCTION_WORDS = {"fn", "fun", "func", "def", "function"}


@dataclass(frozen=True, slots=True)
class Start:
    """The first line of a definition."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Language:
    """The patterns of a language."""

    patterns: tuple[re.Pattern[str], ...]

    def start(self, line: str) -> Start | None:
        """Return the definition that ``line`` begins, if any."""
        for pattern in self.patterns:
            if match := pattern.match(line):
                found = match.groupdict()
                name = found["name"].strip()
                kind = found.get("kind") or "function"
                if outer := found.get("outer"):
                    return Start(f"{outer}.{name}", "method")
                return Start(name, "function" if kind in _FUNCTION_WORDS else kind.split()[0].strip("@!"))
        return None


def language_of(suffix: str) -> Language | None:
    """Return the language of a lower-case file suffix such as ``.go``, or None."""
    patterns = _BY_SUFFIX.get(suffix)
    return Language(tuple(re.compile(pattern) for pattern in patterns)) if patterns else None
