// Joint options: the properties of joints in skeleton JSON, without positions, for a skeleton from any file.
#include <map>

#include "core/joint_names.h"
#include "core/try.h"
#include "io/joint_keys.h"

namespace sinew::io {

using json = Json;

Status parse_joint_options(std::string_view text, const std::string& name, Skeleton& skeleton,
                           const Context* context) {
    const Result<json> document = parse_json(text, name, context);
    if (!document) return document.error();
    const auto list = document->is_object() ? document->find("joints") : document->end();
    if (!document->is_object() || list == document->end() || !list->is_object())
        return input_error(name, "joint options must be an object with \"joints\": {NAME: {\"hardness\": 0.5}, …}");
    for (const auto& [key, value] : document->items())
        if (key != "joints") return input_error(name, "\"" + printable(key) + "\" is not known: \"joints\" is");

    // Changes are made to a copy, so that an error leaves the skeleton as it was.
    std::vector<Joint> joints = skeleton.joints;
    std::map<std::pair<std::size_t, std::string>, const std::string*>
        set_by;                               // joint, key: the pattern that set it
    for (const bool plain : {false, true}) {  // a plain name overrides a pattern: it is applied last
        for (const auto& [pattern, entry] : list->items()) {
            if ((pattern.find_first_of("*?") == pattern.npos) != plain) continue;
            const std::string shown = "'" + printable(pattern) + "'";
            std::vector<std::size_t> found;
            for (std::size_t j = 0; j < joints.size(); ++j)
                if (matches_glob(pattern, joints[j].name)) found.push_back(j);
            if (found.empty())
                return input_error(name, (plain ? "there is no joint " : "no joint's name matches ") + shown +
                                             did_you_mean(pattern, names_of(skeleton)));
            const std::string where = "joint " + shown;
            if (!entry.is_object()) return input_error(name, where + " must be an object");
            for (const auto& [key, value] : entry.items()) {
                if (key == "tail" && found.size() > 1)
                    return input_error(name, where + ": \"tail\" is for one joint, and " +
                                                 std::to_string(found.size()) + " have such a name");
                for (const std::size_t j : found) {
                    const std::string*& before = set_by[{j, key}];
                    if (before && !plain)
                        return input_error(name, "joint '" + printable(joints[j].name) + "': \"" + printable(key) +
                                                     "\" is set by both '" + printable(*before) + "' and " + shown +
                                                     ": give it by the joint's name");
                    before = &pattern;
                    const Result<bool> known = read_joint_key(key, value, where, joints[j]);
                    if (!known) return input_error(name, known.error().message);
                    if (!*known)
                        return input_error(
                            name,
                            where + ": \"" + printable(key) +
                                "\" is not known: tail, shape, range, deform, hardness, plane and connected are");
                    // The file overrides conclusions from names and weights of the model.
                    if (key == "deform" && joints[j].deform) joints[j].reason = DeformReason::included;
                }
            }
        }
    }
    skeleton.joints = std::move(joints);
    return Done{};
}

Status load_joint_options(const std::filesystem::path& path, Skeleton& skeleton, const Context* context) {
    SINEW_TRY_LET(const auto bytes, read_file(path, context));
    return parse_joint_options(as_text(bytes), path.string(), skeleton, context);
}

}  // namespace sinew::io
