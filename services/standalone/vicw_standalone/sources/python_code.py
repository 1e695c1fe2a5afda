"""Definitions of a Python file, found with Python's own parser."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from vicw_standalone.sources.outline import Definition


def python_definitions(text: str) -> list[Definition] | None:
    """Return functions, classes and their methods, outer before inner, or None if the text does not parse.

    What is defined inside a function, or under an ``if`` or ``try``, stays where it is.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's file is not our news
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return None
    return list(_definitions(tree.body, ""))


def _definitions(body: list[ast.stmt], outer: str) -> Iterator[Definition]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        is_class = isinstance(node, ast.ClassDef)
        name = f"{outer}.{node.name}" if outer else node.name
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield Definition(
            name=name,
            kind="class" if is_class else "method" if outer else "function",
            first=first - 1,
            last=(node.end_lineno or node.lineno) - 1,
        )
        if is_class:
            yield from _definitions(node.body, name)
