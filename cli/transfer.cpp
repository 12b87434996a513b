// sinew transfer: copies the weights of one mesh to another mesh at the same position.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/try.h"
#include "moving.h"
#include "report/report.h"
#include "sinew/near.h"
#include "sinew/quality.h"
#include "sinew/transfer.h"

namespace sinew::cli {
namespace {

struct TransferArguments : MachineOptions {
    std::string source, target, output, report;
    TransferOptions options;
    io::SaveOptions save;
    std::string max_influences = "4";
    double require_coverage = 0, require_matched = 0;
    bool json = false, quiet = false;
};

/// The transferred weights on the joints of the target, matched by name.
Result<SkinWeights> on_joints_of(const io::Scene& target, const io::Scene& source, const SkinWeights& weights,
                                 const std::string& target_name) {
    const JointMatch match = match_joints(target.skeleton, source.skeleton);
    std::map<std::uint32_t, std::size_t> missing;  // joint of the source: number of vertices that need it
    for (std::size_t v = 0; v < weights.vertex_count(); ++v)
        for (const Influence& i : weights[v])
            if (match.joint_of[i.joint] >= target.skeleton.joints.size()) ++missing[i.joint];
    if (missing.empty()) return renumber(weights, match.joint_of);
    const auto largest = std::max_element(missing.begin(), missing.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    return Error{ErrorCode::input,
                 fmt::format("{}: it has no joint '{}', which {} of its vertices need{} (joints are matched by "
                             "name: rename it, or give the target the source's skeleton)",
                             target_name, source.skeleton.joints[largest->first].name, largest->second,
                             missing.size() > 1 ? fmt::format(", nor {} others", missing.size() - 1) : "")};
}

}  // namespace

Result<MovingScenes> load_moving(const std::string& source, const std::string& target, const std::string& purpose,
                                 const MachineOptions& machine, std::span<const NamedFile> outputs,
                                 Context* context) {
    MovingScenes out;
    io::LoadOptions options = machine.reading();
    SINEW_TRY_LET(out.source, load_model(source, options, context));
    if (!out.source.weights)
        return Error{ErrorCode::input,
                     fmt::format("{}: it has no weights to {} (sinew bind computes them)", source, purpose)};
    if (!target.empty()) {
        options.fallback = out.source.skeleton;
        options.fallback->skins.clear();
        SINEW_TRY_LET(out.other, load_model(target, options, context));
    }
    SINEW_TRY(io::check_output(out.target(), outputs[0].path));
    for (const io::Scene* scene : {&std::as_const(out.source), &out.target()})
        SINEW_TRY(check_kept(outputs, *scene));
    return out;
}

Result<Transfer> transfer_to(const io::Scene& target, const std::string& target_name, const io::Scene& source,
                             const std::string& source_name, const SkinWeights& weights, TransferOptions options,
                             Context* context) {
    options.diagonal = near_diagonal(source.mesh(), source.skeleton, context);
    SINEW_TRY_LET(Transfer moved, transfer(source.mesh(), weights, target.mesh(), options, context));
    SINEW_TRY_LET(moved.weights, on_joints_of(target, source, moved.weights, target_name));
    SINEW_TRY(io::check_weights(target, moved.weights, source_name));
    return moved;
}

namespace {

OrderedJson transfer_report(const TransferArguments& args, const io::Scene& source, const io::Scene& target,
                            const Transfer& moved, const std::vector<std::string>& notes) {
    OrderedJson coverage = {{"share", moved.covered()}};
    for (std::size_t k = 0; k < moved.counts.size(); ++k)
        coverage[std::string(to_string(static_cast<TransferHow>(k)))] = moved.counts[k];
    std::vector<std::string> warnings = source.warnings;
    for (const auto* more : {&target.warnings, &moved.warnings})
        warnings.insert(warnings.end(), more->begin(), more->end());
    const FinishOptions& finish = args.options.finish;
    return {
        {"sinew", SINEW_VERSION},
        {"source", args.source},
        {"target", args.target},
        {"output", args.output},
        {"options",
         {{"distance", as_given(args.options.distance)},
          {"angle", as_given(args.options.angle)},
          {"max_influences",
           finish.max_influences == all_influences ? OrderedJson("all") : OrderedJson(finish.max_influences)},
          {"limit_rule", name_of(finish.limit_rule)},
          {"weight_format", name_of(args.save.weight_format)},
          {"threads", args.threads}}},
        {"counts",
         {{"source_vertices", source.positions.size()},
          {"vertices", target.positions.size()},
          {"triangles", target.triangles.size()},
          {"joints", target.skeleton.joints.size()}}},
        {"coverage", coverage},
        {"seconds", nullptr},  // the caller sets it, at this place
        {"peak_memory_bytes", peak_memory_bytes()},
        {"notes", notes},
        {"warnings", warnings},
    };
}

void print_transfer_summary(const OrderedJson& report) {
    fmt::print("transferred weights to {} vertices in {:.2f} s\n", report["counts"]["vertices"].get<std::size_t>(),
               report["seconds"]["total"].get<double>());
    fmt::print("  coverage  {:.2f} %", 100 * report["coverage"]["share"].get<double>());
    for (const char* how : {"matched", "inpainted", "nearest", "unused"})
        if (const auto n = report["coverage"][how].get<std::size_t>()) fmt::print(", {} {}", n, how);
    fmt::print("\n");
    for (const auto& note : report["notes"])
        fmt::print("  note      {}\n", printable(note.get<std::string>(), 2000));
    for (const auto& warning : one_of_each_kind(report["warnings"])) fmt::print("  warning   {}\n", shown(warning));
    fmt::print("  output    {}\n", report["output"].get<std::string>());
}

void print_result(const TransferArguments& args, const OrderedJson& report) {
    if (args.json)
        fmt::print("{}\n", report.dump(2, ' ', false, OrderedJson::error_handler_t::replace));
    else if (!args.quiet)
        print_transfer_summary(report);
}

Result<int> run_transfer(TransferArguments args) {
    SINEW_TRY_LET(args.options.finish.max_influences, influence_limit(args.max_influences));
    SINEW_TRY(check(args.options));
    const NamedFile outputs[] = {{"--output", args.output}, {"--report", args.report}};
    const NamedFile inputs[] = {{"the target", args.target}, {"the source", args.source}};
    SINEW_TRY(check_outputs(outputs, inputs));

    const auto start_of_all = std::chrono::steady_clock::now();
    Context context;
    args.apply(context);
    OrderedJson report;
    double covered = 0, matched = 0;
    std::size_t nearest = 0;
    {
        Progress progress(context, args.quiet || args.json);
        progress.stage("load");
        SINEW_TRY_LET(const MovingScenes scenes,
                      load_moving(args.source, args.target, "transfer", args, outputs, &context));
        const io::Scene &source = scenes.source, &target = scenes.target();
        const double load_seconds = seconds_since(start_of_all);

        auto start = std::chrono::steady_clock::now();
        progress.stage("transfer");
        SINEW_TRY_LET(const Transfer moved, transfer_to(target, args.target, source, args.source, *source.weights,
                                                        args.options, &context));
        const double transfer_seconds = seconds_since(start);

        start = std::chrono::steady_clock::now();
        progress.stage("save");
        io::OutputBatch batch;
        SINEW_TRY_LET(io::SaveReport saved, io::save(target, moved.weights, args.output, args.save, batch));
        const double save_seconds = seconds_since(start);

        covered = moved.covered();
        matched = moved.matched();
        nearest = moved.counts[static_cast<std::size_t>(TransferHow::nearest)];
        report = transfer_report(args, source, target, moved, saved.notes);
        report["seconds"] = {{"load", load_seconds},
                             {"transfer", transfer_seconds},
                             {"save", save_seconds},
                             {"total", seconds_since(start_of_all)}};
        if (!args.report.empty()) {
            const std::string text = report.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
            SINEW_TRY(batch.add(args.report, std::as_bytes(std::span(text))));
        }
        SINEW_TRY(progress.publish(batch, [&] { print_result(args, report); }));
    }
    if (covered < args.require_coverage) {
        fmt::print(stderr,
                   "sinew: {} vertices are in parts without any match: coverage {:.6f} is below "
                   "--require-coverage {:.6f}\n",
                   nearest, covered, args.require_coverage);
        return gate_failed;
    }
    if (matched < args.require_matched) {
        fmt::print(
            stderr,
            "sinew: a fraction of {:.6f} of the vertices lies on the source, which is below --require-matched "
            "{:.6f}\n",
            matched, args.require_matched);
        return gate_failed;
    }
    return done;
}

}  // namespace

void add_transfer(CLI::App& app, int& exit) {
    auto args = std::make_shared<TransferArguments>();
    CLI::App* c = app.add_subcommand(
        "transfer",
        "Copies weights to a mesh from another mesh at the same position: clothing, an LOD, another topology.\n\n"
        "  sinew transfer body.glb jacket.glb -o jacket.skinned.glb\n"
        "  sinew transfer hero.glb hero_lod2.obj -o hero_lod2.glb         the target takes the source's skeleton\n"
        "  sinew transfer body.glb coat.glb -o out.glb --distance 0.1     a coat that is farther away\n");
    names_file(c->add_option("source", args->source, "The character whose weights are taken: GLB, glTF or VRM"),
               FileUse::reads)
        ->required();
    names_file(
        c->add_option(
            "target", args->target,
            "The mesh that gets them; joints are matched by name. Without a skin it takes the source's skeleton"),
        FileUse::reads)
        ->required();
    names_file(
        c->add_option("-o,--output", args->output, "GLB, glTF, VRM or FBX to write: the target with weights"),
        FileUse::writes)
        ->required();
    c->add_option("--distance", args->options.distance,
                  "Maximum distance of a match, as a fraction of the diagonal of the source")
        ->capture_default_str();
    c->add_option("--angle", args->options.angle, "Largest angle between the normals of a match, degrees")
        ->capture_default_str();
    c->add_option("--max-influences", args->max_influences, "Joints per vertex: 1..8 or all")
        ->capture_default_str();
    add_choice<LimitRule>(*c, "--limit-rule", args->options.finish.limit_rule,
                          {{"fade", LimitRule::fade}, {"cut", LimitRule::cut}},
                          "fade (default): smooth where the strongest joints change; cut: drop the weakest");
    add_save_options(*c, args->save);
    c->add_option("--require-coverage", args->require_coverage,
                  "Exit 1 if a smaller fraction of the vertices is in parts with a match")
        ->check(number_within(0, 1))
        ->capture_default_str();
    c->add_option("--require-matched", args->require_matched,
                  "Exit 1 if a smaller fraction of the vertices lies on the source (0.5 suits clothing)")
        ->check(number_within(0, 1))
        ->capture_default_str();
    names_file(c->add_option("--report", args->report, "Write a JSON report to this file (docs/transfer.md)"),
               FileUse::writes);
    c->add_flag("--json", args->json, "Print the report instead of a summary");
    c->add_flag("--quiet", args->quiet, "Print errors only");
    add_machine_options(*c, *args, "Options");
    c->callback([args, &exit] { exit = exit_of(run_transfer(*args)); });
}

}  // namespace sinew::cli
