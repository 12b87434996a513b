# cmake --install: headers, the static library, and a package for find_package(sinew).
include(CMakePackageConfigHelpers)

set(SINEW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS sinew EXPORT sinewTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sinewTargets NAMESPACE sinew:: DESTINATION ${SINEW_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sinewConfig.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/sinewConfig.cmake INSTALL_DESTINATION ${SINEW_PACKAGE_DIR})
# Before 1.0, minor versions may be incompatible.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sinewConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinewConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sinewConfigVersion.cmake
    DESTINATION ${SINEW_PACKAGE_DIR})
if(SINEW_GL_FOUND)
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/Findepoxy.cmake DESTINATION ${SINEW_PACKAGE_DIR})
endif()
