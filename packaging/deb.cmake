# SPDX-License-Identifier: BSD-3-Clause
# Debian packages by CPack, of what a build would install: libquire0, libquire-dev, quire, python3-quire. scripts/deb.sh makes and tries them. They lie below /usr, in
# CMAKE_INSTALL_LIBDIR: configure with -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu for the folder that Debian's own packages have.
set(components runtime devel command)
set(python_folder lib/python3/dist-packages/quire)
if(TARGET quire_python_native)
  list(APPEND components python)
  install(TARGETS quire_python_native LIBRARY DESTINATION ${python_folder} COMPONENT python EXCLUDE_FROM_ALL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/quire/ DESTINATION ${python_folder} COMPONENT python EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
endif()

foreach(section 1 7)
  set(page ${PROJECT_BINARY_DIR}/packaging/quire.${section})
  configure_file(${PROJECT_SOURCE_DIR}/docs/quire.${section} ${page} COPYONLY)
  execute_process(COMMAND gzip -9nkf ${page})
  install(FILES ${page}.gz DESTINATION share/man/man${section} COMPONENT command EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The Quire authors <quire@localhost>")  # there is no address yet
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# component package section what
function(quire_package component package section what)
  string(TOUPPER ${component} upper)
  foreach(row "PACKAGE_NAME=${package}" "PACKAGE_SECTION=${section}" "DESCRIPTION=${what}" ${ARGN})
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" row "${row}")
    set(CPACK_DEBIAN_${upper}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  # What every package of Debian has: the license, and a list of changes.
  set(documents ${PROJECT_BINARY_DIR}/packaging/${package})
  file(WRITE ${documents}/copyright "Quire, by the Quire authors\n\n")
  file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
  file(APPEND ${documents}/copyright "${license}")
  file(WRITE ${documents}/changelog.Debian "quire (${PROJECT_VERSION}-1) unstable; urgency=medium\n\n  * Made by CPack from the sources of Quire.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000\n")
  execute_process(COMMAND gzip -9nf ${documents}/changelog.Debian)
  install(FILES ${documents}/copyright ${documents}/changelog.Debian.gz DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
# UCX, PMIx and FUSE are loaded when they are needed, so no tool sees them.
set(same "(= ${PROJECT_VERSION}-1)")
quire_package(runtime libquire${PROJECT_VERSION_MAJOR} libs "one shared memory for threads on many machines (library)"
  "PACKAGE_DEPENDS=libucx0" "PACKAGE_RECOMMENDS=libpmix2, libsodium23" "PACKAGE_SUGGESTS=libfuse3-3"
  "PACKAGE_CONTROL_EXTRA=${PROJECT_SOURCE_DIR}/packaging/deb/triggers")
quire_package(devel libquire-dev libdevel "one shared memory for threads on many machines (headers)"
  "PACKAGE_DEPENDS=libquire${PROJECT_VERSION_MAJOR} ${same}" "PACKAGE_RECOMMENDS=quire")
quire_package(command quire utils "one shared memory for threads on many machines (command)"
  "PACKAGE_DEPENDS=libquire${PROJECT_VERSION_MAJOR} ${same}" "PACKAGE_RECOMMENDS=python3" "PACKAGE_SUGGESTS=openssh-client, fuse3")
set(scripts "${PROJECT_SOURCE_DIR}/packaging/deb/postinst" "${PROJECT_SOURCE_DIR}/packaging/deb/prerm")
quire_package(python python3-quire python "one shared memory for threads on many machines (Python)"
  "PACKAGE_DEPENDS=libquire${PROJECT_VERSION_MAJOR} ${same}, quire ${same}, python3 (>= 3.11), python3-numpy, python3-cloudpickle"
  "PACKAGE_SUGGESTS=python3-joblib")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${scripts}")
include(CPack)
