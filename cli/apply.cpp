// sinew apply: weights from a JSON file into a character.

#include <fmt/core.h>

#include "core/try.h"
#include "edits.h"
#include "posing.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

struct ApplyArguments : InputOptions, MachineOptions {
    std::string input, output, weights;
    EditOptions edits;
    io::SaveOptions save;
};

// Edits of falloff and rigid regions need a binding.
Status check_only_edits(const Adjustments& a, const std::string& file) {
    if (a.falloff.empty() && a.rigid.empty()) return Done{};
    return Error{ErrorCode::usage, file +
                                       ": \"falloff\" and \"rigid\" are for sinew bind: finished weights have no "
                                       "distances (\"set\" with the value 1 makes a region rigid)"};
}

Result<int> run_apply(const ApplyArguments& args) {
    if (args.weights.empty() && args.edits.file.empty())
        return Error{ErrorCode::usage, "give --weights FILE, --edits FILE or both"};
    const NamedFile output{"--output", args.output};
    const NamedFile inputs[] = {{"the input", args.input},
                                {"--weights", args.weights},
                                {"--skeleton", args.skeleton},
                                {"--edits", args.edits.file}};
    SINEW_TRY(check_outputs({&output, 1}, inputs));
    Context context;
    args.apply(context);
    Progress progress(context, true);
    SINEW_TRY_LET(io::Scene scene, load_model(args.input, args.load(args), &context));
    SINEW_TRY(io::check_output(scene, args.output));
    SINEW_TRY(check_kept({&output, 1}, scene));
    SINEW_TRY(take_weights(scene, args.weights, context));
    if (!scene.weights)
        return Error{ErrorCode::input, args.input +
                                           ": the file has no weights to edit (sinew bind computes them; --weights "
                                           "takes them from a file)"};
    std::vector<std::string> lines;
    if (!args.edits.file.empty()) {
        SINEW_TRY_LET(Adjustments adjustments, read_edits(scene, args.edits, &context));
        SINEW_TRY(check_only_edits(adjustments, args.edits.file));
        EditReport report;
        const auto max_influences = std::max(4, static_cast<int>(scene.weights->max_influences()));
        SINEW_TRY_LET(SkinWeights edited,
                      apply_edits(scene.mesh(), *scene.weights, adjustments.edits, adjustments.locks,
                                  scene.skeleton.joints.size(), max_influences, &report, &context));
        lines = edit_lines(adjustments, report);
        scene.weights = std::move(edited);
    }
    const SkinWeights& weights = *scene.weights;
    SINEW_TRY(io::check_weights(scene, weights, args.weights.empty() ? args.edits.file : args.weights));
    io::OutputBatch batch;
    SINEW_TRY(io::save(scene, weights, args.output, args.save, batch));
    const Status published = progress.publish(batch, [&] {
        for (const std::string& line : lines) fmt::print("{}\n", printable(line, 2000));
        fmt::print("wrote {} vertices with up to {} influences to {}\n", weights.vertex_count(),
                   weights.max_influences(), printable(args.output, 2000));
    });
    SINEW_TRY(published);
    return done;
}

}  // namespace

void add_apply(CLI::App& app, int& exit) {
    auto args = std::make_shared<ApplyArguments>();
    CLI::App* c = app.add_subcommand(
        "apply",
        "Writes weights from a JSON file into a character, or edits the weights of the character.\n\n"
        "  sinew bind hero.glb -o out.glb --weights-json w.json\n"
        "  sinew apply hero.glb --weights w.json -o edited.glb\n"
        "  sinew apply hero.glb --edits e.json -o edited.glb         docs/edits.md\n");
    names_file(
        c->add_option("input", args->input, "GLB, glTF, VRM, FBX, DAE (docs/formats.md); OBJ with --skeleton"),
        FileUse::reads)
        ->required();
    names_file(
        c->add_option("--weights", args->weights, "Weights JSON (docs/formats.md), instead of the file's own"),
        FileUse::reads);
    add_edit_options(*c, args->edits, false);
    names_file(c->add_option("-o,--output", args->output, "GLB, glTF, VRM or FBX to write"), FileUse::writes)
        ->required();
    add_input_options(*c, *args);
    add_machine_options(*c, *args, "Options");
    add_save_options(*c, args->save);
    c->callback([args, &exit] { exit = exit_of(run_apply(*args)); });
}

}  // namespace sinew::cli
