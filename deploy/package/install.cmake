# What `cmake --install` puts where, and the packages that cpack makes of it:
#   daemon  ingotd, its worker, units, sample configuration
#   client  libingot.so.0, ingotctl
#   dev     headers, libingot.so, pkg-config, CMake package
#   python  the package `ingot`
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(here ${CMAKE_CURRENT_LIST_DIR})
# Installing builds nothing: tests and benches are no part of it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

install(TARGETS ingotd ingot-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)
install(FILES ${here}/../ingotd.service ${here}/../ingotd.socket
        DESTINATION lib/systemd/system COMPONENT daemon)
install(FILES ${here}/../ingot.sysusers.conf RENAME ingot.conf DESTINATION lib/sysusers.d COMPONENT daemon)
# /etc belongs to a system in /usr; anything else has its own.
install(CODE "
  set(etc \"\${CMAKE_INSTALL_PREFIX}/etc\")
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(etc /etc)
  endif()
  file(INSTALL \"${here}/../ingotd.toml\" DESTINATION \"\${etc}/ingot\")" COMPONENT daemon)

install(TARGETS ingotctl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT client)
# It describes itself.
set(made ${CMAKE_BINARY_DIR}/package)
install(CODE "
  foreach(page \"man;ingotctl.1\" \"completion;bash;ingotctl\" \"completion;zsh;_ingotctl\")
    list(POP_BACK page file)
    execute_process(COMMAND \"$<TARGET_FILE:ingotctl>\" \${page} OUTPUT_FILE \"${made}/\${file}\"
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()" COMPONENT client)
install(FILES ${made}/ingotctl.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT client)
install(FILES ${made}/ingotctl DESTINATION share/bash-completion/completions COMPONENT client)
install(FILES ${made}/_ingotctl DESTINATION share/zsh/vendor-completions COMPONENT client)
install(TARGETS ingot_shared EXPORT ingotTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client NAMELINK_COMPONENT dev
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(DIRECTORY client/include/ingot DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.h")
set_target_properties(ingot_shared PROPERTIES EXPORT_NAME ingot INTERFACE_INCLUDE_DIRECTORIES
                      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/client/include>)
install(EXPORT ingotTargets NAMESPACE ingot:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ingot COMPONENT dev)
configure_package_config_file(${here}/ingotConfig.cmake.in ${CMAKE_BINARY_DIR}/package/ingotConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/ingotConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
# The folder of the .pc file may be lib or lib/<triplet>: prefix is found from it.
string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(INGOT_LIBDIR_NAME ${CMAKE_INSTALL_LIBDIR})
file(READ ${here}/ingot.pc.in pc)
string(REPLACE "\${pcfiledir}/../.." "\${pcfiledir}/${up}" pc "${pc}")
string(CONFIGURE "${pc}" pc @ONLY)
file(WRITE ${CMAKE_BINARY_DIR}/package/ingot.pc "${pc}")
install(FILES ${CMAKE_BINARY_DIR}/package/ingotConfig.cmake ${CMAKE_BINARY_DIR}/package/ingotConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ingot COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/package/ingot.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(DIRECTORY client/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)

install(DIRECTORY client/python/ingot DESTINATION lib/python3/dist-packages COMPONENT python
        PATTERN "__pycache__" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Ingot developers <ingot@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU kernels for AMD gfx950, compiled out of the process that uses them")
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_SET_DESTDIR ON)
set(CPACK_COMPONENTS_ALL daemon client dev python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_DAEMON_PACKAGE_NAME ingotd)
set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME libingot0)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libingot-dev)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-ingot)
set(CPACK_DEBIAN_DAEMON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS "systemd | systemd-sysusers")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libingot0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libingot0 (>= ${PROJECT_VERSION}), python3 (>= 3.9)")
set(CPACK_DEBIAN_DAEMON_DESCRIPTION "Ingot: daemon that compiles and keeps GPU kernels")
set(CPACK_DEBIAN_CLIENT_DESCRIPTION "Ingot: client library and ingotctl")
set(CPACK_DEBIAN_DEV_DESCRIPTION "Ingot: headers, pkg-config and CMake package, examples")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Ingot: Python package, with operators for PyTorch")
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA ${here}/conffiles ${here}/postinst)
include(CPack)
