# SPDX-License-Identifier: BSD-3-Clause
# Programs with the C++ library of LLVM.
find_program(QUIRE_CLANG clang-14 NAMES clang-14 clang)
if(QUIRE_CLANG)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "#include <string>\nint main(int n, char**) { return std::to_string(n).empty(); }\n")
  set(build_with_libcxx ${QUIRE_CLANG} --driver-mode=g++ -stdlib=libc++ -std=c++20 -w -O1 -pthread)
  execute_process(COMMAND ${build_with_libcxx} ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp -o ${CMAKE_CURRENT_BINARY_DIR}/empty
    RESULT_VARIABLE no_libcxx OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT QUIRE_CLANG OR no_libcxx)
  message(STATUS "No tests with the C++ library of LLVM: they need clang with it (Debian: clang-14, libc++-dev, libc++abi-dev)")
else()
  set(have_libcxx ON)
  foreach(name own_library waits own_operators thread_ends)
    set(libcxx_${name} ${CMAKE_CURRENT_BINARY_DIR}/libcxx_${name})
    add_custom_command(OUTPUT ${libcxx_${name}} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp VERBATIM
      COMMAND ${build_with_libcxx} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp -o ${libcxx_${name}})
    add_custom_target(threads_libcxx_${name} ALL DEPENDS ${libcxx_${name}})
    add_dependencies(threads_libcxx_${name} quire_tool quire_omp)
  endforeach()
endif()
