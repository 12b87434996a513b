# libepoxy, which finds the functions of OpenGL and EGL at run time: target epoxy::epoxy.
find_path(EPOXY_INCLUDE_DIR epoxy/egl.h)
find_library(EPOXY_LIBRARY epoxy)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(epoxy REQUIRED_VARS EPOXY_LIBRARY EPOXY_INCLUDE_DIR)
mark_as_advanced(EPOXY_INCLUDE_DIR EPOXY_LIBRARY)
if(epoxy_FOUND AND NOT TARGET epoxy::epoxy)
    add_library(epoxy::epoxy UNKNOWN IMPORTED)
    set_target_properties(epoxy::epoxy PROPERTIES IMPORTED_LOCATION ${EPOXY_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${EPOXY_INCLUDE_DIR})
endif()
