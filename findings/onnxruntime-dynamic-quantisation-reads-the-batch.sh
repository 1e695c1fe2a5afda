#!/usr/bin/env bash
# onnxruntime 1.28.0 (and its `quantize_dynamic`, onnx 1.23.2), CPU.
#
# Expected: a row of a batch has the same result whatever the other rows are, as it has with float weights.
# Seen: the scale of the 8 bit activations is that of the whole batch (`DynamicQuantizeLinear`), so a row beside
# one with larger values is rounded more coarsely. With all-MiniLM-L6-v2 quantised like this (most files called
# `model_quantized.onnx` are), vectors of a text alone and in a batch of 16 had cosines down to .972. Weights that are only
# stored as integers (`Cast` and `Mul` before a float `MatMul`) do not depend on the batch.
#
# Needs python3 and PyPI. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check onnxruntime==1.28.0 onnx==1.23.2
cd "$work"
"$work/venv/bin/python" - 2>/dev/null <<'PY'
import numpy as np, onnx, onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

random = np.random.default_rng(1)
weight = numpy_helper.from_array(random.normal(size=(64, 64)).astype(np.float32), "w")
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 64])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [value("x")], [value("y")], [weight])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "float.onnx")
quantize_dynamic("float.onnx", "quantised.onnx", weight_type=QuantType.QInt8, per_channel=True)

row, other = random.normal(size=(1, 64)), random.normal(size=(1, 64)) * 30
cosines = {}
for name in ("float", "quantised"):
    session = onnxruntime.InferenceSession(f"{name}.onnx", providers=["CPUExecutionProvider"])
    run = lambda x: session.run(None, {"x": x.astype(np.float32)})[0][0]
    alone, beside = run(row), run(np.concatenate([row, other]))
    cosines[name] = float(alone @ beside / np.linalg.norm(alone) / np.linalg.norm(beside))
    print(f"{name}: cosine of a row alone and beside another {cosines[name]:.6f}")
assert cosines["float"] > 0.999999, "CHANGED: floats depend on the batch, too"
assert cosines["quantised"] < 0.99, "CHANGED: quantised rows do not depend on the batch"
print("as described")
PY
