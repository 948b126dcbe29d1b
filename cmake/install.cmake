# SPDX-License-Identifier: BSD-3-Clause
# What an installed Quire is: the library, the headers, the `quire` command, a CMake package and a pkg-config file. The parts find each other
# by relative paths: the tree may be moved. Folders that are given as absolute paths stay where they are. The components are those of
# packaging/deb.cmake: runtime, devel, command, and manual, which is compressed there.
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH QUIRE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" QUIRE_PC_TO_PREFIX ${QUIRE_PC_TO_PREFIX})
foreach(folder LIBDIR INCLUDEDIR)
  set(QUIRE_PC_${folder} ${CMAKE_INSTALL_${folder}})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
    set(QUIRE_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
install(TARGETS quire EXPORT quire-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
install(TARGETS quire_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
# The library alone in a folder: where `quire run` adds it to LD_LIBRARY_PATH, no other library is found there.
install(CODE "
  set(folder \"${CMAKE_INSTALL_LIBDIR}/quire\")
  if(NOT IS_ABSOLUTE \"\${folder}\")
    set(folder \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
  endif()
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${folder}\")
  file(CREATE_LINK ../libquire.so.${PROJECT_VERSION_MAJOR} \"\$ENV{DESTDIR}\${folder}/libquire.so.${PROJECT_VERSION_MAJOR}\" SYMBOLIC)" COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/quire DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
install(EXPORT quire-targets NAMESPACE quire:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quire COMPONENT devel)
# The build folder is a package as well: -Dquire_DIR=build.
export(EXPORT quire-targets NAMESPACE quire:: FILE ${PROJECT_BINARY_DIR}/quire-targets.cmake)
foreach(file quire-config.cmake quire-fortran.cmake)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
endforeach()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quire-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/quire-config.cmake ${PROJECT_BINARY_DIR}/quire-config-version.cmake ${PROJECT_BINARY_DIR}/quire-fortran.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quire COMPONENT devel)
configure_file(${PROJECT_SOURCE_DIR}/cmake/quire.pc.in ${PROJECT_BINARY_DIR}/quire.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/quire.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
# The Python package, which finds the library beside it: PYTHONPATH=LIBDIR/quire/python. Debian's package has a place of its own for it.
if(TARGET quire_python_native)
  set(python_folder ${CMAKE_INSTALL_FULL_LIBDIR}/quire/python/quire)
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(python_folder ${CMAKE_INSTALL_LIBDIR}/quire/python/quire)
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/quire/ DESTINATION ${python_folder} COMPONENT python_tree PATTERN __pycache__ EXCLUDE)
  install(FILES $<TARGET_FILE:quire_python_native> DESTINATION ${python_folder} COMPONENT python_tree)
  install(CODE "
    set(folder \"${python_folder}\")
    if(NOT IS_ABSOLUTE \"\${folder}\")
      set(folder \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
    endif()
    file(RPATH_SET FILE \"\$ENV{DESTDIR}\${folder}/$<TARGET_FILE_NAME:quire_python_native>\" NEW_RPATH \"\\\$ORIGIN/../../..\")" COMPONENT python_tree)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
install(FILES ${PROJECT_SOURCE_DIR}/docs/quire.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT manual)
install(FILES ${PROJECT_SOURCE_DIR}/docs/quire.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT manual)
# What `quire bench` starts.
if(QUIRE_BUILD_APPS)
  set(bench_programs page_update_costs page_update_faults page_update_fetch page_update_properties multiview_overhead multiview_costs
    multiview_sharing multiview_model pair floor_exchange quire_fault quire_start quire_sync quire_diff quire_model)
  file(RELATIVE_PATH programs_to_library ${CMAKE_INSTALL_FULL_LIBEXECDIR}/quire ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(${bench_programs} PROPERTIES INSTALL_RPATH "\$ORIGIN/${programs_to_library}")
  install(TARGETS ${bench_programs}
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/quire COMPONENT command)
  # As in the sources: a folder for each comparison, beside what they share.
  set(bench_scripts ${CMAKE_INSTALL_DATADIR}/quire/bench)
  foreach(file comparison.py tables.py processes.py page.css)
    install(FILES ${PROJECT_SOURCE_DIR}/bench/${file} DESTINATION ${bench_scripts} COMPONENT command)
  endforeach()
  foreach(comparison page_update multiview)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/${comparison} DESTINATION ${bench_scripts} COMPONENT command FILES_MATCHING PATTERN "*.py")
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/${comparison}/${comparison}.py DESTINATION ${bench_scripts}/${comparison} COMPONENT command)
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/bench/papers/speed_ups.py DESTINATION ${bench_scripts}/papers COMPONENT command)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/papers/plurix.py ${PROJECT_SOURCE_DIR}/bench/papers/kerrighed.py DESTINATION ${bench_scripts}/papers COMPONENT command)
endif()
