# SPDX-License-Identifier: BSD-3-Clause
# Headers that many files include are compiled once: `owner` has them, which nobody uses otherwise, and targets of its kind (executables or
# libraries: position-independent in different ways) share them.
function(quire_precompile kind owner link)
  if(kind STREQUAL "EXECUTABLE")
    add_executable(${owner} EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  else()
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  endif()
  target_link_libraries(${owner} PRIVATE ${link})
  target_precompile_headers(${owner} PRIVATE ${ARGN})
endfunction()

function(quire_use_precompiled target owner)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")  # what it needs to keep objects that come of precompiled headers
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()
