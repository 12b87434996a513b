# cmake -D FONT=… -D OUT=… -P EmbedFont.cmake: writes a font file as a C++ array, so that the program needs no file at run time.
# Words of eight bytes compile much faster than single bytes.
file(READ "${FONT}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR odd "${digits} % 16")
if(odd)
    math(EXPR missing "16 - ${odd}")
    string(REPEAT "0" ${missing} zeros)
    string(APPEND hex "${zeros}")
endif()
string(REGEX REPLACE "(..)(..)(..)(..)(..)(..)(..)(..)" "0x\\8\\7\\6\\5\\4\\3\\2\\1,\n" words "${hex}")
file(WRITE "${OUT}.tmp" "// From ${FONT}\n#include <cstdint>\nnamespace sinew {\nextern const std::uint64_t kFontWords[];\nconst std::uint64_t kFontWords[] = {\n${words}};\n}\n")
file(RENAME "${OUT}.tmp" "${OUT}")
