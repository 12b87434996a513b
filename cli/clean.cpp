// sinew clean: makes weights fit to use that another program made.

#include <fmt/core.h>

#include "core/try.h"
#include "moving.h"
#include "report/clean_report.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

struct CleanArguments : MachineOptions {
    std::string input, output, weights_from, report;
    SkinCleanOptions options;
    io::SaveOptions save;
    std::string max_influences = "4";
    bool json = false, quiet = false;
};

void print_clean_summary(const OrderedJson& report) {
    const auto n = [&](const char* key) { return report["cleaned"][key].get<std::size_t>(); };
    fmt::print("cleaned {} vertices in {:.2f} s\n", report["counts"]["vertices"].get<std::size_t>(),
               report["seconds"]["total"].get<double>());
    fmt::print(
        "  pulled    {} vertices from joints far away, {} filled from their surroundings, {} of torn seams\n",
        n("pulled"), n("filled"), n("welded"));
    fmt::print("  noise     {:.3f}\n", report["cleaned"]["noise"].get<double>());
    fmt::print("  change    {:.4f} (mean L1 of a vertex)\n", report["cleaned"]["change"].get<double>());
    fmt::print("  bleed     {:.2f} % before, {:.2f} % after\n", 100 * report["bleed"]["before"].get<double>(),
               100 * report["bleed"]["after"].get<double>());
    for (const auto& note : report["notes"]) fmt::print("  note      {}\n", shown(note.get<std::string>()));
    for (const auto& warning : one_of_each_kind(report["warnings"])) fmt::print("  warning   {}\n", shown(warning));
    fmt::print("  output    {}\n", report["output"].get<std::string>());
}

Result<int> run_clean(CleanArguments args) {
    SINEW_TRY_LET(args.options.max_influences, influence_limit(args.max_influences));
    SINEW_TRY(check(args.options));
    const NamedFile outputs[] = {{"--output", args.output}, {"--report", args.report}};
    const NamedFile inputs[] = {{"the input", args.input}, {"--weights-from", args.weights_from}};
    SINEW_TRY(check_outputs(outputs, inputs));
    const auto start = std::chrono::steady_clock::now();
    Context context;
    args.apply(context);
    Progress progress(context, args.quiet || args.json);
    progress.stage("load");
    const bool moved = !args.weights_from.empty();
    SINEW_TRY_LET(const MovingScenes scenes,
                  load_moving(moved ? args.weights_from : args.input, moved ? args.input : "", "clean", args,
                              outputs, &context));
    const io::Scene &source = scenes.source, &target = scenes.target();
    const double load_seconds = seconds_since(start);

    const auto start_of_work = std::chrono::steady_clock::now();
    progress.stage("clean");
    CleanRun run{args.input, args.weights_from, args.output, args.options, {}, {}, {}, source.warnings, {}};
    SINEW_TRY_LET(SkinWeights weights, clean_skin(source.mesh(), source.skeleton, *source.weights, args.options,
                                                  &run.cleaned, &context));
    const SkinWeights* const both[] = {&*source.weights, &weights};
    SINEW_TRY_LET(run.bleed, bleed(source.mesh(), source.skeleton, both, {args.options.resolution}, &context));
    if (moved) {
        SINEW_TRY_LET(const Transfer onto,
                      transfer_to(target, args.input, source, args.weights_from, weights, {}, &context));
        weights = onto.weights;
        for (const auto* more : {&target.warnings, &onto.warnings})
            run.warnings.insert(run.warnings.end(), more->begin(), more->end());
    }
    run.scene = &target;
    const double clean_seconds = seconds_since(start_of_work);

    progress.stage("save");
    io::OutputBatch batch;
    SINEW_TRY_LET(io::SaveReport saved, io::save(target, weights, args.output, args.save, batch));
    run.notes = saved.notes;
    OrderedJson report = make_clean_report(run);
    report["seconds"] = {{"load", load_seconds}, {"clean", clean_seconds}, {"total", seconds_since(start)}};
    const std::string text = text_of(report);
    if (!args.report.empty()) SINEW_TRY(batch.add(args.report, std::as_bytes(std::span(text))));
    SINEW_TRY(progress.publish(batch, [&] {
        if (args.json)
            fmt::print("{}", text);
        else if (!args.quiet)
            print_clean_summary(report);
    }));
    return done;
}

}  // namespace

void add_clean(CLI::App& app, int& exit) {
    auto args = std::make_shared<CleanArguments>();
    CLI::App* c = app.add_subcommand(
        "clean",
        "Cleans weights that another program made: bleeding, isolated spots, noise, torn seams.\n\n"
        "  sinew clean hero.glb -o hero.clean.glb\n"
        "  sinew clean hero.glb --weights-from rigged.glb -o out.glb     weights of another mesh at the same "
        "place\n"
        "  sinew clean hero.glb -o out.glb --strength 2                  doubts more (docs/clean.md)\n");
    names_file(c->add_option("input", args->input, "GLB, glTF, VRM, FBX or DAE with weights (docs/formats.md)"),
               FileUse::reads)
        ->required();
    names_file(c->add_option("-o,--output", args->output,
                             "GLB, glTF, VRM or FBX to write: the input with cleaned weights"),
               FileUse::writes)
        ->required();
    names_file(
        c->add_option(
            "--weights-from", args->weights_from,
            "The character whose weights are cleaned, then transferred to the input; joints are matched by name"),
        FileUse::reads);
    c->add_option("--strength", args->options.strength, "How much is doubted, 0 to 4; 0: seams and empty rows only")
        ->check(number_within(0, 4))
        ->capture_default_str();
    c->add_option("--max-influences", args->max_influences, "Joints per vertex whose weights change: 1..8 or all")
        ->capture_default_str();
    add_save_options(*c, args->save);
    names_file(c->add_option("--report", args->report, "Write a JSON report to this file (docs/clean.md)"),
               FileUse::writes);
    c->add_flag("--json", args->json, "Print the report instead of a summary");
    c->add_flag("--quiet", args->quiet, "Print errors only");
    add_machine_options(*c, *args, "Options");
    c->callback([args, &exit] { exit = exit_of(run_clean(*args)); });
}

}  // namespace sinew::cli
