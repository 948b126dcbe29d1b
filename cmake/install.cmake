# What an installed Quire is: the library, the headers, the `quire` command, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
install(TARGETS quire EXPORT quire-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS quire_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/quire DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT quire-targets NAMESPACE quire:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quire)
file(WRITE ${PROJECT_BINARY_DIR}/quire-config.cmake "include(\"\${CMAKE_CURRENT_LIST_DIR}/quire-targets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quire-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/quire-config.cmake ${PROJECT_BINARY_DIR}/quire-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quire)
configure_file(${PROJECT_SOURCE_DIR}/cmake/quire.pc.in ${PROJECT_BINARY_DIR}/quire.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/quire.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/docs/quire.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/docs/quire.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
# What `quire bench` starts.
if(QUIRE_BUILD_APPS)
  set(bench_programs page_update_costs page_update_faults page_update_fetch page_update_properties pair floor_exchange quire_fault quire_start)
  set_target_properties(${bench_programs} PROPERTIES INSTALL_RPATH "\$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS ${bench_programs}
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/quire)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/page_update/page_update.py DESTINATION ${CMAKE_INSTALL_DATADIR}/quire/bench)
  install(FILES ${PROJECT_SOURCE_DIR}/bench/page_update/fetch.py ${PROJECT_SOURCE_DIR}/bench/page_update/page.py ${PROJECT_SOURCE_DIR}/bench/page_update/page.css
    ${PROJECT_SOURCE_DIR}/bench/processes.py DESTINATION ${CMAKE_INSTALL_DATADIR}/quire/bench)
endif()
