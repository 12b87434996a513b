#include "report/report.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/numbers.h"

namespace sinew {

std::string_view name_of(LimitRule rule) { return rule == LimitRule::fade ? "fade" : "cut"; }

const Words<DeformFrom> deform_from_words = {{"auto", DeformFrom::automatic},
                                             {"skin", DeformFrom::skin},
                                             {"names", DeformFrom::names},
                                             {"all", DeformFrom::all}};
const Words<io::WeightFormat> weight_format_words = {
    {"f32", io::WeightFormat::f32}, {"u16", io::WeightFormat::u16}, {"u8", io::WeightFormat::u8}};
const Words<io::FbxUnit> fbx_unit_words = {{"cm", io::FbxUnit::cm}, {"m", io::FbxUnit::m}};

namespace {

template <typename T>
std::string_view word_of(const Words<T>& words, T value) {
    return std::find_if(words.begin(), words.end(), [&](const auto& row) { return row.second == value; })->first;
}

}  // namespace

std::string_view name_of(DeformFrom from) { return word_of(deform_from_words, from); }
std::string_view name_of(io::WeightFormat format) { return word_of(weight_format_words, format); }

std::string shell_word(const std::string& word) {
    if (!word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%") ==
            std::string::npos)
        return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::pair<std::string, std::uint32_t> place_of(const io::Scene& scene, std::uint32_t vertex) {
    for (const io::Primitive& p : scene.primitives)
        if (vertex >= p.first_vertex && vertex - p.first_vertex < p.vertex_count)
            return {p.name, vertex - p.first_vertex};
    return {"", vertex};
}

std::vector<std::string> one_of_each_kind(const std::vector<std::string>& warnings) {
    std::vector<std::string> out;
    std::vector<std::size_t> more;
    std::map<std::string, std::size_t> known;
    for (const std::string& line : warnings) {
        std::string kind;
        for (std::size_t at = 0; at < line.size(); ++at) {
            // Messages quote names.
            if (line[at] == '\'')
                at = std::min(line.find('\'', at + 1), line.size());
            else if (line[at] < '0' || line[at] > '9')
                kind += line[at];
        }
        const auto [place, is_new] = known.try_emplace(std::move(kind), out.size());
        if (is_new) {
            out.push_back(line);
            more.push_back(0);
        } else {
            ++more[place->second];
        }
    }
    for (std::size_t k = 0; k < out.size(); ++k)
        if (more[k]) out[k] += " (and " + std::to_string(more[k]) + " more)";
    return out;
}

std::string text_of(const OrderedJson& report) {
    return report.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string compact_text(const OrderedJson& report) {
    return report.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::vector<std::string> edit_lines(const Adjustments& adjustments, const EditReport& report) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < report.changed.size(); ++i) {
        std::string line = "edit " + std::to_string(i + 1) + " (" +
                           std::string(info_of(adjustments.edits[i].kind).name) +
                           "): " + std::to_string(report.changed[i]) + " vertices changed";
        if (report.kept[i])
            line += ", " + std::to_string(report.kept[i]) + " unchanged: no other joint can take the weight";
        lines.push_back(std::move(line));
    }
    return lines;
}

double as_given(float value) { return *number_of<double>(shortest_text(value)); }

OrderedJson defects_json(const MeshDefects& d) {
    return {{"open_parts", d.open_parts},
            {"flipped_parts", d.flipped_parts},
            {"flipped_triangles", d.flipped_triangles},
            {"boundary_edges", d.boundary_edges},
            {"holes", d.holes},
            {"nonmanifold_edges", d.nonmanifold_edges},
            {"duplicate_triangles", d.duplicate_triangles},
            {"degenerate_triangles", d.degenerate_triangles},
            {"unused_vertices", d.unused_vertices}};
}

// An option's text as JSON: numbers and switches as such.
OrderedJson option_json(const BindSetting& setting, const std::string& text) {
    using Kind = BindSetting::Kind;
    if (setting.choices == "on off") return text == "on";
    if (setting.kind == Kind::range) {
        OrderedJson ends = OrderedJson::array();
        const std::size_t space = text.find(' ');
        for (const std::string& end : {text.substr(0, space), text.substr(space + 1)})
            ends.push_back(*number_of<double>(end));
        return ends;
    }
    if (setting.kind == Kind::number) return *number_of<double>(text);
    if (const auto whole = number_of<int>(text)) return *whole;
    return text;
}

// All options of bind, and those that the run adds.
OrderedJson options_json(const BindRun& run) {
    const BindOptions& bound = run.binding->options();
    OrderedJson out;
    for (const BindSetting& setting : bind_settings()) {
        if (setting.name == "method") continue;  // has its own key
        std::string key(setting.name);
        std::replace(key.begin(), key.end(), '-', '_');
        out[key] = option_json(setting, option_text(run.options, setting.name));
        // The resolution that was chosen for the mesh.
        if (setting.name == "resolution") {
            out[key] = bound.voxels.resolution;
            out["resolution_reason"] = run.binding->report().resolution_reason;
        }
        if (setting.name == "local-resolution") out[key] = bound.local_resolution;
    }
    out["deform_from"] = name_of(run.deform_from);
    out["weight_format"] = name_of(run.weight_format);
    out["threads"] = run.threads;
    return out;
}

OrderedJson make_report(const BindRun& run) {
    using json = OrderedJson;
    const io::Scene& scene = *run.scene;
    const BindReport& report = run.binding->report();
    const MeshDefects& d = report.defects;
    const BindOptions& o = run.options;

    json joints = json::array();
    std::size_t deforming = 0;
    for (const Joint& joint : run.binding->skeleton().joints) {
        joints.push_back({{"name", joint.name}, {"deforms", joint.deform}, {"reason", to_string(joint.reason)}});
        deforming += joint.deform;
    }
    json snapped = json::array();
    for (const std::uint32_t j : report.snapped_joints) snapped.push_back(scene.skeleton.joints[j].name);
    json defects = defects_json(d);
    if (run.intersections) {
        defects["nonmanifold_vertices"] = run.nonmanifold_vertices;
        defects["intersecting_triangles"] = run.intersections->triangles;
    }
    json coverage = {{"share", report.covered()}};
    for (std::size_t k = 0; k < report.coverage.size(); ++k)
        coverage[std::string(to_string(static_cast<Coverage>(k)))] = report.coverage[k];
    json seconds = {{"load", run.load_seconds}};
    for (const StageTime& stage : report.seconds) seconds[stage.stage] = stage.seconds;
    if (report.reused != Reuse::none) seconds["binding"] = run.binding_seconds;
    if (run.intersections) seconds["intersections"] = run.intersections_seconds;
    seconds["weights"] = run.weights_seconds;
    seconds["save"] = run.save_seconds;
    seconds["total"] = run.total_seconds;
    json warnings = scene.warnings;
    for (const auto* more : {&report.warnings, &run.warnings})
        for (const std::string& w : *more) warnings.push_back(w);
    if (run.intersections && run.intersections->undecided)
        warnings.push_back(
            std::to_string(run.intersections->undecided) +
            " triangles were not compared with all others, because it would take too long: more than "
            "the report says may intersect");

    return {
        {"sinew", SINEW_VERSION},
        {"input", run.input},
        {"output", run.output},
        {"method", to_string(o.method)},
        {"reused", to_string(report.reused)},
        {"options", options_json(run)},
        {"counts",
         {{"meshes", scene.mesh_count},
          {"primitives", scene.primitives.size()},
          {"skipped_primitives", scene.skipped_primitives},
          {"parts", d.parts},
          {"vertices", scene.positions.size()},
          {"triangles", scene.triangles.size()},
          {"joints", scene.skeleton.joints.size()},
          {"deforming_joints", deforming},
          {"bones", run.binding->bones().size()}}},
        {"joints", joints},
        {"defects", defects},
        {"voxels",
         {{"boundary", report.boundary_voxels},
          {"interior", report.interior_voxels},
          {"exterior", report.exterior_voxels},
          {"ambiguous", report.ambiguous_voxels},
          {"ambiguous_inside", report.ambiguous_inside},
          {"bone", report.bone_voxels},
          {"leaves", report.leaves},
          {"links", report.links},
          {"components", report.components},
          {"bridged_components", report.bridged_components}}},
        {"coverage", coverage},
        {"farthest_outside", as_given(report.farthest_outside)},
        {"snapped_joints", snapped},
        {"seconds", seconds},
        {"peak_memory_bytes", peak_memory_bytes()},
        {"edits", run.edits},
        {"notes", run.notes},
        {"warnings", warnings},
    };
}

}  // namespace sinew
