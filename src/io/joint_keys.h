// Keys that skeleton JSON and joint options share.
#pragma once

#include "io/formats.h"

namespace sinew::io {

/// Three finite numbers. `where` names the place and key in the error.
Result<Vec3> read_point(const Json& value, const std::string& where);

/// Reads "tail", "deform", "range", "shape", "hardness", "plane" or "connected" into the joint; false: another key.
/// null removes all but "deform". Errors begin with `where`, then name the key and its valid values.
Result<bool> read_joint_key(const std::string& key, const Json& value, const std::string& where, Joint& joint);

}  // namespace sinew::io
