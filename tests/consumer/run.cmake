# cmake -D BUILD=… -D WORK=… -D SOURCE=… -D README=… -D CXX=… -D BUILD_TYPE=… [-D FLAGS=…]
#       [-D CHARACTERS=…] -P run.cmake
file(REMOVE_RECURSE ${WORK})
function(step)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/prefix
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_C_FLAGS=${FLAGS})
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)
step(${WORK}/build/bar)
# The program of the README, copied unchanged, gives the result of the command.
file(READ ${README} readme)
foreach(language cmake cpp)
    if(NOT readme MATCHES "```${language}\n([^`]+)\n```")
        message(FATAL_ERROR "README.md has no block of ${language}")
    endif()
    set(${language} "${CMAKE_MATCH_1}")
endforeach()
file(WRITE ${WORK}/readme/main.cpp "${cpp}\n")
file(WRITE ${WORK}/readme/CMakeLists.txt
    "cmake_minimum_required(VERSION 3.25)\nproject(readme CXX)\nadd_executable(app main.cpp)\n${cmake}\n")
step(${CMAKE_COMMAND} -G Ninja -S ${WORK}/readme -B ${WORK}/readme/build -D CMAKE_PREFIX_PATH=${WORK}/prefix
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_FLAGS=${FLAGS})
step(${CMAKE_COMMAND} --build ${WORK}/readme/build)
if(CHARACTERS)
    step(${CHARACTERS} caped ${WORK}/readme/hero.glb)
    step(${WORK}/readme/build/app WORKING_DIRECTORY ${WORK}/readme)
    step(${WORK}/prefix/bin/sinew bind hero.glb -o command.glb --quiet WORKING_DIRECTORY ${WORK}/readme)
    step(${CMAKE_COMMAND} -E compare_files ${WORK}/readme/hero.skinned.glb ${WORK}/readme/command.glb)
endif()

# The installed headers must not need headers that are not installed.
file(GLOB_RECURSE headers ${WORK}/prefix/*.h)
foreach(header ${headers})
    file(STRINGS ${header} includes REGEX "^#include (<(tbb|Eigen|nlohmann|fmt|draco|meshoptimizer)|\"[^s])")
    if(includes)
        message(FATAL_ERROR "${header} includes what a consumer may not have: ${includes}")
    endif()
endforeach()
