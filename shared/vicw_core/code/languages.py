"""Supported languages, and detection of a text's language by its path, its fence or its first line.

A new language is a grammar's wheel among the dependencies, an entry of ``LANGUAGES``, and a file in ``queries``.
Its captures:

=====================================  ====================================================================
``@function`` ``@class`` ``@type``     a definition, by ``SymbolKind``, with its ``@name`` (and ``@receiver``,
``@interface`` ``@module``             the type it is a method of); a function in a class is a method
``@constant``
``@scope``                             a named container of definitions that is no symbol (``impl Store``)
``@wrap``                              a wrapper that extends the definition with the same end (decorators)
``@base``                              a base of the enclosing definition or scope
``@doc`` ``@comment`` ``@attribute``   a docstring; a comment or attribute above a definition
``@from`` ``@near``                    an imported module; one given as a path from the file's folder
``@prefix``                            the prefix of the module of ``@from``, in PHP
``@imported`` ``@as``                  a name in that module, and its local alias
``@use``                               a Rust use tree
``@call`` (``@end``)                   the callee, or its start and end
``@bare``                              a name that is a call unless it is a variable
``@bound``                             a binding of variables, in languages with ``@bare``
=====================================  ====================================================================

If two patterns define a node, the first one wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Query


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """A language: its grammar and the signs by which it is detected."""

    name: str
    grammar: str
    queries: tuple[str, ...]
    suffixes: tuple[str, ...]
    words: tuple[str, ...] = ()
    """Further names in fences and shebangs, besides its name and suffixes."""
    function: str = "language"
    """The function of the grammar's package that returns the grammar."""
    own_members: bool = True
    """A bare name may be a member of the class around it."""
    signature: re.Pattern[str] | None = None
    """Tokens typical of it: they decide if a fragment is valid in two languages."""
    within: str | None = None
    """The language that this one is a superset of."""
    guessed: bool = True
    generic: bool = False
    """``a < b`` may begin type arguments; the parser can only decide at their end."""
    newer: re.Pattern[bytes] | None = None
    """Syntax that the language has and the grammar does not: the parser sees spaces there, and reads what follows."""


_CPP_MODULES = re.compile(
    rb"^(?:export[ \t]+)?import[ \t]+(?:[\w.:]+|<[^>\n]+>|\"[^\"\n]+\")[ \t]*;"
    rb"|^(?:export[ \t]+)?module(?:[ \t]+[\w.:]+|[ \t]*:[ \t]*private)?[ \t]*;"
    rb"|^[ \t]*export(?=[ \t]+\w|[ \t]*\{)",
    re.M,
)
_JAVA_MODULES = re.compile(rb"^[ \t]*import[ \t]+module[ \t]+[\w.]+[ \t]*;", re.M)
_RUST_NEWER = re.compile(
    rb"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?trait[ \t]+\w+(?:<[^;{\n]{0,200}>)?[ \t]*=[^;{]{0,500};"
    rb"|\bsafe[ \t]+(?=fn\b|static\b)"
    rb"|(?<=[> ])const[ \t]+(?=[A-Z~][\w:<>, ]{0,200}[ \t]for\b)",
    re.M,
)
_JS_SIGNATURE = re.compile(r"=>|===|\b(?:const|let|function|undefined|typeof)\b|\bconsole\.|\brequire\(")

_ALL = (
    CodeLanguage(
        "python", "tree_sitter_python", ("python",), (".py", ".pyi", ".pyw"), ("py3", "python3", "pycon"),
        own_members=False,
    ),
    CodeLanguage(
        "javascript", "tree_sitter_javascript", ("javascript", "javascript_classes", "jsx"),
        (".js", ".jsx", ".mjs", ".cjs"), ("node", "ecmascript"), own_members=False, signature=_JS_SIGNATURE,
    ),
    CodeLanguage(
        "typescript", "tree_sitter_typescript", ("javascript", "typescript"), (".ts", ".mts", ".cts"), ("deno", "bun"),
        function="language_typescript", own_members=False, signature=_JS_SIGNATURE, within="javascript",
    ),
    CodeLanguage(
        "tsx", "tree_sitter_typescript", ("javascript", "typescript", "jsx"), (".tsx",),
        function="language_tsx", own_members=False, guessed=False,
    ),
    CodeLanguage(
        "java", "tree_sitter_java", ("java",), (".java",),
        signature=re.compile(
            r"\b(?:String|boolean|extends|implements|throws|System\.out|final)\b|@Override|^import ", re.M
        ),
        generic=True, newer=_JAVA_MODULES,
    ),
    CodeLanguage("go", "tree_sitter_go", ("go",), (".go",), ("golang",), own_members=False),
    CodeLanguage("rust", "tree_sitter_rust", ("rust",), (".rs",), own_members=False, newer=_RUST_NEWER),
    CodeLanguage(
        "c", "tree_sitter_c", ("c",), (".c", ".h"),
        signature=re.compile(r"^\s*#\s*(?:include|define|if)|->|\b(?:char|unsigned|sizeof|struct|const)\b", re.M),
    ),
    CodeLanguage(
        "cpp", "tree_sitter_cpp", ("c", "cpp"),
        (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".h", ".ipp", ".cppm", ".ixx"),
        ("c++", "h++", "cuda"), within="c",
        signature=re.compile(r"^\s*#\s*(?:include|define|if)|->|::|\b(?:char|unsigned|sizeof|template|const)\b", re.M),
        generic=True, newer=_CPP_MODULES,
    ),
    CodeLanguage(
        "csharp", "tree_sitter_c_sharp", ("c_sharp",), (".cs",), ("c#", "dotnet"),
        signature=re.compile(r"\b(?:string|bool|namespace|var|async Task|readonly|Console)\b|\bget;|^using ", re.M),
        generic=True,
    ),
    CodeLanguage(
        "ruby", "tree_sitter_ruby", ("ruby",), (".rb", ".rake", ".gemspec"), ("jruby", "rakefile", "gemfile"),
    ),
    CodeLanguage("php", "tree_sitter_php", ("php",), (".php",), function="language_php", own_members=False),
    CodeLanguage(
        "bash", "tree_sitter_bash", ("bash",), (".sh", ".bash", ".zsh"), ("shell", "dash", "ksh", "bashrc"),
        guessed=False,
    ),
)  # fmt: skip
LANGUAGES = {language.name: language for language in _ALL}
"""By name. Shell is not guessed: any line of prose is a command."""
_BY_SUFFIX: dict[str, tuple[CodeLanguage, ...]] = {}
for _language in _ALL:
    for _suffix in _language.suffixes:
        _BY_SUFFIX[_suffix] = (*_BY_SUFFIX.get(_suffix, ()), _language)
_BY_WORD = {
    word: language
    for language in reversed(_ALL)
    for word in (language.name, *language.words, *(suffix[1:] for suffix in language.suffixes))
}
_ERRORS = "[(ERROR) (MISSING)] @error"
_SHEBANG = re.compile(r"#![^\S\n]*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?(?P<program>[a-z+#]+)")


def languages_of_path(path: str) -> tuple[CodeLanguage, ...]:
    """Return the possible languages of a file with this name, the likelier first; empty if none is supported."""
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    suffix = PurePosixPath(name).suffix
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    language = _BY_WORD.get(name.lstrip(".")) if not suffix else None
    return (language,) if language else ()


def language_named(word: str) -> CodeLanguage | None:
    """Return the language named by the first word of a fence's info string (``py``, ``c++``), or None."""
    first = re.match(r"\s*\{?\.?(?:language-)?([^\s,{}:;]+)", word)
    return _BY_WORD.get(first[1].lower()) if first else None


def language_of_shebang(text: str) -> CodeLanguage | None:
    """Return the language of the program that the first line names, or None."""
    match = _SHEBANG.match(text[:200])
    return _BY_WORD.get(match["program"]) if match else None


@cache
def load(language: CodeLanguage) -> tuple[Language, Query]:
    """Load a language's grammar and its patterns, on first use."""
    from tree_sitter import Language, Query

    grammar = Language(getattr(import_module(language.grammar), language.function)())
    folder = files(__package__) / "queries"
    patterns = "\n".join((folder / f"{name}.scm").read_text(encoding="utf-8") for name in language.queries)
    return grammar, Query(grammar, f"{patterns}\n{_ERRORS}")
