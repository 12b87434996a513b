#include "core/body_part.h"

#include <array>
#include <string>
#include <vector>

namespace sinew {
namespace {

using Words = std::vector<std::string_view>;

/// In the order of BodyPart.
const std::array<Words, kBodyParts - 1> kWords{
    Words{"finger", "thumb", "index", "middle", "ring", "pinky", "digit", "pinkie"},
    Words{"jaw", "eye", "brow", "lip", "cheek", "tongue", "mouth", "nose", "ear", "lid", "teeth", "face", "beak"},
    Words{"head", "skull"},
    Words{"neck"},
    Words{"clav", "shoulder", "collar", "scap"},
    Words{"twist", "roll"},
    Words{"hand", "wrist", "palm"},
    Words{"arm", "elbow", "humer", "ulna"},
    Words{"foot", "ankle", "toe", "ball", "heel", "hoof"},
    Words{"leg", "thigh", "calf", "shin", "knee"},
    Words{"hip", "pelvis", "waist", "root", "cog"},
    Words{"spine", "chest", "torso", "body", "back", "stomach", "belly", "rib", "abdomen"},
    Words{"tail"},
    Words{"wing", "feather"},
    Words{"hair", "cloth", "skirt", "cape", "robe", "beard"},
};

}  // namespace

BodyPart body_part_of(std::string_view name) {
    std::string lower(name);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (std::size_t part = 0; part < kWords.size(); ++part)
        for (const std::string_view word : kWords[part])
            if (lower.find(word) != std::string::npos) return static_cast<BodyPart>(part);
    return BodyPart::unknown;
}

}  // namespace sinew
