# SPDX-License-Identifier: BSD-3-Clause
# Fortran, also with integers of eight bytes, for which the functions have other names.
find_program(QUIRE_GFORTRAN gfortran)
if(QUIRE_GFORTRAN)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.f90 "program empty\n use omp_lib\n print *, omp_get_max_threads()\nend program\n")
  execute_process(COMMAND ${QUIRE_GFORTRAN} -fopenmp ${CMAKE_CURRENT_BINARY_DIR}/empty.f90 -o ${CMAKE_CURRENT_BINARY_DIR}/empty
    RESULT_VARIABLE no_gfortran OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT QUIRE_GFORTRAN OR no_gfortran)
  message(STATUS "No tests of OpenMP programs in Fortran: they need gfortran with OpenMP (Debian: gfortran)")
else()
  function(fortran_program name)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/fortran/${name})
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${folder}/program DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fortran.f90 VERBATIM
      COMMAND ${QUIRE_GFORTRAN} -fopenmp -w ${ARGN} -J ${folder} ${CMAKE_CURRENT_SOURCE_DIR}/fortran.f90 -o ${folder}/program)
    add_custom_target(openmp_fortran_${name} ALL DEPENDS ${folder}/program)
    add_dependencies(openmp_fortran_${name} quire_tool quire_omp)
  endfunction()
  function(same_in_fortran name nodes)
    add_test(NAME openmp.fortran_${name}.${nodes}_nodes
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/same.sh $<TARGET_FILE:quire_tool> ${nodes} ${CMAKE_CURRENT_BINARY_DIR}/fortran/${name}/program word)
    set_tests_properties(openmp.fortran_${name}.${nodes}_nodes PROPERTIES LABELS openmp TIMEOUT 120 ENVIRONMENT SORTED=1)
  endfunction()
  fortran_program(O0 -O0)
  fortran_program(O3_fixed -O3 -fno-pie -no-pie)
  fortran_program(long_integers -O2 -fdefault-integer-8)
  # libgfortran in the executable, whose units are shared data then.
  fortran_program(static -O1 -static-libgfortran)
  same_in_fortran(static 1)
  same_in_fortran(static 3)
  same_in_fortran(O0 2)
  same_in_fortran(O3_fixed 1)
  same_in_fortran(O3_fixed 4)
  same_in_fortran(long_integers 2)
  add_test(NAME openmp.fortran_unit_of_node_0 COMMAND quire_tool run -n 2 ${CMAKE_CURRENT_BINARY_DIR}/fortran/O0/program word unit)
  set_tests_properties(openmp.fortran_unit_of_node_0 PROPERTIES LABELS openmp TIMEOUT 120 ENVIRONMENT OMP_NUM_THREADS=4
    PASS_REGULAR_EXPRESSION "unit 10 is used by a thread on node 1, which has not opened it")
endif()
