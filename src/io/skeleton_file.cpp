// Skeletons alone: skeleton JSON, and TGF as in libigl. Both are described in docs/formats.md.
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/numbers.h"
#include "core/try.h"
#include "io/gltf_scene.h"
#include "io/joint_keys.h"

namespace sinew::io {

namespace {

using json = Json;

constexpr int no_cycle = -1;

/// A joint that is its own ancestor, or no_cycle.
int find_cycle(const std::vector<Joint>& joints) {
    enum : char { unseen, open, closed };
    std::vector<char> state(joints.size(), unseen);
    std::vector<int> path;
    for (std::size_t start = 0; start < joints.size(); ++start) {
        path.clear();
        int at = static_cast<int>(start);
        while (at >= 0 && state[at] == unseen) {
            state[at] = open;
            path.push_back(at);
            at = joints[at].parent;
        }
        if (at >= 0 && state[at] == open) return at;
        for (const int joint : path) state[joint] = closed;
    }
    return no_cycle;
}

/// "bone 3 ('hand')", as messages name an entry.
std::string place(const char* kind, std::size_t index, const std::string& name) {
    return std::string(kind) + " " + std::to_string(index) + (name.empty() ? "" : " ('" + printable(name) + "')");
}

/// One entry of "bones" or "points", but for its parent, which may come later in the file.
Result<Joint> read_entry(const json& entry, bool is_point, const std::string& fallback_name, const char* kind,
                         std::size_t index) {
    Joint joint;
    if (!entry.is_object()) return Error{ErrorCode::input, place(kind, index, "") + " must be an object"};
    if (const auto name = entry.find("name"); name != entry.end()) {
        if (!name->is_string())
            return Error{ErrorCode::input, place(kind, index, "") + ": \"name\" must be a string"};
        joint.name = name->get<std::string>();
    }
    if (joint.name.empty()) joint.name = fallback_name;
    const std::string where = place(kind, index, joint.name);

    const char* key = is_point ? "position" : "head";
    const auto head = entry.find(key);
    if (head == entry.end()) return Error{ErrorCode::input, where + " has no \"" + key + "\""};
    SINEW_TRY_LET(const Vec3 position, read_point(*head, where + ": \"" + key + "\""));
    joint.position = position;
    if (is_point) {
        // A bone of length zero: with a stated tail it neither ends at a child nor is lengthened.
        joint.tail = joint.position;
    }
    for (const auto& [name, value] : entry.items()) {
        if (is_point && name == "tail") continue;
        if (const Result<bool> known = read_joint_key(name, value, where, joint); !known) return known.error();
    }
    return joint;
}

Result<int> read_parent(const json& entry, const std::string& where, std::size_t joints,
                        const std::unordered_map<std::string, std::vector<int>>& by_name) {
    const auto parent = entry.find("parent");
    if (parent == entry.end() || parent->is_null()) return -1;
    if (parent->is_string()) {
        const auto name = parent->get<std::string>();
        const auto found = by_name.find(name);
        if (found == by_name.end())
            return Error{ErrorCode::input,
                         where + ": \"parent\" names '" + printable(name) + "', which is in no bone or point"};
        if (found->second.size() > 1)
            return Error{ErrorCode::input, where + ": \"parent\" names '" + printable(name) +
                                               "', which several have: give the parent by number, or rename"};
        return found->second.front();
    }
    if (parent->is_number_integer()) {
        const bool huge = parent->is_number_unsigned() && parent->get<std::uint64_t>() >= joints;
        const std::int64_t index = huge ? 0 : parent->get<std::int64_t>();
        if (index == -1) return -1;
        if (huge || index < 0)
            return Error{ErrorCode::input, where + ": \"parent\" is " + printable(parent->dump()) +
                                               ", but there are only " + std::to_string(joints) +
                                               " bones and points (a root has -1)"};
        return static_cast<int>(index);
    }
    return Error{ErrorCode::input, where + ": \"parent\" must be a number, a name or null"};
}

Result<Skeleton> parse_skeleton_json(std::string_view text, const std::string& name) {
    const Result<json> document = parse_json(text, name);
    if (!document) return document.error();
    if (!document->is_object())
        return input_error(name, "a skeleton must be an object with \"bones\" or \"points\"");

    Skeleton skeleton;
    std::vector<const json*> entries;
    std::vector<std::string> places;
    for (const bool is_point : {false, true}) {
        const char* list = is_point ? "points" : "bones";
        const char* kind = is_point ? "point" : "bone";
        const auto found = document->find(list);
        if (found == document->end()) continue;
        if (!found->is_array()) return input_error(name, std::string("\"") + list + "\" must be an array");
        for (std::size_t i = 0; i < found->size(); ++i) {
            Result<Joint> joint =
                read_entry((*found)[i], is_point, std::string(kind) + "_" + std::to_string(i), kind, i);
            if (!joint) return input_error(name, joint.error().message);
            places.push_back(place(kind, i, joint->name));
            entries.push_back(&(*found)[i]);
            skeleton.joints.push_back(std::move(*joint));
        }
    }
    if (skeleton.joints.empty())
        return input_error(name, "there is no bone: \"bones\" and \"points\" are empty or absent");

    std::unordered_map<std::string, std::vector<int>> by_name;
    for (std::size_t i = 0; i < entries.size(); ++i)
        by_name[skeleton.joints[i].name].push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Result<int> parent = read_parent(*entries[i], places[i], entries.size(), by_name);
        if (!parent) return input_error(name, parent.error().message);
        skeleton.joints[i].parent = *parent;
    }
    if (const int joint = find_cycle(skeleton.joints); joint != no_cycle)
        return input_error(name, places[joint] + " is its own ancestor: parents must not form a cycle");
    return skeleton;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// The next word of a line, taken off its front; empty at the end.
std::string_view next_word(std::string_view& line) {
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    std::size_t length = 0;
    while (length < line.size() && !is_space(line[length])) ++length;
    const std::string_view word = line.substr(0, length);
    line.remove_prefix(length);
    return word;
}

Result<Skeleton> parse_tgf(std::string_view text, const std::string& name) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    Skeleton skeleton;
    std::unordered_map<std::string, int> by_id;
    std::vector<std::size_t> parent_line;
    enum { vertices, edges } section = vertices;
    std::size_t number = 0;
    const auto fail = [&](std::size_t line, const std::string& message) {
        return input_error(name, "line " + std::to_string(line) + ": " + message);
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        const std::string_view first = next_word(line);
        if (first.empty()) continue;
        if (first == "#") {
            if (section == edges) break;  // libigl writes further sections after a second one
            section = edges;
            continue;
        }
        if (section == vertices) {
            Joint joint;
            float xyz[3];
            for (float& x : xyz) {
                const std::string_view word = next_word(line);
                if (word.empty()) return fail(number, "a vertex needs an id and three numbers: id x y z");
                const std::optional<float> value = parse_float(word);
                if (!value) return fail(number, "'" + printable(word) + "' is not a finite number");
                x = *value;
            }
            joint.position = {xyz[0], xyz[1], xyz[2]};
            joint.name = "joint_" + std::string(first);
            if (!by_id.emplace(first, static_cast<int>(skeleton.joints.size())).second)
                return fail(number, "vertex id " + std::string(first) + " is given twice");
            skeleton.joints.push_back(std::move(joint));
            parent_line.push_back(0);
        } else {
            const std::string from(first), to(next_word(line));
            if (to.empty()) return fail(number, "an edge needs two vertex ids: parent child");
            // The columns of libigl: bone, pseudo-edge, cage edge.
            if (next_word(line) == "0") continue;
            const auto parent = by_id.find(from), child = by_id.find(to);
            if (parent == by_id.end()) return fail(number, "no vertex has the id " + from);
            if (child == by_id.end()) return fail(number, "no vertex has the id " + to);
            if (parent == child) return fail(number, "the edge joins vertex " + from + " to itself");
            if (parent_line[child->second])
                return fail(number, "vertex " + to + " already has a parent from line " +
                                        std::to_string(parent_line[child->second]) + ": bones must form a tree");
            skeleton.joints[child->second].parent = parent->second;
            parent_line[child->second] = number;
        }
    }
    if (skeleton.joints.empty())
        return input_error(name, "there is no vertex: a TGF skeleton begins with lines of id x y z");
    // An edge is a bone. A vertex without outgoing edges is the end of a bone; one without any edge is a point.
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        if (const int parent = skeleton.joints[j].parent; parent >= 0)
            skeleton.joints[static_cast<std::size_t>(parent)].stated_links = true;
    }
    for (Joint& joint : skeleton.joints) {
        if (joint.stated_links) continue;
        if (joint.parent < 0)
            joint.tail = joint.position;
        else
            joint.deform = false, joint.reason = DeformReason::excluded;
    }
    if (const int joint = find_cycle(skeleton.joints); joint != no_cycle)
        return fail(parent_line[joint],
                    skeleton.joints[joint].name.substr(6) + " becomes its own ancestor: bones must form a tree");
    return skeleton;
}

}  // namespace

Result<SkeletonFile> parse_skeleton_file(std::string_view text, const std::string& name, bool with_clips,
                                         Context* context) {
    if (text.starts_with("glTF")) {
        SINEW_TRY_LET(auto document,
                      parse_document(std::as_bytes(std::span(text.data(), text.size())), name,
                                     std::make_shared<ModelFiles>(std::filesystem::path(), context)));
        return read_skeleton(std::move(document), with_clips, context);
    }
    if (with_clips) return Error{ErrorCode::usage, name + ": skeleton JSON and TGF have no animations"};
    SINEW_TRY_LET(Skeleton skeleton, parse_skeleton(text, name));
    return SkeletonFile{std::move(skeleton), "", {}};
}

Result<Skeleton> parse_skeleton(std::string_view text, const std::string& name) {
    if (text.starts_with("glTF")) {
        SINEW_TRY_LET(SkeletonFile file, parse_skeleton_file(text, name));
        return std::move(file.skeleton);
    }
    const std::size_t start = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (start == text.npos) return input_error(name, "the skeleton file is empty");
    return text[start] == '{' || text[start] == '[' ? parse_skeleton_json(text, name) : parse_tgf(text, name);
}

std::string skeleton_json(const Skeleton& skeleton) {
    using Entry = OrderedJson;
    const auto number = [](float x) {
        return number_of<double>(shortest_text(x)).value_or(0);
    };  // 0.1, not 0.100000001
    const auto point = [&](const Vec3& p) { return Entry{number(p.x), number(p.y), number(p.z)}; };
    Entry bones = Entry::array();
    for (const Joint& joint : skeleton.joints) {
        Entry bone{{"name", joint.name}, {"parent", nullptr}};
        if (joint.parent >= 0) bone["parent"] = skeleton.joints[static_cast<std::size_t>(joint.parent)].name;
        bone["head"] = point(joint.position);
        if (joint.tail) bone["tail"] = point(*joint.tail);
        bones.push_back(std::move(bone));
    }
    return Entry{{"bones", bones}}.dump(2, ' ', false, Entry::error_handler_t::replace) + "\n";
}

}  // namespace sinew::io
