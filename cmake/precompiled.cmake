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

# Sources of a target that are compiled together, QUIRE_UNITY_BATCH at a time: what they all include is read once. An edit compiles a batch again.
# Without QUIRE_UNITY each is compiled by itself, with the precompiled headers of `owner` if it is not empty.
set(QUIRE_UNITY_BATCH 8 CACHE STRING "Sources that are compiled together; 0: all of a target")
function(quire_unity target owner)
  if(NOT QUIRE_UNITY)
    if(owner)
      quire_use_precompiled(${target} ${owner})
    endif()
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${QUIRE_UNITY_BATCH})
endfunction()

# The same, where folders of the target have habits of their own: sources of different folders are not compiled together.
function(quire_unity_by_folder target)
  if(NOT QUIRE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" folder "${folder}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()
