// The only file that uses zlib.
#include <zlib.h>

#include "io/inflate.h"

namespace sinew::io {

Status inflate(std::span<const std::byte> stream, std::span<std::byte> to) {
    uLongf made = to.size();
    Bytef none = 0;
    const int status = ::uncompress(to.empty() ? &none : reinterpret_cast<Bytef*>(to.data()), &made,
                                    reinterpret_cast<const Bytef*>(stream.data()), stream.size());
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK || made != to.size())
        return Error{ErrorCode::input, "its compressed bytes are damaged, or are not those of " +
                                           std::to_string(to.size()) + " bytes"};
    return Done{};
}

}  // namespace sinew::io
