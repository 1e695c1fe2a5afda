"""A cross-encoder in a GGUF file, on the wire of re-ranking: a process of its own, since llama.cpp may abort."""
