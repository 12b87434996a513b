# cmake --install: headers, libraries, and packages for find_package(sinew) and for pkg-config.
include(CMakePackageConfigHelpers)

set(SINEW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS sinew EXPORT sinewTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sinewTargets NAMESPACE sinew:: DESTINATION ${SINEW_PACKAGE_DIR})
if(TARGET sinew_c)
    install(EXPORT sinewCTargets NAMESPACE sinew:: DESTINATION ${SINEW_PACKAGE_DIR})
endif()
if(NOT BUILD_SHARED_LIBS)
    set(BUILD_SHARED_LIBS OFF)
endif()
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

# pkg-config finds the prefix from the place of its own file, so an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    OUTPUT_VARIABLE SINEW_UP)
set(SINEW_PC_LIBS "-lsinew -pthread")
if(NOT BUILD_SHARED_LIBS)
    foreach(library MESHOPT DRACO PNG GL ASSIMP ZLIB)
        if(SINEW_${library}_FOUND)
            string(TOLOWER ${library} file)
            string(REGEX REPLACE "^gl$" "epoxy" file ${file})
            string(REGEX REPLACE "^meshopt$" "meshoptimizer" file ${file})
            string(REGEX REPLACE "^zlib$" "z" file ${file})
            string(APPEND SINEW_PC_LIBS " -l${file}")
        endif()
    endforeach()
endif()
foreach(package sinew sinew_c)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
