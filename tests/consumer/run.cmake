# cmake -D BUILD=… -D WORK=… -D SOURCE=… -D CXX=… -D BUILD_TYPE=… [-D FLAGS=…] -P run.cmake
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
# The installed headers must not lean on anything that is not installed.
file(GLOB_RECURSE headers ${WORK}/prefix/*.h)
foreach(header ${headers})
    file(STRINGS ${header} includes REGEX "^#include (<(tbb|Eigen|nlohmann|fmt|draco|meshoptimizer)|\"[^s])")
    if(includes)
        message(FATAL_ERROR "${header} includes what a consumer may not have: ${includes}")
    endif()
endforeach()
