#include "posing.h"
#include "core/try.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sinew::cli {
namespace {

std::optional<std::size_t> as_number(const std::string& text) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error == std::errc{} && end == text.data() + text.size()) return index;
    return std::nullopt;
}

std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80)
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// The number of adjacent letter pairs that two names share: finds "LeftHand" for "hand_l".
std::size_t likeness(const std::string& a, const std::string& b) {
    std::size_t n = 0;
    for (std::size_t i = 0; i + 1 < a.size() && i < 200; ++i) n += b.find(a.substr(i, 2)) != std::string::npos;
    return n;
}

}  // namespace

void add_pose_options(CLI::App& command, PoseOptions& options) {
    names_file(
        command.add_option("--pose", options.pose, "Pose JSON: rotations of joints by name, about their own axes"),
        FileUse::reads_json);
    CLI::Option* const clip =
        command.add_option("--clip", options.clip, "An animation of the file, by name or by number from 0");
    command.add_option("--time", options.time, "Seconds into the clip (default 0); clamped to it")
        ->check(number_within(-1e9, 1e9))
        ->needs(clip);
    command
        .add_option("--skinning", options.skinning,
                    "lbs: linear blend (default); dqs: dual quaternion, without scale")
        ->check(CLI::IsMember({"lbs", "dqs"}).description(""));
}

Result<std::size_t> find_clip(const std::vector<io::Clip>& clips, const std::string& wanted,
                              const std::string& input) {
    for (std::size_t i = 0; i < clips.size(); ++i)
        if (clips[i].name == wanted) return i;
    if (const auto index = as_number(wanted); index && *index < clips.size()) return *index;
    std::string known;
    for (std::size_t i = 0; i < clips.size() && i < 50; ++i)
        known += fmt::format("{}{} '{}'", i ? ", " : "", i, printable(clips[i].name, 60));
    if (clips.size() > 50) known += fmt::format(" and {} more", clips.size() - 50);
    return Error{ErrorCode::usage, input + ": there is no clip '" + printable(wanted) + "' (" +
                                       (known.empty() ? "the file has no animations" : "clips: " + known) + ")"};
}

Result<std::uint32_t> find_joint(const Skeleton& skeleton, const std::string& wanted, const std::string& input) {
    const std::size_t count = skeleton.joints.size();
    for (std::size_t j = 0; j < count; ++j)
        if (skeleton.joints[j].name == wanted) return static_cast<std::uint32_t>(j);
    if (const auto index = as_number(wanted); index && *index < count) return static_cast<std::uint32_t>(*index);
    const std::string key = plain(wanted);
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // likeness, joint
    for (std::size_t j = 0; j < count; ++j)
        if (const std::size_t n = likeness(key, plain(skeleton.joints[j].name)); n > 0) ranked.emplace_back(n, j);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string like;
    for (std::size_t i = 0; i < ranked.size() && i < 5; ++i)
        like += fmt::format("{}'{}'", i ? ", " : "", printable(skeleton.joints[ranked[i].second].name, 80));
    if (like.empty())
        for (std::size_t j = 0; j < count && j < 8; ++j)
            like += fmt::format("{}'{}'", j ? ", " : "", printable(skeleton.joints[j].name, 80));
    return Error{ErrorCode::usage, fmt::format("{}: there is no joint '{}' among {} (for example {})", input,
                                               printable(wanted), count, like)};
}

Result<io::ScenePose> read_pose(const io::Scene& scene, const PoseOptions& options, const std::string& input,
                                const Context& context) {
    if (!options.pose.empty() && !options.clip.empty())
        return Error{ErrorCode::usage, "--pose and --clip cannot be combined: give one of them"};
    std::optional<std::size_t> clip;
    if (!options.clip.empty()) {
        SINEW_TRY_LET(std::vector<io::Clip> clips, io::clips(scene));
        SINEW_TRY_LET(clip, find_clip(clips, options.clip, input));
    }
    Result<io::ScenePose> at = io::pose_at(scene, clip, options.time);
    if (!at || clip) return at;
    at->skinning.assign(scene.skeleton.joints.size(), Transform{});
    if (options.pose.empty()) return at;
    SINEW_TRY_LET(std::vector<JointPose> pose, io::load_pose(scene.skeleton, options.pose, &context));
    SINEW_TRY_LET(at->skinning, skinning_matrices(scene.skeleton, pose));
    return at;
}

Status take_weights(io::Scene& scene, const std::string& weights_file, const Context& context) {
    if (weights_file.empty()) return Done{};
    SINEW_TRY_LET(scene.weights,
                  io::load_weights_json(scene.skeleton, scene.positions.size(), weights_file, &context));
    scene.other_poses.clear();
    return Done{};
}

Error with_joint_name(Error error, const Skeleton& skeleton) {
    const std::string_view text = error.message, joint = "joint ";
    std::size_t index = 0;
    if (!text.starts_with(joint)) return error;
    const auto [end, failed] = std::from_chars(text.data() + joint.size(), text.data() + text.size(), index);
    if (failed == std::errc{} && index < skeleton.joints.size())
        error.message = fmt::format("joint '{}'{}", skeleton.joints[index].name, end);
    return error;
}

}  // namespace sinew::cli
