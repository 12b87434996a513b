// sinew rig: a template skeleton placed into a mesh that has none, and bound.

#include "sinew/rig.h"

#include <fmt/core.h>

#include "command.h"
#include "core/try.h"
#include "report/report.h"
#include "report/rig_report.h"
#include "sinew/bind_scene.h"
#include "sinew/content.h"

namespace sinew::cli {
namespace {

using json = OrderedJson;

struct RigArguments : MachineOptions {
    std::string input, output, report;
    RigOptions options;
    double require_confidence = 0;
    bool as_json = false, quiet = false;
};

/// `warnings`: of the bind; empty for the skeleton alone.
json make_rig_report(const RigArguments& args, const Rig& rig, std::size_t vertices,
                     const std::vector<std::string>& warnings) {
    json report{{"sinew", SINEW_VERSION}, {"input", args.input}, {"output", args.output}, {"vertices", vertices}};
    report.update(rig_json(rig, args.options));
    report["warnings"] = warnings;
    return report;
}

void print_rig(const RigArguments& args, const Rig& rig, const std::vector<std::string>& warnings) {
    const char* const word = rig.confidence >= 0.75 ? "good" : rig.confidence >= 0.5 ? "fair" : "poor";
    fmt::print("placed {} joints of template {}\n  fit       {} ({:.2f}): {} of {} limbs, {:.0f} % symmetric\n",
               rig.skeleton.joints.size(), args.options.model, word, rig.confidence, rig.limbs_found,
               rig.limbs_expected, 100 * rig.symmetry);
    for (const std::string& note : rig.notes) fmt::print("  note      {}\n", note);
    for (const std::string& warning : one_of_each_kind(warnings)) fmt::print("  warning   {}\n", shown(warning));
    if (rig.confidence < 0.5) {
        const bool only_skeleton = io::extension_of(args.output) == ".json";
        const std::string words =
            only_skeleton ? args.input + " --skeleton " + args.output + " --view surface" : args.output;
        fmt::print("  next      look at it: sinew render {} -o rig.png --skeleton-overlay on\n", printable(words));
    }
    fmt::print("  output    {}\n", printable(args.output));
}

/// The mesh with this skeleton, in the space of the file's world.
Result<io::Scene> load_with(const RigArguments& args, Skeleton skeleton, Context& context) {
    io::LoadOptions load = args.reading();
    load.own_skeleton = {std::move(skeleton), "", {}};
    return load_model(args.input, load, &context);
}

Result<int> run_rig(const RigArguments& args) {
    SINEW_TRY(check(args.options));
    const bool only_skeleton = io::extension_of(args.output) == ".json";
    const NamedFile outputs[] = {{"--output", args.output}, {"--report", args.report}};
    const NamedFile input{"the input", args.input};
    SINEW_TRY(only_skeleton ? check_files(outputs, {&input, 1}) : check_outputs(outputs, {&input, 1}));
    Context context;
    args.apply(context);
    Progress progress(context, args.quiet || args.as_json);
    progress.stage("load");
    SINEW_TRY_LET(const io::Contents contents, io::contents_of(args.input, &context, args.follow_links));
    if (contents.skins > 0)
        return Error{ErrorCode::input,
                     printable(args.input) + ": the file has a skin: sinew bind uses its skeleton"};
    Skeleton one;
    one.joints.emplace_back().name = "root";
    Result<io::Scene> scene = load_with(args, std::move(one), context);
    if (!scene) return scene.error();
    const std::vector<Triangle> shape = scene->leading_triangles();
    SINEW_TRY_LET(Rig rig, fit_template({scene->positions, shape, {}}, args.options, &context));

    io::OutputBatch batch;
    std::vector<std::string> warnings;
    if (only_skeleton) {
        const std::string text = io::skeleton_json(rig.skeleton);
        SINEW_TRY(batch.add(args.output, std::as_bytes(std::span(text))));
    } else {
        scene = load_with(args, rig.skeleton, context);
        if (!scene) return scene.error();
        SINEW_TRY(io::check_output(*scene, args.output));
        SINEW_TRY_LET(const Binding binding, sinew::bind(*scene, {}, {}, &context));
        SINEW_TRY_LET(const SkinWeights weights, binding.weights());
        warnings = binding.report().warnings;
        progress.stage("save");
        if (const auto saved = io::save(*scene, weights, args.output, {}, batch); !saved) return saved.error();
    }
    const json report = make_rig_report(args, rig, scene->positions.size(), warnings);
    if (!args.report.empty()) {
        const std::string text = text_of(report);
        SINEW_TRY(batch.add(args.report, std::as_bytes(std::span(text))));
    }
    const auto print = [&] {
        if (args.as_json)
            fmt::print("{}", text_of(report));
        else if (!args.quiet)
            print_rig(args, rig, warnings);
    };
    SINEW_TRY(progress.publish(batch, print));
    return rig.confidence < args.require_confidence ? gate_failed : done;
}

std::string templates_help() {
    std::string out = "The template:";
    for (const RigTemplate& model : rig_templates()) out += fmt::format("\n{}: {}", model.name, model.summary);
    return out;
}

}  // namespace

void add_rig(CLI::App& app, int& exit) {
    auto args = std::make_shared<RigArguments>();
    CLI::App* c = app.add_subcommand(
        "rig",
        "Places a template skeleton into a mesh that has none, and binds the mesh to it (docs/rig.md).\n"
        "The mesh should stand upright (y up), with its limbs apart.\n\n"
        "  sinew rig hero.obj --template biped -o hero.glb         a skeleton, and weights of sinew bind\n"
        "  sinew rig horse.glb --template quadruped -o horse.json  the skeleton alone; edit it, then\n"
        "  sinew bind horse.glb --skeleton horse.json -o out.glb   bind to it\n");
    names_file(c->add_option("input", args->input, "GLB, glTF or OBJ without a skin"), FileUse::reads)->required();
    names_file(c->add_option("-o,--output", args->output, "GLB to write, or JSON for the skeleton alone"),
               FileUse::writes)
        ->required();
    c->add_option("--template", args->options.model, templates_help())->type_name("NAME")->capture_default_str();
    c->add_option("--resolution", args->options.resolution, "Voxels along the longest side: 32, 64, 128 or 256")
        ->capture_default_str();
    c->add_option("--require-confidence", args->require_confidence,
                  "Exit code 1 if the fit is below this, 0 to 1 (files are written)")
        ->check(number_within(0, 1));
    names_file(c->add_option("--report", args->report, "Write the result as JSON (docs/rig.md) to this file"),
               FileUse::writes);
    c->add_flag("--json", args->as_json, "Print it as JSON");
    add_machine_options(*c, *args, "Options");
    c->add_flag("--quiet", args->quiet, "Print errors only");
    c->callback([args, &exit] { exit = exit_of(run_rig(*args)); });
}

}  // namespace sinew::cli
