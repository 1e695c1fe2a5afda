# Read by CMake when it configures llama.cpp. Two things are other than its authors have them:
#
# * The library alone is needed, not the common code of llama.cpp's own command-line tools: a third of the build.
# * A context that makes embeddings keeps no room for logits, which no embedding model computes. With a vocabulary of
#   250,000 tokens it would be 512 MB for a text of 512 tokens, zeroed and so in memory, twice for two contexts.
set(LLAMA_BUILD_COMMON OFF)

set(vicw_context "${CMAKE_CURRENT_SOURCE_DIR}/src/llama-context.cpp")
if(EXISTS "${vicw_context}")
  file(READ "${vicw_context}" vicw_source)
  string(REGEX REPLACE "(bool has_logits +=) true;" "\\1 !cparams.embeddings;" vicw_changed "${vicw_source}")
  if(NOT vicw_changed STREQUAL vicw_source)
    file(WRITE "${vicw_context}" "${vicw_changed}")
  elseif(NOT vicw_source MATCHES "bool has_logits +=.*embeddings")
    message(WARNING "llama.cpp has changed: its contexts may keep room for logits that nobody asks for")
  endif()
endif()
