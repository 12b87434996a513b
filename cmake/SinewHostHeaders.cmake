# For builds for another system: header-only packages of this machine. Their headers are linked into a separate folder,
# because /usr/include as a whole would hide the target's headers.

# sinew_host_headers(FOLDER …): links folders of /usr/include ("nlohmann", "eigen3/Eigen"), and defines the targets of
# the packages that the core needs. Sets SINEW_HOST_HEADERS.
macro(sinew_host_headers)
    set(SINEW_HOST_HEADERS ${CMAKE_BINARY_DIR}/host-headers)
    file(MAKE_DIRECTORY ${SINEW_HOST_HEADERS})
    foreach(folder ${ARGN})
        if(NOT EXISTS /usr/include/${folder})
            message(FATAL_ERROR "/usr/include/${folder} was not found (scripts/setup installs it)")
        endif()
        cmake_path(GET folder FILENAME name)
        file(CREATE_LINK /usr/include/${folder} ${SINEW_HOST_HEADERS}/${name} SYMBOLIC)
    endforeach()
    add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
    target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${SINEW_HOST_HEADERS})
    set(EIGEN3_INCLUDE_DIRS ${SINEW_HOST_HEADERS})
endmacro()

# sinew_absent(TARGET …): packages that the build does without.
macro(sinew_absent)
    foreach(absent ${ARGN})
        add_library(${absent} INTERFACE IMPORTED)
    endforeach()
endmacro()
