# Settings of a build for Windows on Linux (cmake/windows-toolchain.cmake, scripts/windows). It has what needs headers
# only: no OpenGL, pictures, assimp, PNG, Draco, meshoptimizer.
include(SinewHostHeaders)
sinew_host_headers(nlohmann eigen3/Eigen CLI fmt)
sinew_absent(meshoptimizer::meshoptimizer draco::draco)
add_library(CLI11::CLI11 INTERFACE IMPORTED)
target_include_directories(CLI11::CLI11 SYSTEM INTERFACE ${SINEW_HOST_HEADERS})
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt SYSTEM INTERFACE ${SINEW_HOST_HEADERS})
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
find_package(Threads REQUIRED)
# Windows 10. Headers without macros such as min and max.
add_compile_definitions(_WIN32_WINNT=0x0A00 NOMINMAX WIN32_LEAN_AND_MEAN)
# src/io/utf8_windows.cpp has it.
add_link_options(-Wl,--wrap=mbrtowc)
