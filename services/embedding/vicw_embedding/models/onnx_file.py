"""What an ONNX file says of itself, read without its weights and without onnxruntime.

The file is a Protocol Buffers message; field numbers are those of ``onnx.proto``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vicw_shared.errors import SettingsError

_GRAPH, _INITIALIZER, _INPUT, _OUTPUT = 7, 5, 11, 12
_VARINT, _EIGHT, _SIZED, _FOUR = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class GraphOutline:
    """The names of a graph's inputs, and the shape of each output; a size of the shape is None if it varies."""

    inputs: frozenset[str]
    outputs: dict[str, tuple[int | None, ...]]


def read_outline(path: Path) -> GraphOutline:
    """Return the outline of an ONNX file. Raises SettingsError if it is none, or cut off."""
    try:
        with path.open("rb") as file:
            graph = [extent for field, extent in _fields(file, 0, os.fstat(file.fileno()).st_size) if field == _GRAPH]
            if not graph:
                raise ValueError("no graph")
            inputs, outputs = set(), {}
            constants = set()
            for field, (start, end) in _fields(file, *graph[0]):
                if field == _INPUT:
                    inputs.add(_value(file, start, end)[0])
                elif field == _OUTPUT:
                    name, shape = _value(file, start, end)
                    outputs[name] = shape
                elif field == _INITIALIZER:  # older files list their constants among the inputs, too
                    constants.add(_text(file, start, end, 8))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, IndexError) as error:
        raise SettingsError(f"{path} is not a readable ONNX file, or it is cut off: fetch it again") from error
    return GraphOutline(frozenset(inputs - constants), outputs)


def _fields(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield number and extent of each sized field of the message, in order; for a number, (value, value)."""
    while start < end:
        file.seek(start)
        key = _varint(file)
        if key >> 3 == 0:
            raise ValueError("field 0")
        if key & 7 == _VARINT:
            value = _varint(file)
            start = file.tell()
            yield key >> 3, (value, value)
            continue
        if key & 7 not in {_EIGHT, _SIZED, _FOUR}:
            raise ValueError("wire type")
        size = {_EIGHT: 8, _FOUR: 4}.get(key & 7) or (_varint(file) if key & 7 == _SIZED else 0)
        at, start = file.tell(), file.tell() + size
        if start > end:
            raise ValueError("cut off")
        if key & 7 == _SIZED:
            yield key >> 3, (at, start)


def _varint(file: BinaryIO) -> int:
    value = shift = 0
    while True:
        byte = file.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
        if shift > 63:
            raise ValueError("number")


def _text(file: BinaryIO, start: int, end: int, field: int) -> str:
    for number, (first, last) in _fields(file, start, end):
        if number == field:
            file.seek(first)
            return file.read(last - first).decode("utf-8")
    return ""


def _value(file: BinaryIO, start: int, end: int) -> tuple[str, tuple[int | None, ...]]:
    """Return the name and the shape of an input or output: value, type, tensor type, shape, dimension, size."""
    extents = [(start, end)]
    for field in (2, 1, 2, 1):
        extents = [extent for outer in extents for number, extent in _fields(file, *outer) if number == field]
    sizes = [[size for number, (size, _) in _fields(file, *extent) if number == 1] for extent in extents]
    return _text(file, start, end, 1), tuple(size[0] if size else None for size in sizes)
