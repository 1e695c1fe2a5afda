"""The embedding server: one model (ONNX or GGUF), a lane for queries and one for bulk, the OpenAI protocol."""
