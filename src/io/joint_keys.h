// Keys that skeleton JSON and joint options share.
#pragma once

#include "io/formats.h"

namespace sinew::io {

/// Three finite numbers. `where` names the place and key in the error.
Result<Vec3> read_point(const nlohmann::json& value, const std::string& where);

/// Reads "tail", "deform", "range", "shape", "hardness", "plane" or "connected" into the joint; false: the key is
/// none of them. null takes all but "deform" away. Errors begin with `where`, then name the key and what it must
/// be.
Result<bool> read_joint_key(const std::string& key, const nlohmann::json& value, const std::string& where,
                            Joint& joint);

}  // namespace sinew::io
