"""The model in memory: a lane for queries and one for bulk, each with its llama.cpp context."""
