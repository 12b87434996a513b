// sinew check: whether a character's skin is fit to ship.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "check_report.h"
#include "command.h"
#include "core/numbers.h"
#include "core/try.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

struct CheckArguments : MachineOptions {
    std::vector<std::string> inputs;
    std::string input, output, thresholds, report, sarif, html, profile;
    std::vector<std::string> max, skip, only;
    SkinCheckOptions options;
    io::SaveOptions save;
    bool fix = false, json = false, quiet = false, strict = false, rules = false;
};

std::string unit_of(const SkinRule& rule) { return rule.unit.empty() ? "" : " " + std::string(rule.unit); }

/// The table of rules, for --rules.
void print_rules() {
    for (const SkinRule& rule : skin_rules())
        fmt::print("{:<15}{:<9}{:>8}  {}{}\n", rule.word, to_string(rule.level),
                   std::isinf(rule.threshold) ? "none" : fmt::format("{:g}", rule.threshold), rule.what,
                   rule.fixable ? " (--fix)" : "");
    fmt::print("\nprofiles:\n");
    for (const EngineProfile& p : engine_profiles())
        fmt::print("{:<15}influences {}{}; {}\n", p.word, p.influences,
                   p.joints ? fmt::format(", joints {}", p.joints) : "", p.source);
}

/// "stretch=4", "bleed=off"
Status read_max(const std::string& text, SkinCheckOptions& options) {
    const std::size_t at = text.find('=');
    const auto bad = [&] {
        return Error{ErrorCode::usage, "--max " + printable(text) + ": write RULE=NUMBER or RULE=off"};
    };
    if (at == std::string::npos) return bad();
    Result<std::size_t> rule = find_skin_rule(text.substr(0, at));
    if (!rule) return Error{ErrorCode::usage, "--max: " + rule.error().message};
    const std::string value = text.substr(at + 1);
    const std::optional<double> number = value == "off" ? INFINITY : number_of<double>(value);
    if (!number || !(*number >= 0)) return bad();
    return set_threshold(options, *rule, *number);
}

/// Profile first, then the file, then the options.
Status read_options(CheckArguments& args) {
    if (!args.profile.empty())
        if (Status ok = take_profile(args.profile, args.options); !ok)
            return Error{ok.error().code, "--profile: " + ok.error().message};
    if (!args.thresholds.empty()) {
        Context context;
        args.apply(context);
        SINEW_TRY_LET(std::vector<std::byte> bytes, io::read_file(args.thresholds, &context));
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        SINEW_TRY(take_thresholds(text, args.thresholds, args.options));
    }
    for (const std::string& text : args.max) SINEW_TRY(read_max(text, args.options));
    return take_rules(args.only, args.skip, args.options);
}

std::string counted(std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

void print_findings(const CheckRun& run) {
    fmt::print("{}: {} vertices, {} joints\n", printable(run.input, 2000), run.scene->positions.size(),
               run.scene->skeleton.joints.size());
    for (const SkinFinding& f : run.findings) {
        const SkinRule& rule = skin_rules()[f.rule];
        if (!f.alarm) continue;
        fmt::print("  {:<8} {:<15} {:.4g}{}, at most {:g}: {}{}\n", to_string(rule.level), rule.word, f.value,
                   unit_of(rule), f.threshold, rule.what, f.detail.empty() ? "" : " (" + f.detail + ")");
        if (!f.vertices.empty()) {
            const auto [primitive, vertex] = place_of(*run.scene, f.vertices[0]);
            fmt::print("           at vertex {} of {}\n", vertex, printable(primitive, 100));
        }
        fmt::print("           {}\n", in_words(rule.help));
    }
    const std::size_t errors = run.count(SkinRuleLevel::error), warnings = run.count(SkinRuleLevel::warning);
    fmt::print("  {}: {}, {}, {}\n", run.passed ? "passed" : "failed", counted(run.findings.size(), "rule"),
               counted(errors, "error"), counted(warnings, "warning"));
    if (run.fixed)
        fmt::print("  fixed    {} vertices normalised, {} limited, {} pruned, {} welded\n", run.normalised,
                   run.fixed->limited, run.fixed->pruned, run.fixed->welded);
}

SkinFixOptions fix_options(const CheckArguments& args) {
    SkinFixOptions out;
    const std::size_t rule = *find_skin_rule("influences");
    double limit = skin_rules()[rule].threshold;
    if (!args.options.thresholds.empty() && !std::isnan(args.options.thresholds[rule]))
        limit = args.options.thresholds[rule];
    out.max_influences = limit > 8 ? all_influences : std::max(1, static_cast<int>(limit));
    return out;
}

Status add_text(io::OutputBatch& batch, const std::string& path, const std::string& text) {
    if (path.empty()) return Done{};
    return batch.add(path, std::as_bytes(std::span(text)));
}

/// args.input, with options that have been read.
Result<int> check_one(const CheckArguments& args) {
    if (args.fix != !args.output.empty())
        return Error{ErrorCode::usage, "--fix writes to another file: --fix -o OUT"};
    std::vector<NamedFile> outputs{{"--report", args.report}, {"--sarif", args.sarif}, {"--html", args.html}};
    const NamedFile inputs[] = {{"the input", args.input}, {"--thresholds", args.thresholds}};
    if (args.fix) {
        outputs.insert(outputs.begin(), {"--output", args.output});
        SINEW_TRY(check_outputs(outputs, inputs));
    } else if (Status ok = check_files(outputs, inputs); !ok) {
        return ok.error();
    }
    Context context;
    args.apply(context);
    CheckRun run;
    {
        Progress progress(context, args.quiet || args.json);
        Result<io::Scene> scene = load_model(args.input, args.reading(), &context);
        if (!scene && scene.error().code == ErrorCode::usage)  // it asks for a skeleton
            return Error{ErrorCode::input, args.input + ": it has no skin (sinew bind computes one)"};
        if (!scene) return scene.error();
        if (!scene->weights)
            return Error{ErrorCode::input, args.input + ": the file has no weights (sinew bind computes them)"};
        if (args.fix) SINEW_TRY(io::check_output(*scene, args.output));
        run.input = args.input;
        run.profile = args.profile;
        run.scene = &*scene;
        SkinWeights weights = *scene->weights;
        io::OutputBatch batch;
        if (args.fix) {
            SINEW_TRY_LET(run.normalised, vertices_to_normalise(*scene, weights, args.options, &context));
            run.fixed.emplace();
            SINEW_TRY_LET(weights,
                          fix_skin(scene->mesh(), *scene->weights, fix_options(args), &*run.fixed, &context));
            SINEW_TRY(io::save(*scene, weights, args.output, args.save, batch));
        }
        run.weights = &weights;
        SINEW_TRY_LET(run.findings, check_scene(*scene, weights, !args.fix, args.options, std::nullopt, &context));
        run.judge(args.strict);
        const std::string report = text_of(make_check_report(run));
        SINEW_TRY(add_text(batch, args.report, report));
        SINEW_TRY(add_text(batch, args.sarif, text_of(make_check_sarif(run))));
        if (!args.html.empty()) {
            progress.stage("draw");
            SINEW_TRY(add_text(batch, args.html, make_check_page(run, context)));
        }
        const auto print = [&] {
            if (args.json && args.inputs.size() > 1)
                fmt::print("{}\n", make_check_report(run).dump(-1, ' ', false, Json::error_handler_t::replace));
            else if (args.json)
                fmt::print("{}", report);
            else if (!args.quiet)
                print_findings(run);
        };
        SINEW_TRY(progress.publish(batch, print));
    }
    return run.passed ? done : gate_failed;
}

Result<int> run_check(CheckArguments args) {
    if (args.rules) {
        print_rules();
        return done;
    }
    if (args.inputs.empty()) return Error{ErrorCode::usage, "name the file to check (or --rules)"};
    SINEW_TRY(read_options(args));
    if (args.inputs.size() > 1 && (args.fix || !args.report.empty() || !args.sarif.empty() || !args.html.empty()))
        return Error{ErrorCode::usage, "--fix, --report, --sarif and --html are for a single file"};
    // A file that cannot be read does not hide the others, and is the worst of their ends.
    std::size_t passed = 0;
    int worst = done;
    for (const std::string& input : args.inputs) {
        args.input = input;
        const int exit = exit_of(check_one(args));
        if (exit == exit_code(ErrorCode::cancelled)) return exit;
        passed += exit == done;
        worst = std::max(worst, exit);
    }
    if (args.inputs.size() > 1 && !args.quiet && !args.json)
        fmt::print("{} of {} files passed\n", passed, args.inputs.size());
    return worst;
}

}  // namespace

void add_check(CLI::App& app, int& exit) {
    auto args = std::make_shared<CheckArguments>();
    CLI::App* c = app.add_subcommand(
        "check",
        "Says whether a character's skin is fit to ship (docs/check.md).\n\n"
        "  sinew check hero.glb                              alarms of all rules; exit 1 after an error\n"
        "  sinew check hero.glb --profile unreal             limits of an engine\n"
        "  sinew check characters/*.glb --strict             many files, one after the other\n"
        "  sinew check hero.glb --max stretch=4 --skip bleed\n"
        "  sinew check hero.glb --sarif hero.sarif --html hero.html\n"
        "  sinew check hero.glb --fix -o fixed.glb           normalise, limit, prune, weld seams\n"
        "  sinew check --rules                               the table of rules and profiles");
    names_file(c->add_option("inputs", args->inputs, "GLB, glTF, VRM, FBX or DAE with weights"), FileUse::reads);
    std::string profiles;
    for (const EngineProfile& p : engine_profiles())
        profiles += (profiles.empty() ? "" : ", ") + std::string(p.word);
    c->add_option("--profile", args->profile, "Limits of an engine: " + profiles)->group("Rules");
    c->add_option("--max", args->max, "RULE=NUMBER: the largest value without alarm; RULE=off; repeatable")
        ->allow_extra_args(false)
        ->group("Rules");
    names_file(c->add_option("--thresholds", args->thresholds,
                             "The same from a JSON file: {\"stretch\": 4, \"bleed\": null}"),
               FileUse::reads_json)
        ->group("Rules");
    c->add_option("--skip", args->skip, "Leave a rule out; repeatable")->allow_extra_args(false)->group("Rules");
    c->add_option("--only", args->only, "Only these rules; repeatable")->allow_extra_args(false)->group("Rules");
    c->add_option("--bleed-resolution", args->options.bleed_resolution, "Voxels along the longest side: 32 … 1024")
        ->capture_default_str()
        ->group("Rules");
    c->add_flag("--strict", args->strict, "Warnings fail, too")->group("Rules");
    c->add_flag("--rules", args->rules, "Print the rules with their thresholds, and the profiles")->group("Rules");
    c->add_flag("--fix", args->fix, "Write a file with normalised, limited and pruned weights and welded seams")
        ->group("Output");
    names_file(c->add_option("-o,--output", args->output, "The file that --fix writes: .glb, .vrm, .gltf or .fbx"),
               FileUse::writes)
        ->group("Output");
    names_file(c->add_option("--report", args->report, "Write the results as JSON to this file"), FileUse::writes)
        ->group("Output");
    names_file(c->add_option("--sarif", args->sarif, "Write SARIF 2.1.0 for code review to this file"),
               FileUse::writes)
        ->group("Output");
    names_file(c->add_option("--html", args->html, "Write a page with pictures of the alarms to this file"),
               FileUse::writes)
        ->group("Output");
    c->add_flag("--json", args->json, "Print the results as JSON; of several files a line each")->group("Output");
    c->add_flag("--quiet", args->quiet, "Print errors only")->group("Output");
    add_save_options(*c, args->save, "Output");
    add_machine_options(*c, *args);
    c->callback([args, &exit] { exit = exit_of(run_check(*args)); });
}

}  // namespace sinew::cli
