// Animations of an FBX file.
#pragma once

#include <string>
#include <vector>

#include "io/fbx_nodes.h"
#include "io/fbx_objects.h"
#include "io/foreign.h"

namespace sinew::io {

/// The takes of a file that move nodes, with keys at every frame of the file and at every key. Of several layers,
/// the first is read, with a warning. Marks nodes that the clips scale (FbxNodes::mark_compensated); nodes of the
/// result are those of FbxNodes::numbers.
Result<std::vector<ForeignClip>> read_fbx_clips(const FbxObjects& objects, FbxNodes& nodes, ModelFiles& files,
                                                std::vector<std::string>& warnings);

}  // namespace sinew::io
