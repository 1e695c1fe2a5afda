"""The embedding server: one GGUF through llama.cpp, a lane for queries and one for bulk, the OpenAI protocol."""
