// sinew cutout: from a picture with transparency and bones to a textured mesh with weights.

#include "sinew/cutout.h"
#include "core/try.h"
#include "sinew/cutout_files.h"

#include <fmt/core.h>

#include <cctype>
#include <chrono>

#include "command.h"
#include "report/report.h"
#include "sinew/bind.h"
#include "sinew/content.h"
#include "sinew/deform.h"

namespace sinew::cli {
namespace {

using json = OrderedJson;

struct CutoutArguments : RunOptions {
    std::string input, bones, output, picture, posed, pose;
    CutoutOptions options;
    io::CutoutGltfOptions gltf;
    std::string max_influences = "4";
};

Status check_arguments(const CutoutArguments& args) {
    SINEW_TRY(check(args.options));
    const std::string kind = io::extension_of(args.output);
    if (kind != ".glb" && kind != ".gltf" && kind != ".json")
        return Error{ErrorCode::usage,
                     args.output + ": output must be .glb or .gltf, or .json for the skeleton JSON of Spine"};
    if (args.posed.empty() != args.pose.empty())
        return Error{ErrorCode::usage,
                     "--posed PNG and --pose FILE must be given together: the picture and its pose"};
    const bool figure = io::extension_of(args.input) == ".json";
    if (!figure && args.bones.empty())
        return Error{ErrorCode::usage, "a picture needs --bones FILE (or give a JSON file with layers as input)"};
    if (figure && !args.bones.empty())
        return Error{ErrorCode::usage, args.input + " contains bones: --bones needs a picture as input"};
    const NamedFile outputs[] = {
        {"--output", args.output}, {"--picture", args.picture}, {"--posed", args.posed}, {"--report", args.report}};
    const NamedFile inputs[] = {{"the input", args.input}, {"--bones", args.bones}, {"--pose", args.pose}};
    return check_files(outputs, inputs);
}

OrderedJson coverage_of(const BindReport& report) {
    OrderedJson out{{"share", report.covered()}};
    for (std::size_t k = 0; k < report.coverage.size(); ++k)
        out[std::string(to_string(static_cast<Coverage>(k)))] = report.coverage[k];
    return out;
}

/// docs/cutout.md.
OrderedJson make_report(const CutoutArguments& args, const CutoutFigure& figure,
                        const std::vector<CutoutPart>& parts) {
    json layers = json::array(), warnings = json::array();
    BindReport all;
    std::size_t vertices = 0, triangles = 0;
    for (std::size_t l = 0; l < parts.size(); ++l) {
        const CutoutLayer& layer = figure.layers[l];
        const OutlineReport& r = parts[l].mesh.report;
        const BindReport& b = parts[l].binding->report();
        json names = json::array(), snapped = json::array();
        for (const std::uint32_t j : layer.joints) names.push_back(figure.skeleton.joints[j].name);
        for (const std::uint32_t j : b.snapped_joints)
            if (std::binary_search(layer.joints.begin(), layer.joints.end(), j))
                snapped.push_back(figure.skeleton.joints[j].name);
        layers.push_back({{"name", layer.name},
                          {"image", layer.path},
                          {"size", {layer.picture.width, layer.picture.height}},
                          {"offset", layer.offset},
                          {"bones", names},
                          {"pixels", r.pixels},
                          {"islands", r.islands},
                          {"holes", r.holes},
                          {"dropped_islands", r.dropped_islands},
                          {"dropped_pixels", r.dropped_pixels},
                          {"filled_holes", r.filled_holes},
                          {"filled_pixels", r.filled_pixels},
                          {"contour_points", r.contour_points},
                          {"vertices", parts[l].mesh.positions.size()},
                          {"triangles", parts[l].mesh.triangles.size()},
                          {"area", r.area},
                          {"smallest_angle", r.smallest_angle},
                          {"small_angles", r.small_angles},
                          {"components", b.components},
                          {"bridged_components", b.bridged_components},
                          {"snapped_bones", snapped},
                          {"coverage", coverage_of(b)}});
        for (const std::string& warning : parts[l].warnings) warnings.push_back(warning);
        for (std::size_t k = 0; k < all.coverage.size(); ++k) all.coverage[k] += b.coverage[k];
        vertices += parts[l].mesh.positions.size();
        triangles += parts[l].mesh.triangles.size();
    }
    const CutoutOptions& o = args.options;
    return {{"sinew", SINEW_VERSION},
            {"input", args.input},
            {"output", args.output},
            {"method", to_string(Method::pixel_geodesic)},
            {"options",
             {{"alpha", as_given(o.outline.alpha)},
              {"tolerance", as_given(o.outline.tolerance)},
              {"spacing", as_given(o.outline.spacing)},
              {"least_area", o.outline.least_area},
              {"neighbours", o.neighbours == Neighbours::faces ? 4 : 8},
              {"one_pixel", o.one_pixel},
              {"smoothness", as_given(o.smoothness)},
              {"max_influences",
               o.finish.max_influences == all_influences ? json("all") : json(o.finish.max_influences)},
              {"limit_rule", name_of(o.finish.limit_rule)},
              {"alpha_mode", args.gltf.alpha_mode == io::AlphaMode::mask ? "mask" : "blend"},
              {"pixels_per_unit", args.gltf.pixels_per_unit},
              {"threads", args.threads}}},
            {"counts",
             {{"layers", parts.size()},
              {"vertices", vertices},
              {"triangles", triangles},
              {"bones", figure.skeleton.joints.size()}}},
            {"canvas", {figure.width, figure.height}},
            {"layers", layers},
            {"coverage", coverage_of(all)},
            {"peak_memory_bytes", peak_memory_bytes()},
            {"warnings", warnings}};
}

void print_cutout_summary(const OrderedJson& r) {
    const auto count = [](const OrderedJson& value, const char* key) { return value[key].get<std::size_t>(); };
    fmt::print("cut out {} layer{}: {} vertices, {} triangles, {} bones in {:.2f} s\n",
               count(r["counts"], "layers"), count(r["counts"], "layers") == 1 ? "" : "s",
               count(r["counts"], "vertices"), count(r["counts"], "triangles"), count(r["counts"], "bones"),
               r["seconds"]["total"].get<double>());
    for (const auto& layer : r["layers"])
        fmt::print("  layer     {}: {} pixels, {} islands, {} holes, smallest angle {:.1f} degrees\n",
                   layer["name"].get<std::string>(), count(layer, "pixels"), count(layer, "islands"),
                   count(layer, "holes"), layer["smallest_angle"].get<double>());
    fmt::print("  coverage  {:.2f} %\n", 100 * r["coverage"]["share"].get<double>());
    for (const auto& warning : one_of_each_kind(r["warnings"])) fmt::print("  warning   {}\n", shown(warning));
    fmt::print("  output    {}\n", r["output"].get<std::string>());
}

Status add_picture(io::OutputBatch& batch, const std::string& path, const RgbaImage& picture) {
    SINEW_TRY_LET(const std::vector<std::byte> png, encode_png(picture));
    return batch.add(path, png);
}

/// The output: for Spine if its name ends in .json, else glTF.
Status add_figure(io::OutputBatch& batch, const CutoutArguments& args, const CutoutFigure& figure,
                  const std::vector<CutoutPart>& parts) {
    const std::string kind = io::extension_of(args.output);
    if (kind == ".json") {
        const std::filesystem::path path(args.output);
        SINEW_TRY_LET(const std::string text,
                      io::cutout_spine(figure, parts,
                                       path.has_parent_path() ? path.parent_path() : std::filesystem::path(".")));
        return batch.add(path, std::as_bytes(std::span(text)));
    }
    io::CutoutGltfOptions options = args.gltf;
    options.alpha_cutoff = args.options.outline.alpha;
    SINEW_TRY_LET(const auto bytes, io::cutout_gltf(figure, parts, options, kind == ".glb"));
    return batch.add(args.output, bytes);
}

/// The transforms of --pose; empty without.
Result<std::vector<Transform>> pose_transforms(const CutoutArguments& args, const Skeleton& skeleton,
                                               const Context& context) {
    if (args.pose.empty()) return std::vector<Transform>{};
    SINEW_TRY_LET(const std::vector<JointPose> pose, io::load_pose(skeleton, args.pose, &context));
    return skinning_matrices(skeleton, pose);
}

Result<int> run_cutout(CutoutArguments args) {
    SINEW_TRY_LET(args.options.finish.max_influences, influence_limit(args.max_influences));
    SINEW_TRY(check_arguments(args));
    const auto start_of_all = std::chrono::steady_clock::now();
    Context context;
    args.apply(context);
    OrderedJson report;
    double covered = 1;
    {
        Progress progress(context, args.quiet || args.json);
        progress.stage("load");
        const bool is_figure = args.bones.empty();
        const Result<CutoutFigure> figure =
            io::load_cutout(is_figure ? args.input : args.bones,
                            is_figure ? std::nullopt : std::optional<std::filesystem::path>(args.input), &context);
        if (!figure) return figure.error();
        const NamedFile outputs[] = {{"--output", args.output},
                                     {"--picture", args.picture},
                                     {"--posed", args.posed},
                                     {"--report", args.report}};
        for (const CutoutLayer& layer : figure->layers) {
            const NamedFile kept{"a picture of the figure", layer.path};
            SINEW_TRY(check_kept(outputs, {&kept, 1}));
        }
        SINEW_TRY_LET(const std::vector<Transform> transforms, pose_transforms(args, figure->skeleton, context));
        const double load_seconds = seconds_since(start_of_all);

        auto start = std::chrono::steady_clock::now();
        SINEW_TRY_LET(const std::vector<CutoutPart> parts, cut_out(*figure, args.options, &context));
        const double bind_seconds = seconds_since(start);

        start = std::chrono::steady_clock::now();
        progress.stage("save");
        io::OutputBatch batch;
        SINEW_TRY(add_figure(batch, args, *figure, parts));
        if (!args.picture.empty()) {
            SINEW_TRY_LET(const RgbaImage picture, weights_picture(*figure, parts, &context));
            SINEW_TRY(add_picture(batch, args.picture, picture));
        }
        if (!args.posed.empty()) {
            SINEW_TRY_LET(const RgbaImage picture, posed_picture(*figure, parts, transforms, &context));
            SINEW_TRY(add_picture(batch, args.posed, picture));
        }
        report = make_report(args, *figure, parts);
        report["seconds"] = {{"load", load_seconds},
                             {"bind", bind_seconds},
                             {"save", seconds_since(start)},
                             {"total", seconds_since(start_of_all)}};
        if (!args.report.empty()) {
            const std::string text = text_of(report);
            SINEW_TRY(batch.add(args.report, std::as_bytes(std::span(text))));
        }
        const Status published = progress.publish(batch, [&] {
            if (args.json) {
                fmt::print("{}", text_of(report));
            } else if (!args.quiet) {
                print_cutout_summary(report);
            }
        });
        if (!published) return published.error();
        covered = report["coverage"]["share"].get<double>();
    }
    if (covered < args.require_coverage) {
        fmt::print(stderr, "sinew: coverage {:.6f} is below --require-coverage {:.6f}\n", covered,
                   args.require_coverage);
        return gate_failed;
    }
    return done;
}

}  // namespace

void add_cutout(CLI::App& app, int& exit) {
    auto args = std::make_shared<CutoutArguments>();
    CLI::App* c = app.add_subcommand(
        "cutout",
        "Makes a mesh from a picture with transparency and binds it to bones in its plane.\n\n"
        "  sinew cutout hero.png --bones bones.json -o hero.glb            outline, triangles, weights, texture\n"
        "  sinew cutout figure.json -o hero.glb                            several layers with their own bones\n"
        "  sinew cutout hero.png --bones bones.json -o hero.json           for Spine: weighted mesh attachments\n"
        "  sinew cutout hero.png --bones b.json -o o.glb --smoothness 40   softer joints, in pixels\n"
        "  sinew cutout hero.png --bones b.json -o o.glb --picture w.png   also a picture of the weights\n"
        "  sinew cutout hero.png --bones b.json -o o.glb --pose sit.json --posed sit.png   also a picture of a "
        "pose\n");
    CutoutOptions& o = args->options;
    c->add_option("input", args->input, "A PNG with --bones, or a JSON file of bones and layers (docs/cutout.md)")
        ->required();
    c->add_option("-o,--output", args->output, "GLB or glTF, or JSON for Spine")->required();
    c->add_option("--bones", args->bones, "Bones JSON, in pixels from the picture's upper left corner")
        ->group("Input and output");
    c->add_option("--picture", args->picture, "Also write a PNG of the weights: each bone has a colour")
        ->group("Input and output");
    c->add_option("--pose", args->pose, "Pose JSON for --posed: \"rotate\": [0, 0, degrees], counter-clockwise")
        ->group("Input and output");
    c->add_option("--posed", args->posed, "Also write a PNG of the figure in the pose")->group("Input and output");
    add_choice<io::AlphaMode>(*c, "--alpha-mode", args->gltf.alpha_mode,
                              {{"mask", io::AlphaMode::mask}, {"blend", io::AlphaMode::blend}},
                              "mask (default) or blend: how glTF viewers treat transparency")
        ->group("Input and output");
    c->add_option("--pixels-per-unit", args->gltf.pixels_per_unit, "Pixels per unit of the glTF scene")
        ->check(number_within(1e-3, 1e6))
        ->capture_default_str()
        ->group("Input and output");
    c->add_option("--alpha", o.outline.alpha, "Smallest opacity of a pixel of the figure, above 0 to 1")
        ->capture_default_str()
        ->group("Mesh");
    c->add_option("--tolerance", o.outline.tolerance, "Largest distance of outline and contour in pixels, 0..64")
        ->capture_default_str()
        ->group("Mesh");
    c->add_option("--spacing", o.outline.spacing,
                  "Length of edges inside the figure in pixels, 2..4096; 0 = a 24th of the picture's longest side")
        ->capture_default_str()
        ->group("Mesh");
    c->add_option("--least-area", o.outline.least_area,
                  "Area in pixels below which islands are dropped and holes filled; 0 keeps all")
        ->capture_default_str()
        ->group("Mesh");
    c->add_option("--smoothness", o.smoothness,
                  "Distance in pixels at which a bone's influence falls to 1/e; 0 = 3 % of the longest side")
        ->capture_default_str()
        ->group("Weights");
    add_choice<Neighbours>(*c, "--neighbours", o.neighbours, {{"8", Neighbours::all}, {"4", Neighbours::faces}},
                           "Neighbours of a pixel: 8 (default) or 4")
        ->group("Weights");
    c->add_flag("--one-pixel", o.one_pixel, "A vertex reads the pixel that contains it, not the four around it")
        ->group("Weights");
    c->add_option("--max-influences", args->max_influences, "Bones per vertex: 1..8 or all")
        ->capture_default_str()
        ->group("Weights");
    add_choice<LimitRule>(*c, "--limit-rule", o.finish.limit_rule,
                          {{"fade", LimitRule::fade}, {"cut", LimitRule::cut}},
                          "fade (default): smooth where the strongest bones change; cut: drop the weakest")
        ->group("Weights");
    add_run_options(*c, *args);
    c->get_option("--report")->description("Write a JSON report to this file (docs/cutout.md)");
    c->callback([args, &exit] { exit = exit_of(run_cutout(*args)); });
}

}  // namespace sinew::cli
