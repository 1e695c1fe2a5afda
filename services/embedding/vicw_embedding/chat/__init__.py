"""A language model in a GGUF file, on the OpenAI chat wire: a process of its own, since llama.cpp may abort."""
