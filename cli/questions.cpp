// sinew questions: where an answer about weights is likely worth most.

#include <fmt/core.h>

#include "core/try.h"
#include "posing.h"
#include "report/questions_report.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

struct QuestionsArguments : InputOptions, MachineOptions {
    std::string input, weights;
    std::size_t top = 10;
    bool json = false;
};

Result<int> run_questions(const QuestionsArguments& args) {
    Context context;
    args.apply(context);
    Progress progress(context, true);
    SINEW_TRY_LET(io::Scene scene, load_model(args.input, args.load(args), &context));
    SINEW_TRY(take_weights(scene, args.weights, context));
    if (!scene.weights)
        return Error{ErrorCode::input, args.input +
                                           ": the file has no weights to ask about (sinew bind computes them; "
                                           "--weights takes them from a file)"};
    SINEW_TRY_LET(const std::vector<Question> asked,
                  questions(scene.mesh(), scene.skeleton, *scene.weights, args.top, &context));
    if (args.json) {
        fmt::print("{}", text_of(questions_json(scene, asked)));
        return done;
    }
    for (std::size_t i = 0; i < asked.size(); ++i)
        fmt::print("{:3}. {} ({:.1f} % of the surface)\n", i + 1, text_of(asked[i], scene.skeleton),
                   100 * asked[i].share);
    return done;
}

}  // namespace

void add_questions(CLI::App& app, int& exit) {
    auto args = std::make_shared<QuestionsArguments>();
    CLI::App* c = app.add_subcommand(
        "questions",
        "Asks about the weights of a character: the places where an answer is likely worth most.\n\n"
        "  sinew questions out.glb --top 10\n"
        "  sinew questions out.glb --json        answers are edits: docs/edits.md\n");
    names_file(
        c->add_option("input", args->input, "GLB, glTF, VRM, FBX, DAE (docs/formats.md); OBJ with --skeleton"),
        FileUse::reads)
        ->required();
    names_file(
        c->add_option("--weights", args->weights, "Weights JSON (docs/formats.md), instead of the file's own"),
        FileUse::reads);
    c->add_option("--top", args->top, "How many questions")->check(CLI::Range(1, 1000))->capture_default_str();
    c->add_flag("--json", args->json, "JSON on standard output");
    add_input_options(*c, *args);
    add_machine_options(*c, *args, "Options");
    c->callback([args, &exit] { exit = exit_of(run_questions(*args)); });
}

}  // namespace sinew::cli
