#include "core/body_part.h"

#include <array>
#include <string>
#include <vector>

namespace sinew {
namespace {

using WordViews = std::vector<std::string_view>;

/// In the order of BodyPart.
const std::array<WordViews, kBodyParts - 1> kWords{
    WordViews{"finger", "thumb", "index", "middle", "ring", "pinky", "digit", "pinkie"},
    WordViews{"jaw", "eye", "brow", "lip", "cheek", "tongue", "mouth", "nose", "ear", "lid", "teeth", "face",
              "beak"},
    WordViews{"head", "skull"},
    WordViews{"neck"},
    WordViews{"clav", "shoulder", "collar", "scap"},
    WordViews{"twist", "roll"},
    WordViews{"hand", "wrist", "palm"},
    WordViews{"arm", "elbow", "humer", "ulna"},
    WordViews{"foot", "ankle", "toe", "ball", "heel", "hoof"},
    WordViews{"leg", "thigh", "calf", "shin", "knee"},
    WordViews{"hip", "pelvis", "waist", "root", "cog"},
    WordViews{"spine", "chest", "torso", "body", "back", "stomach", "belly", "rib", "abdomen"},
    WordViews{"tail"},
    WordViews{"wing", "feather"},
    WordViews{"hair", "cloth", "skirt", "cape", "robe", "beard"},
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
