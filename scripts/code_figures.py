"""Print figures on the names, the prose and the size of the product's code.

Usage: python scripts/code_figures.py [--list] [ROOT]

The product is every Python file under ``shared``, ``services`` and ``client``, without benchmarks. Tests, training
and examples are apart. ``--list`` also prints what each figure counts. Needs Python 3.12, nothing else.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("shared", "services", "client")
STANDARD_GERUNDS = frozenset(
    "chunking embedding filtering indexing logging ranking routing scoring serving testing tracing wiring".split()
)
"""Module names in -ing that are terms of the field: a reader searches for them."""
DIALECT = re.compile(r"\b(?:nobody|somebody|whoever|whom|tells? of|stands? for)\b", re.IGNORECASE)
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Figures:
    """Each figure with what it counts, as text: a path, a name or a place."""

    lines: int
    modules: tuple[str, ...]
    gerunds: tuple[str, ...]
    classes: int
    shared_names: dict[str, tuple[str, ...]]
    dialect: tuple[str, ...]
    readme_words: int
    readme_numbers: int

    @property
    def public_shared_names(self) -> dict[str, tuple[str, ...]]:
        """The names of several classes, private classes apart, with the modules that define them."""
        return {name: places for name, places in self.shared_names.items() if not name.startswith("_")}


def measure(root: Path) -> Figures:
    """Read the tree under ``root`` and count. Raises SyntaxError for a file that is no Python."""
    files = list(_product(root))
    modules = tuple(str(file.relative_to(root)) for file in files if not file.name.startswith("__"))
    classes: dict[str, list[str]] = defaultdict(list)
    dialect: list[str] = []
    lines = 0
    for file in files:
        text, place = file.read_text(encoding="utf-8"), str(file.relative_to(root))
        lines += len(text.splitlines())
        for node in ast.walk(ast.parse(text, filename=place)):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{place}:{node.lineno}")
        for number, line in enumerate(text.splitlines(), 1):
            dialect += [f"{place}:{number} {found}" for found in DIALECT.findall(line)]
    readme = (root / "README.md").read_text(encoding="utf-8")
    words = _WORD.findall(readme)
    return Figures(
        lines=lines,
        modules=modules,
        gerunds=tuple(module for module in modules if _is_gerund(Path(module).stem)),
        classes=len(classes),
        shared_names={name: tuple(places) for name, places in sorted(classes.items()) if len(places) > 1},
        dialect=tuple(dialect),
        readme_words=len(words),
        readme_numbers=sum(any(letter.isdigit() for letter in word) for word in words),
    )


def _product(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            if not {"bench", ".venv", "build"} & set(file.relative_to(root).parts):
                yield file


def _is_gerund(stem: str) -> bool:
    return stem.endswith("ing") and stem.lstrip("_") not in STANDARD_GERUNDS


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true", help="also print what each figure counts")
    options = parser.parse_args()
    found = measure(options.root)
    share = len(found.gerunds) / len(found.modules)
    print(f"product lines, benchmarks apart        {found.lines}")
    print(f"modules named by a gerund              {len(found.gerunds)} of {len(found.modules)} ({share:.1%})")
    print(f"class names used more than once        {len(found.shared_names)} of {found.classes}")
    print(f"of these, public                       {len(found.public_shared_names)}")
    print(f"words of the old dialect in code       {len(found.dialect)}")
    print(f"README, words (of them with a digit)   {found.readme_words} ({found.readme_numbers})")
    if options.list:
        print("\nGerunds:", *found.gerunds, sep="\n  ")
        print("\nNames of several classes:")
        for name, places in found.shared_names.items():
            print(f"  {name}: {', '.join(places)}")
        print("\nDialect:", *found.dialect, sep="\n  ")


if __name__ == "__main__":
    main()
