// Animations to write: from poses of joints to keys of nodes.
#pragma once

#include <string>
#include <vector>

#include "sinew/io.h"

namespace sinew::io {

/// The keys of one property of a joint's node.
struct NodeTrack {
    std::size_t joint = 0;
    const char* path = "";      ///< "translation", "rotation" or "scale"
    std::size_t width = 0;      ///< numbers of a key: 4 for rotations, else 3
    std::vector<float> values;  ///< key by key
};

/// The tracks of a clip (SaveOptions::clips), in the order of joints: only those that differ from the node's rest
/// pose. Errors name the clip, the key and the joint. Notes report everything that is written in addition to the
/// keys. O(keys × joints).
Result<std::vector<NodeTrack>> node_tracks(const Scene& scene, const PoseClip& clip,
                                           std::vector<std::string>& notes);

}  // namespace sinew::io
