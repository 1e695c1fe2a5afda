"""The model in memory: a lane for queries and one for bulk, on onnxruntime (ONNX) or llama.cpp (GGUF)."""
