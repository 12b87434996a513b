// Weights as JSON (docs/formats.md). Parsed by events, not as a document tree: a million vertices are common.
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

using json = Json;

/// A JSON string. Bytes that are not UTF-8 become U+FFFD, in writing and in matching.
std::string json_text(const std::string& text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void append_number(std::string& out, auto value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
}

/// Follows the events of one weights file. Each function returns false to stop, with `problem` set.
class WeightsReader {
public:
    std::vector<std::string> joints;
    std::vector<std::uint32_t> counts;
    std::vector<Influence> influences;  ///< `joint` is an index into `joints`
    std::string problem;
    bool is_weights = false, has_joints = false, has_vertices = false;

    bool null() { return scalar("null"); }
    bool boolean(bool) { return scalar("true or false"); }
    bool binary(json::binary_t&) { return scalar("binary"); }
    bool number_integer(json::number_integer_t value) { return number(static_cast<double>(value), value >= 0); }
    bool number_unsigned(json::number_unsigned_t value) { return number(static_cast<double>(value), true); }
    bool number_float(json::number_float_t value, const std::string&) { return number(value, false); }

    bool string(std::string& value) {
        if (depth_ == 1 && key_ == Key::sinew) {
            is_weights = value == "weights";
            return true;
        }
        if (depth_ == 2 && key_ == Key::joints) {
            joints.push_back(std::move(value));
            return true;
        }
        return scalar("a string");
    }

    bool key(std::string& value) {
        if (depth_ != 1) return true;
        key_ = value == "sinew"      ? Key::sinew
               : value == "joints"   ? Key::joints
               : value == "vertices" ? Key::vertices
                                     : Key::other;
        // A key given twice would append to the first.
        if ((key_ == Key::joints && std::exchange(has_joints, true)) ||
            (key_ == Key::vertices && std::exchange(has_vertices, true)))
            return stop("\"" + value + "\" is given twice");
        return true;
    }

    bool start_object(std::size_t) {
        if (depth_ > 0 && key_ != Key::other) return scalar("an object");
        ++depth_;
        return true;
    }
    bool end_object() {
        --depth_;
        return true;
    }

    bool start_array(std::size_t) {
        if (depth_ == 0) return stop("weights must be an object, not an array");
        const std::size_t deepest = key_ == Key::vertices ? 4
                                    : key_ == Key::joints ? 2
                                    : key_ == Key::sinew  ? 1
                                                          : 0;
        if (deepest && depth_ >= deepest) return scalar("an array");
        ++depth_;
        if (key_ == Key::vertices && depth_ == 3) counts.push_back(0);
        if (key_ == Key::vertices && depth_ == 4) slot_ = 0;
        return true;
    }
    bool end_array() {
        if (key_ == Key::vertices && depth_ == 4) {
            if (slot_ != 2) return stop(vertex() + ": an influence must be [joint, weight]");
            ++counts.back();
            influences.push_back(pair_);
        }
        --depth_;
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const json::exception& error) {
        return stop("not valid JSON: " + json_message(error));
    }

private:
    enum class Key { other, sinew, joints, vertices };

    bool stop(std::string message) {
        problem = std::move(message);
        return false;
    }
    std::string vertex() const { return "vertex " + std::to_string(counts.size() - 1); }

    bool number(double value, bool whole) {
        if (depth_ != 4 || key_ != Key::vertices) return scalar("a number");
        if (slot_ == 0) {
            if (!whole || value > 0xffffffffu) return stop(vertex() + ": a joint must be an index into \"joints\"");
            pair_.joint = static_cast<std::uint32_t>(value);
        } else if (slot_ == 1) {
            pair_.weight = static_cast<float>(value);
            if (!(value >= 0) || !std::isfinite(pair_.weight))
                return stop(vertex() + ": a weight must be a finite number, not negative");
        }
        ++slot_;
        return true;
    }

    /// A value that is only valid under an unknown key.
    bool scalar(const char* what) {
        if (depth_ > 0 && key_ == Key::other) return true;
        const char* const rule =
            depth_ == 0          ? "weights must be an object"
            : key_ == Key::sinew ? "\"sinew\" must be \"weights\""
            : key_ == Key::joints
                ? "\"joints\" must be an array of names"
                : "\"vertices\" must be an array with an array of [joint, weight] for each vertex";
        const bool in_vertex = key_ == Key::vertices && depth_ >= 3;
        return stop((in_vertex ? vertex() + ": " : "") + rule + ", and here is " + what);
    }

    std::size_t depth_ = 0;
    int slot_ = 0;
    Key key_ = Key::other;
    Influence pair_;
};

}  // namespace

Status save_weights_json(const Skeleton& skeleton, const SkinWeights& weights, const std::filesystem::path& path) {
    OutputBatch batch;
    SINEW_TRY(save_weights_json(skeleton, weights, path, batch));
    return batch.commit();
}

Status save_weights_json(const Skeleton& skeleton, const SkinWeights& weights, const std::filesystem::path& path,
                         OutputBatch& batch) {
    SINEW_TRY_LET(const std::string text, weights_json(skeleton, weights));
    return batch.add(path, std::as_bytes(std::span(text)));
}

Result<std::string> weights_json(const Skeleton& skeleton, const SkinWeights& weights) {
    std::string out = "{\"sinew\":\"weights\",\n\"joints\":[";
    for (std::size_t i = 0; i < skeleton.joints.size(); ++i) {
        if (i) out += ',';
        out += json_text(skeleton.joints[i].name);
    }
    out += "],\n\"vertices\":[";
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        out += v ? ",\n[" : "\n[";
        bool first = true;
        for (const Influence& influence : weights[v]) {
            if (influence.joint >= skeleton.joints.size())
                return Error{ErrorCode::usage, "vertex " + std::to_string(v) + " is weighted to joint " +
                                                   std::to_string(influence.joint) + ", but the skeleton has " +
                                                   std::to_string(skeleton.joints.size()) + " joints"};
            out += first ? "[" : ",[";
            first = false;
            append_number(out, influence.joint);
            out += ',';
            append_number(out, influence.weight);  // the shortest text that reads back as the same float
            out += ']';
        }
        out += ']';
    }
    out += "]}\n";
    return out;
}

Result<SkinWeights> load_weights_json(const Skeleton& skeleton, std::size_t vertex_count,
                                      const std::filesystem::path& path, const Context* context) {
    SINEW_TRY_LET(const std::vector<std::byte> bytes, read_file(path, context));
    return parse_weights_json(skeleton, vertex_count, as_text(bytes), path.string());
}

Result<SkinWeights> parse_weights_json(const Skeleton& skeleton, std::size_t vertex_count, std::string_view text,
                                       const std::string& name) {
    SINEW_TRY(check_json_depth(text, name));
    WeightsReader reader;
    if (!json::sax_parse(text, &reader)) return input_error(name, reader.problem);
    if (!reader.is_weights) return input_error(name, "not a weights file: it lacks \"sinew\": \"weights\"");
    if (!reader.has_joints || !reader.has_vertices)
        return input_error(name, std::string("\"") + (reader.has_joints ? "vertices" : "joints") + "\" is missing");
    if (reader.counts.size() != vertex_count)
        return input_error(name, "it has weights for " + std::to_string(reader.counts.size()) +
                                     " vertices, but the mesh has " + std::to_string(vertex_count));

    // By name: the order of joints may differ. The n-th joints of the same name belong together.
    std::unordered_map<std::string, std::vector<std::uint32_t>> by_name;
    for (std::size_t i = 0; i < skeleton.joints.size(); ++i)
        by_name[json_text(skeleton.joints[i].name)].push_back(static_cast<std::uint32_t>(i));
    std::unordered_map<std::string, std::size_t> seen;
    std::vector<std::uint32_t> joint_of(reader.joints.size(), no_index);
    for (std::size_t i = 0; i < reader.joints.size(); ++i) {
        const std::string key = json_text(reader.joints[i]);
        const auto found = by_name.find(key);
        const std::size_t nth = seen[key]++;
        if (found != by_name.end() && nth < found->second.size()) joint_of[i] = found->second[nth];
    }

    std::size_t at = 0;
    for (std::size_t v = 0; v < vertex_count; ++v) {
        double sum = 0;
        for (const std::size_t end = at + reader.counts[v]; at < end; ++at) {
            Influence& influence = reader.influences[at];
            if (influence.joint >= joint_of.size())
                return input_error(name, "vertex " + std::to_string(v) + " names joint " +
                                             std::to_string(influence.joint) + ", but \"joints\" has " +
                                             std::to_string(joint_of.size()) + " names");
            if (joint_of[influence.joint] == no_index)
                return input_error(name, "vertex " + std::to_string(v) + " is weighted to joint '" +
                                             reader.joints[influence.joint] +
                                             "', which the skeleton does not have");
            influence.joint = joint_of[influence.joint];
            sum += influence.weight;
        }
        // An empty row is a vertex that no method could bind; a row of zeros is an error in the file.
        if (reader.counts[v] > 0 && !(sum > 0))
            return input_error(name, "vertex " + std::to_string(v) + ": its weights sum to zero");
    }
    return SkinWeights::from_rows(reader.counts, std::move(reader.influences));
}

}  // namespace sinew::io
