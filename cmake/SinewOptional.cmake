# Optional dependencies.

# sinew_optional(OPTION PACKAGE WHAT DEBIAN): looks for PACKAGE unless OPTION is OFF, and sets OPTION_FOUND. Prints the
# features that a build without it lacks, and the Debian package. With OPTION ON, a missing package is an error.
macro(sinew_optional option package what debian)
    set(${option}_FOUND FALSE)
    if(NOT "${${option}}" STREQUAL "OFF")
        find_package(${package} QUIET)
        set(${option}_FOUND ${${package}_FOUND})
    endif()
    if(${option}_FOUND)
        message(STATUS "${option}: found ${package}: ${what}")
    elseif("${${option}}" STREQUAL "ON")
        message(FATAL_ERROR "${option} is ON, but ${package} was not found (Debian: apt-get install ${debian})")
    elseif("${${option}}" STREQUAL "OFF")
        message(STATUS "${option}: off: built without ${what}")
    else()
        message(STATUS "${option}: ${package} was not found: built without ${what} (Debian: apt-get install ${debian})")
    endif()
endmacro()
