# Compile options of all targets. Flags are scoped to targets, never global.

# sinew_target(NAME): warnings (errors with SINEW_WERROR), reproducible floating point,
# and the sanitizers of SINEW_SANITIZE.
function(sinew_target name)
    target_compile_features(${name} PUBLIC cxx_std_20)
    # Same bits on every machine and thread count: no fused multiply-add except where the source has one.
    # Nothing reads errno or exception flags after arithmetic; with them the compiler could not use vectors for square
    # roots and choices. Values stay the same.
    target_compile_options(${name} PRIVATE -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -Wpedantic
        -Wshadow -Wconversion -Wno-sign-conversion)
    # g++ 12 has false warnings for "text" + std::string (GCC bugs 105329 and 105651), and precompiled headers lose the
    # information that they come from system headers.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
    # Static libraries, too, can become part of a shared one. Without the second option the compiler could not inline
    # functions of the same file, because another library might replace them.
    get_target_property(type ${name} TYPE)
    if(NOT EMSCRIPTEN AND NOT type STREQUAL EXECUTABLE)
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
        if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
            target_compile_options(${name} PRIVATE -fno-semantic-interposition)
        endif()
    endif()
    if(SINEW_WERROR)
        target_compile_options(${name} PRIVATE -Werror)
    endif()
    if(SINEW_SANITIZE)
        target_compile_options(${name} PRIVATE -fsanitize=${SINEW_SANITIZE} -fno-omit-frame-pointer
            -fno-sanitize-recover=all)
        if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
            # With sanitizers this warning has false positives (documented in the manual of g++).
            target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
        endif()
        target_link_options(${name} PUBLIC -fsanitize=${SINEW_SANITIZE})
        if(type STREQUAL EXECUTABLE AND SINEW_SANITIZE MATCHES "address")
            # The tables of the checks are full of addresses: to move them takes a fifth of a short run.
            target_link_options(${name} PRIVATE -no-pie)
        endif()
    endif()
endfunction()

# sinew_files_target(NAME): for readers and writers of files and the C interface. Loading is as fast as with -O3, which
# takes nearly twice as long to compile. With sanitizers -O0 takes less than half of the time of -O2, and tests read small files.
function(sinew_files_target name)
    sinew_target(${name})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
    if(SINEW_SANITIZE)
        target_compile_options(${name} PRIVATE -O0)
    endif()
endfunction()

# sinew_quick_target(NAME): for programs that leave the work to the library. Optimising them takes long without benefit.
function(sinew_quick_target name)
    sinew_target(${name})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(SINEW_SANITIZE)
        # Reports name the lines of the library, and undefined behaviour is looked for there.
        target_compile_options(${name} PRIVATE -O0 -g0 -fno-sanitize=undefined)
    endif()
endfunction()

# sinew_unity(NAME FILE…): compiles the files of a folder in groups. Names in their anonymous namespaces must differ.
# Each template is then compiled once per group instead of once per file. Files with options of their own stay alone,
# and so do those that define macros for a library (_stb).
function(sinew_unity name)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # Of names in other files of the group, and of types that g++ takes for a header's.
    target_compile_options(${name} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    foreach(file ${ARGN})
        get_source_file_property(options ${file} COMPILE_OPTIONS)
        # tests/fuzz has options for two files.
        if(options OR file MATCHES "_stb\\.cpp$|src/bind/(binding_file|settings)\\.cpp$"
            OR NOT file MATCHES "^${PROJECT_SOURCE_DIR}/src/([a-z_/]+)/[^/]*\\.cpp$")
            continue()
        endif()
        string(REPLACE / _ folder ${CMAKE_MATCH_1})
        math(EXPR count_${folder} "0${count_${folder}} + 1")
        math(EXPR group "${count_${folder}} / 16")
        set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${folder}_${group})
    endforeach()
endfunction()

# sinew_functions(VARIABLE): the functions that sinew.h declares.
function(sinew_functions variable)
    file(STRINGS ${PROJECT_SOURCE_DIR}/capi/sinew.h lines REGEX "snw_[a-z_]+\\(")
    set(names "")
    foreach(line ${lines})
        # Declarations begin a line; calls in comments do not.
        if(line MATCHES "^[a-z].*[ *](snw_[a-z_]+)\\(")
            list(APPEND names ${CMAKE_MATCH_1})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES names)
    set(${variable} ${names} PARENT_SCOPE)
endfunction()
