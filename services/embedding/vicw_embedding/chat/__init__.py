"""A language model in a GGUF file, on the OpenAI chat protocol: a process of its own, since llama.cpp may abort."""
