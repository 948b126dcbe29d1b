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
  execute_process(COMMAND ${QUIRE_GFORTRAN} -print-file-name=finclude/omp_lib.f90 OUTPUT_VARIABLE omp_lib OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(Python3_Interpreter_FOUND AND EXISTS "${omp_lib}")
    add_test(NAME openmp.fortran_entries
      COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/fortran_entries.py ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR} ${omp_lib})
    set_tests_properties(openmp.fortran_entries PROPERTIES LABELS openmp TIMEOUT 120)
  endif()
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
  # libgfortran in the executable: its units are shared data then, its calls the program's.
  fortran_program(static -O1 -static-libgfortran)
  set(streams ${CMAKE_CURRENT_BINARY_DIR}/fortran/streams)
  add_custom_command(OUTPUT ${streams} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fortran_streams.f90 VERBATIM
    COMMAND ${QUIRE_GFORTRAN} -fopenmp -w -O1 ${CMAKE_CURRENT_SOURCE_DIR}/fortran_streams.f90 -o ${streams})
  add_custom_target(openmp_fortran_streams ALL DEPENDS ${streams})
  add_dependencies(openmp_fortran_streams quire_tool quire_omp)
  foreach(unit 0 6)
    foreach(how stream master)
      add_test(NAME openmp.fortran_${how}_${unit}.2_nodes WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fortran
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/same.sh $<TARGET_FILE:quire_tool> 2 ${streams} ${how} ${unit})
      set_tests_properties(openmp.fortran_${how}_${unit}.2_nodes PROPERTIES LABELS openmp TIMEOUT 120 ENVIRONMENT SORTED=1)
    endforeach()
  endforeach()
  # Other nodes would go on with the stream, in silence.
  foreach(case file.0 file.5 file.6 last.6 closed.6 other.10 close.10)
    string(REGEX REPLACE "(.*)\\.(.*)" "\\1;\\2" words ${case})
    list(GET words 0 how)
    list(GET words 1 unit)
    add_test(NAME openmp.refused.fortran_${how}_${unit} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fortran
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/refused.sh $<TARGET_FILE:quire_tool> 2
      "unit ${unit} is used by a thread on node [01], and [a-z ]* by node [01]" ${streams} ${how} ${unit})
    set_tests_properties(openmp.refused.fortran_${how}_${unit} PROPERTIES LABELS openmp TIMEOUT 120)
  endforeach()
  set(units ${CMAKE_CURRENT_BINARY_DIR}/fortran/units)
  add_custom_command(OUTPUT ${units} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fortran_units.f90 VERBATIM
    COMMAND ${QUIRE_GFORTRAN} -fopenmp -w -O1 -static-libgfortran ${CMAKE_CURRENT_SOURCE_DIR}/fortran_units.f90 -o ${units})
  add_custom_target(openmp_fortran_units ALL DEPENDS ${units})
  add_dependencies(openmp_fortran_units quire_tool quire_omp)
  foreach(memory sequential mixed)
    foreach(nodes 1 2 4)
      add_test(NAME openmp.fortran_units_${memory}.${nodes}_nodes COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/same.sh $<TARGET_FILE:quire_tool> ${nodes} ${units})
      set_tests_properties(openmp.fortran_units_${memory}.${nodes}_nodes PROPERTIES LABELS openmp TIMEOUT 120
        ENVIRONMENT "SAME_OPTIONS=--memory=${memory};INPUT=${CMAKE_CURRENT_SOURCE_DIR}/fortran_units.f90")
    endforeach()
  endforeach()
  # Code on stacks.
  set(internal ${CMAKE_CURRENT_BINARY_DIR}/fortran/internal_procedures)
  add_custom_command(OUTPUT ${internal} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/internal_procedures.f90 VERBATIM
    COMMAND ${QUIRE_GFORTRAN} -fopenmp -w -O1 -Wl,-z,execstack ${CMAKE_CURRENT_SOURCE_DIR}/internal_procedures.f90 -o ${internal})
  add_custom_target(openmp_fortran_internal_procedures ALL DEPENDS ${internal})
  add_dependencies(openmp_fortran_internal_procedures quire_tool quire_omp)
  foreach(nodes 1 2 4)
    add_test(NAME openmp.fortran_internal_procedures.${nodes}_nodes COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/same.sh $<TARGET_FILE:quire_tool> ${nodes} ${internal})
    set_tests_properties(openmp.fortran_internal_procedures.${nodes}_nodes PROPERTIES LABELS openmp TIMEOUT 120)
  endforeach()
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
