# Read by CMake when it configures llama.cpp: the library alone is needed, not
# the common code of llama.cpp's own command-line tools. That saves a third of the build.
set(LLAMA_BUILD_COMMON OFF)
