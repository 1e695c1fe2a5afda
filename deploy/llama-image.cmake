# Read by CMake when it configures llama.cpp for an image: the image may run on any processor, so every kernel is
# built for each generation of them, and the best one is loaded at start. On a machine of your own
# llama-trim.cmake does: it builds a tenth of this.
include("${CMAKE_CURRENT_LIST_DIR}/llama-trim.cmake")
set(GGML_BACKEND_DL ON CACHE BOOL "" FORCE)
set(GGML_CPU_ALL_VARIANTS ON CACHE BOOL "" FORCE)
# Relative to the Python package's root: beside the library that loads them.
set(GGML_BACKEND_DIR "llama_cpp/lib" CACHE STRING "" FORCE)
