// sinew bind: a character in, the same character with skin weights out.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "command.h"
#include "core/try.h"
#include "edits.h"
#include "kept_binding.h"
#include "report/report.h"
#include "sinew/bind_scene.h"

namespace sinew::cli {
namespace {

struct BindArguments : RunOptions, InputOptions {
    std::string input, output, joint_options, weights_json, reuse, save_binding;
    std::vector<NamedFile> reads, writes;  // all files of the command line
    std::optional<Binding> reused;         // the binding from --reuse
    double reuse_seconds = 0;
    bool intersections = false, with_clips = false;
    BindOptions options;
    std::vector<std::pair<std::string, std::string>> given;  // of bind_settings() on the command line, with values
    DeformOptions deform;
    EditOptions edits;
    io::SaveOptions save;
};

/// A line of the report, for a terminal.
std::string shown(const OrderedJson& text) { return cli::shown(text.get<std::string>()); }

void print_bind_summary(const OrderedJson& r) {
    const auto& counts = r["counts"];
    const auto& coverage = r["coverage"];
    fmt::print("{} {} vertices to {} of {} joints in {:.2f} s\n",
               r["reused"] == "no"      ? "bound"
               : r["reused"] == "table" ? "bound from kept distances"
                                        : "bound in a kept volume",
               counts["vertices"].get<std::size_t>(), counts["deforming_joints"].get<std::size_t>(),
               counts["joints"].get<std::size_t>(), r["seconds"]["total"].get<double>());
    fmt::print("  coverage  {:.2f} %", 100 * coverage["share"].get<double>());
    for (const char* how : {"bridged", "outside", "euclidean", "unused", "none"})
        if (coverage[how].get<std::size_t>()) fmt::print(", {} {}", coverage[how].get<std::size_t>(), how);
    fmt::print("\n");
    std::string defects;
    for (const auto& [key, value] : r["defects"].items()) {
        if (value.get<std::size_t>() == 0) continue;
        std::string words = key;
        std::replace(words.begin(), words.end(), '_', ' ');
        defects += fmt::format("{}{} {}", defects.empty() ? "" : ", ", value.get<std::size_t>(), words);
    }
    if (!defects.empty()) fmt::print("  mesh      {}\n", defects);
    if (const auto why = r["options"]["resolution_reason"].get<std::string>(); !why.empty())
        fmt::print("  voxels    {}: {}\n", r["options"]["resolution"].get<int>(), shown(why));
    for (const auto& edit : r["edits"]) fmt::print("  {}\n", shown(edit));
    for (const auto& note : r["notes"]) fmt::print("  note      {}\n", shown(note));
    for (const auto& warning : one_of_each_kind(r["warnings"])) fmt::print("  warning   {}\n", shown(warning));
    fmt::print("  output    {}\n", shown(r["output"]));
}

void print_result(const BindArguments& args, const OrderedJson& report) {
    if (args.json)
        fmt::print("{}", text_of(report));
    else if (!args.quiet)
        print_bind_summary(report);
}

/// The binding of --reuse; options of the command line change the falloff and limit of its bind.
Status take_reused(BindArguments& args, Context& context) {
    const auto start = std::chrono::steady_clock::now();
    SINEW_TRY_LET(args.reused, read_binding(args.reuse, &context));
    args.options = args.reused->options();
    for (const auto& [name, value] : args.given) SINEW_TRY(set_option(args.options, name, value));
    args.reuse_seconds = seconds_since(start);
    return Done{};
}

Status check_bind_arguments(const BindArguments& args) {
    for (const auto& [name, value] : args.given) SINEW_TRY(check_read(args.options, name));
    SINEW_TRY(check(args.options));
    SINEW_TRY(check_outputs(args.writes, args.reads));
    if (args.intersections && args.quiet && !args.json && args.report.empty())
        return Error{ErrorCode::usage,
                     "--intersections counts for the report and the summary: give --report or --json, or leave out "
                     "--quiet"};
    return Done{};
}

/// Selects the joints that deform, without --reuse, whose binding says it.
Status select_joints(const BindArguments& args, io::Scene& scene, const Context& context) {
    if (!args.joint_options.empty())
        SINEW_TRY(io::load_joint_options(args.joint_options, scene.skeleton, &context));
    SINEW_TRY_LET(scene.skeleton, deforming_skeleton(scene, args.deform));
    return Done{};
}

/// A warning for each pattern that matches no joint. With --strict they were errors.
std::vector<std::string> lost_patterns(const BindArguments& args, const Skeleton& skeleton) {
    std::vector<std::string> out;
    const auto add = [&](const char* option, const std::vector<std::string>& globs) {
        for (std::string& lost : unmatched_globs(skeleton, option, globs)) out.push_back(std::move(lost));
    };
    add("exclude", args.deform.exclude);
    add("include", args.deform.include);
    add("lock", args.edits.locks);
    return out;
}

/// The falloff of the binding; with --reuse that of the command line, whose map is that of the binding.
FalloffOptions falloff_for(BindArguments& args, const Binding& binding) {
    // A map by vertex belongs to the mesh that was bound.
    if (binding.report().reused == Reuse::volume) {
        args.options.falloff.map.of_vertex.clear();
        args.options.falloff.map.share_of_vertex.clear();
    }
    const FalloffOptions& bound = binding.options().falloff;
    FalloffOptions falloff = args.reused ? args.options.falloff : bound;
    falloff.map = map_under(falloff.map, bound.law, falloff.law);
    return falloff;
}

int fail_coverage(const OrderedJson& report, double required) {
    const auto& coverage = report["coverage"];
    fmt::print(stderr,
               "sinew: {} vertices were not reached by the method: coverage {:.6f} is below "
               "--require-coverage {:.6f}\n",
               coverage["euclidean"].get<std::size_t>() + coverage["none"].get<std::size_t>(),
               coverage["share"].get<double>(), required);
    return gate_failed;
}

/// Adds all outputs but the report. The model is the first of the batch, so it is renamed last.
Result<io::SaveReport> add_bind_outputs(const BindArguments& args, const io::Scene& scene,
                                        const SkinWeights& weights, const Binding& binding,
                                        io::OutputBatch& batch) {
    SINEW_TRY_LET(io::SaveReport saved, io::save(scene, weights, args.output, args.save, batch));
    if (!args.weights_json.empty())
        SINEW_TRY(io::save_weights_json(scene.skeleton, weights, args.weights_json, batch));
    if (!args.save_binding.empty()) SINEW_TRY(batch.add(args.save_binding, binding.to_bytes()));
    return saved;
}

/// --intersections: fills `out`, to which `run` refers, and counts non-manifold vertices.
Status count_intersections(const io::Scene& scene, BindRun& run, Intersections& out, Context* context) {
    const auto start = std::chrono::steady_clock::now();
    SINEW_TRY_LET(out, find_intersections(scene.mesh(), context));
    run.nonmanifold_vertices =
        find_nonmanifold_vertices(scene.mesh(), analyse_mesh(scene.mesh(), context).weld).size();
    run.intersections = &out;
    run.intersections_seconds = seconds_since(start);
    return Done{};
}

void describe_run(const BindArguments& args, const io::Scene& scene, const io::SaveReport& saved,
                  const std::vector<bool>& locked, BindRun& run) {
    run.scene = &scene;
    run.input = args.input;
    run.output = args.output;
    run.options = args.options;
    run.deform_from = args.deform.from;
    run.weight_format = args.save.weight_format;
    run.threads = args.threads;
    run.binding_seconds = args.reuse_seconds;
    run.notes = saved.notes;
    if (args.edits.only_missing)
        run.notes.push_back(fmt::format("{} of {} vertices keep the weights of the file (--only-missing)",
                                        std::count(locked.begin(), locked.end(), true), scene.positions.size()));
}

Result<int> run_bind(BindArguments args) {
    args.edits.strict = args.deform.strict;
    Context context;
    args.apply(context);
    if (!args.reuse.empty()) SINEW_TRY(take_reused(args, context));
    SINEW_TRY(check_bind_arguments(args));
    const auto start_of_all = std::chrono::steady_clock::now();
    BindRun run;
    OrderedJson report;
    bool covered = true;
    {
        Progress progress(context, args.quiet || args.json);
        progress.stage("load");
        auto start = std::chrono::steady_clock::now();
        io::LoadOptions load = args.load(args);
        load.bind_unskinned = args.edits.only_missing;
        load.skeleton_clips = args.with_clips;
        SINEW_TRY_LET(io::Scene loaded, load_model(args.input, load, &context));
        io::Scene& scene = loaded;
        args.save.clips = std::move(scene.skeleton_clips);
        run.load_seconds = seconds_since(start);
        SINEW_TRY(io::check_output(scene, args.output));
        SINEW_TRY(check_kept(args.writes, scene));

        // The selection of deforming joints must be known before edits name joints.
        Result<Binding> binding = Error{};
        if (args.reused) {
            binding = rebind(*args.reused, scene, args.reuse, &context);
            if (!binding) return binding.error();
        } else {
            SINEW_TRY(select_joints(args, scene, context));
        }
        SINEW_TRY_LET(Adjustments adjustments, read_edits(scene, args.edits, &context));
        run.warnings = lost_patterns(args, scene.skeleton);
        if (!args.reused) {
            args.options.keep_volume = !args.save_binding.empty();
            binding = sinew::bind(scene, args.options, args.deform, &context);
        }
        if (!binding) return binding.error();
        Intersections intersections;
        if (args.intersections) SINEW_TRY(count_intersections(scene, run, intersections, &context));
        const FalloffOptions falloff = falloff_for(args, *binding);
        start = std::chrono::steady_clock::now();
        progress.stage("weights");
        EditReport edited;
        Result<SkinWeights> weights = adjusted_weights(*binding, scene.mesh(), scene.skeleton, falloff,
                                                       args.options.finish, adjustments, &edited, &context);
        if (!weights) return weights.error();
        run.warnings.insert(run.warnings.end(), edited.warnings.begin(), edited.warnings.end());
        if (Status ok = io::check_weights(scene, *weights, args.edits.file); !args.edits.file.empty() && !ok)
            return ok.error();
        run.weights_seconds = seconds_since(start);

        start = std::chrono::steady_clock::now();
        progress.stage("save");
        io::OutputBatch batch;
        SINEW_TRY_LET(io::SaveReport saved, add_bind_outputs(args, scene, *weights, *binding, batch));
        run.save_seconds = seconds_since(start);

        describe_run(args, scene, saved, adjustments.locks.vertices, run);
        run.edits = edit_lines(adjustments, edited);
        run.binding = &*binding;
        run.total_seconds = seconds_since(start_of_all) + args.reuse_seconds;
        report = make_report(run);
        if (!args.report.empty()) {
            const std::string text = text_of(report);
            SINEW_TRY(batch.add(args.report, std::as_bytes(std::span(text))));
        }
        SINEW_TRY(progress.publish(batch, [&] { print_result(args, report); }));
        covered = binding->report().covered() >= args.require_coverage;
    }
    if (!covered) return fail_coverage(report, args.require_coverage);
    return done;
}

/// "a|b|c"
std::string choices_of(const BindSetting& setting) {
    std::string words(setting.choices);
    std::replace(words.begin(), words.end(), ' ', '|');
    return words;
}

/// The group of an option: "Method", or "Method: bone-heat, surface-heat" after those that read it if not all do.
std::string group_of(const BindSetting& setting) {
    std::string readers;
    for (const Method m : setting.methods) readers += (readers.empty() ? "" : ", ") + std::string(to_string(m));
    for (const FalloffLaw law : setting.laws)
        readers += (readers.empty() ? "" : ", ") + std::string(to_string(law));
    return std::string(setting.group) + (readers.empty() ? "" : ": " + readers);
}

/// The default that the help states: that of the default method or, if this does not read the option, of the first
/// method that does.
std::string default_of(const BindSetting& setting) {
    const BindOptions options;
    return option_text(setting.read_by(options.method) ? options : preset(setting.methods.front()), setting.name);
}

/// The options of bind_settings(). "method" comes first, since it sets the other options to its preset.
void add_settings(CLI::App& command, const std::shared_ptr<BindArguments>& args) {
    for (const BindSetting& setting : bind_settings()) {
        const std::string name(setting.name);
        const auto set = [args, name](const std::string& value) {
            if (Status ok = set_option(args->options, name, value); !ok)
                throw CLI::ValidationError(in_words(ok.error().message));
            args->given.emplace_back(name, value);
        };
        CLI::Option* option =
            setting.kind == BindSetting::Kind::flag
                ? command.add_flag_callback(
                      "--" + name, [set] { set("on"); }, std::string(setting.help))
            : setting.kind == BindSetting::Kind::range
                ? command.add_option_function<std::vector<std::string>>(
                      "--" + name,
                      [set](const std::vector<std::string>& ends) { set(ends.at(0) + " " + ends.at(1)); },
                      std::string(setting.help))
                : command.add_option_function<std::string>("--" + name, set, std::string(setting.help));
        option->group(group_of(setting));
        switch (setting.kind) {
            case BindSetting::Kind::flag:
                break;
            case BindSetting::Kind::range:
                option->type_name("FROM TO")->expected(2);
                break;
            case BindSetting::Kind::number:
                option->type_name("NUMBER");
                break;
            case BindSetting::Kind::whole:
                option->type_name("N");
                break;
            case BindSetting::Kind::choice:
                option->type_name(choices_of(setting));
                break;
        }
        if (setting.kind != BindSetting::Kind::flag) option->default_str(default_of(setting));
    }
}

}  // namespace

void add_bind(CLI::App& app, int& exit) {
    auto args = std::make_shared<BindArguments>();
    CLI::App* c = app.add_subcommand(
        "bind",
        "Computes skin weights for a character and writes it back. Nothing else in the file changes.\n\n"
        "  sinew bind hero.glb -o hero.skinned.glb                        defaults for most characters\n"
        "  sinew bind hero.vrm -o out.vrm --report r.json                 with a report\n"
        "  sinew bind scan.obj --skeleton scan.tgf -o scan.glb            mesh and skeleton in separate files\n"
        "  sinew bind hero.glb -o out.glb --falloff 0.3                   harder joints\n"
        "  sinew bind hero.glb -o out.glb --resolution auto               resolution from the thickness of limbs\n"
        "  sinew bind hero.glb -o out.glb --local-resolution              twice the resolution for fingers\n"
        "  sinew bind hero.glb -o out.glb --edits e.json                  with edits (docs/edits.md)\n"
        "  sinew bind hero.glb -o out.glb --exclude 'ik_*' --exclude root   joints that must not deform\n"
        "  sinew bind hero.glb -o out.glb --save-binding hero.binding     save distances and volume\n"
        "  sinew bind lod1.glb -o lod1.out.glb --reuse hero.binding       use them for another mesh or falloff\n");
    const auto file = [c](const char* name, std::string& path, FileUse use, const char* help) {
        return names_file(c->add_option(name, path, help), use);
    };
    file("input", args->input, FileUse::reads, "GLB, glTF, VRM, FBX, DAE (docs/formats.md); OBJ with --skeleton")
        ->required();
    file("-o,--output", args->output, FileUse::writes, "GLB, glTF, VRM or FBX to write")->required();
    add_input_options(*c, *args, "Input and output");
    c->add_flag("--with-clips", args->with_clips, "Also take the animations of the file of --skeleton")
        ->group("Input and output");
    file("--weights-json", args->weights_json, FileUse::writes, "Also write the weights as JSON (docs/formats.md)")
        ->group("Input and output");
    file("--save-binding", args->save_binding, FileUse::writes,
         "Also save distances and volume to this file, for --reuse (docs/binding.md)")
        ->group("Input and output");
    file("--reuse", args->reuse, FileUse::reads,
         "Use a kept binding of this mesh, or of a mesh of similar shape on the same skeleton")
        ->group("Input and output");
    c->add_flag("--intersections", args->intersections,
                "Also count the triangles that intersect others, and non-manifold vertices (docs/report.md)")
        ->group("Input and output");
    add_save_options(*c, args->save, "Input and output");

    add_settings(*c, args);

    add_deform_option(*c, args->deform, "Joints");
    c->add_option("--exclude", args->deform.exclude, "Joints that do not deform: a name with * and ?; repeatable")
        ->allow_extra_args(false)
        ->group("Joints");
    file("--joint-options", args->joint_options, FileUse::reads,
         "JSON: tail, shape, range, deform, hardness, plane, connections of joints by name (docs/formats.md)")
        ->group("Joints");
    c->add_option("--include", args->deform.include,
                  "Joints that deform, with precedence over all other rules; repeatable")
        ->allow_extra_args(false)
        ->group("Joints");

    add_edit_options(*c, args->edits, true);
    c->add_flag("--strict", args->deform.strict,
                "A pattern of --exclude, --include or --lock that matches no joint is an error, not a warning")
        ->group("Joints");
    add_run_options(*c, *args);
    std::vector<std::string> everyday{"--output", "--skeleton", "--exclude",      "--include",
                                      "--lock",   "--edits",    "--only-missing", "--report"};
    for (const BindSetting& setting : bind_settings())
        if (setting.everyday) everyday.push_back("--" + std::string(setting.name));
    split_help(*c, std::move(everyday));
    c->callback([args, c, &exit] {
        args->reads = files_of(*c, FileUse::reads);
        args->writes = files_of(*c, FileUse::writes);
        const Status reuse = args->reuse.empty() ? Status(Done{}) : check_reuse(*c);
        exit = exit_of(reuse ? run_bind(std::move(*args)) : reuse.error());
    });
}

}  // namespace sinew::cli
