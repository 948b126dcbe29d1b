# SPDX-License-Identifier: BSD-3-Clause
# A program with the C++ library of LLVM.
find_program(QUIRE_CLANG clang-14 NAMES clang-14 clang)
set(libcxx_own_library ${CMAKE_CURRENT_BINARY_DIR}/libcxx_own_library)
if(QUIRE_CLANG)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "#include <string>\nint main(int n, char**) { return std::to_string(n).empty(); }\n")
  set(build_with_libcxx ${QUIRE_CLANG} --driver-mode=g++ -stdlib=libc++ -std=c++17 -w -O1 -pthread)
  execute_process(COMMAND ${build_with_libcxx} ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp -o ${CMAKE_CURRENT_BINARY_DIR}/empty
    RESULT_VARIABLE no_libcxx OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT QUIRE_CLANG OR no_libcxx)
  message(STATUS "No tests with the C++ library of LLVM: they need clang with it (Debian: clang-14, libc++-dev, libc++abi-dev)")
else()
  set(have_libcxx ON)
  add_custom_command(OUTPUT ${libcxx_own_library} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/own_library.cpp VERBATIM
    COMMAND ${build_with_libcxx} ${CMAKE_CURRENT_SOURCE_DIR}/own_library.cpp -o ${libcxx_own_library})
  add_custom_target(threads_libcxx_own_library ALL DEPENDS ${libcxx_own_library})
  add_dependencies(threads_libcxx_own_library quire_tool quire_omp)
endif()
