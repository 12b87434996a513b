// Poses and joints on the command line, for commands that show or pose a character.
#pragma once

#include <optional>
#include <string>

#include "command.h"
#include "sinew/deform.h"
#include "sinew/io.h"

namespace sinew::cli {

struct PoseOptions {
    std::string pose, clip;  ///< at most one of them
    double time = 0;
    std::string skinning = "lbs";

    Skinning how() const { return skinning == "dqs" ? Skinning::dual_quaternion : Skinning::linear_blend; }
};

/// --pose, --clip, --time and --skinning.
void add_pose_options(CLI::App& command, PoseOptions& options);

/// A clip by name, else by number.
Result<std::size_t> find_clip(const std::vector<io::Clip>& clips, const std::string& wanted,
                              const std::string& input);

/// A joint by name, else by number if no joint has that name. The error suggests similar names.
Result<std::uint32_t> find_joint(const Skeleton& skeleton, const std::string& wanted, const std::string& input);

/// Reads the pose that the options name. With a clip: the file's nodes at that time. With a pose file: its
/// joints, with the morph targets and position of the nodes at rest. With neither: the bind pose.
Result<io::ScenePose> read_pose(const io::Scene& scene, const PoseOptions& options, const std::string& input,
                                const Context& context);

/// Replaces the joint number at the start of an error, as in errors of deform, by the joint's name.
Error with_joint_name(Error error, const Skeleton& skeleton);

/// The file's own weights, or those of --weights.
Status take_weights(io::Scene& scene, const std::string& weights_file, const Context& context);

}  // namespace sinew::cli
