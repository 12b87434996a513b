# Settings of a build for WebAssembly (Debian's emscripten 3.1.6). One thread, or several with SINEW_WEB_THREADS, which
# need a cross-origin isolated page. No OpenGL, pictures, assimp or PNG.
include(SinewHostHeaders)
sinew_host_headers(nlohmann eigen3/Eigen)
sinew_absent(Threads::Threads meshoptimizer::meshoptimizer draco::draco)

option(SINEW_WEB_THREADS "WebAssembly with threads" OFF)
if(SINEW_WEB_THREADS)
    add_compile_options(-pthread)
    add_link_options(-pthread)
endif()
# Every visitor loads the module, so it is compiled for size. Emscripten then adds -fno-inline-functions, which makes a bind
# seven times slower. Names of types are a tenth of the data.
add_compile_options(-fwasm-exceptions -msimd128 -finline-functions -fno-rtti "SHELL:-include ${PROJECT_SOURCE_DIR}/web/core/libcxx.h"
    -Wno-shorten-64-to-32 -Wno-implicit-int-conversion -Wno-unused-private-field)
add_link_options(-fwasm-exceptions)

# sinew_web_sources(LIST): removes sources that a web build does not need.
macro(sinew_web_sources list)
    # web/core has its own of these, but those of FBX, which are in the module of FBX.
    list(FILTER ${list} EXCLUDE REGEX "src/io/(fbx_(change|document|make)|(inflate|reader_process)_unavailable)\\.cpp$")
    list(FILTER ${list} EXCLUDE REGEX "src/(picture|render)/|src/cutout/(paint|picture_png)\\.cpp$|src/io/cutout_spine\\.cpp$|src/report/check_report\\.cpp$")
endmacro()
