// The animations of a document, as keys.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "io/gltf_accessor.h"

namespace sinew::io {

struct Animation {
    enum class Path { translation, rotation, scale, weights };
    enum class Mode { linear, step, cubic };
    struct Sampler {
        Mode mode = Mode::linear;
        std::vector<float> times;   ///< rising
        std::vector<float> values;  ///< per key `width`, or in-tangent, value, out-tangent of `width` each
        std::size_t width = 0;
    };
    struct Channel {
        std::size_t node = 0;
        Path path = Path::translation;
        std::size_t sampler = 0;
    };
    std::vector<Channel> channels;
    std::map<std::size_t, Sampler> samplers;
};

/// Animations of one file may share keys, so that a small file could ask for any amount: all that one reader reads
/// is limited by the size of the file's buffers.
class AnimationReader {
public:
    explicit AnimationReader(const Document& document);
    Result<Animation> read(std::size_t index);

private:
    Result<Animation::Sampler> read_sampler(const Json& json, const std::string& place);

    const Document& document_;
    AccessorReader accessors_;
    std::size_t budget_ = 0;  // numbers that may still be read
};

/// The value at a time: that of the first or last key outside of them. Rotations have length 1.
std::vector<double> sample(const Animation::Sampler& s, double time, bool rotation);

}  // namespace sinew::io
