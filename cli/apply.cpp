// sinew apply: weights from a JSON file into a character.

#include <fmt/core.h>

#include "command.h"
#include "sinew/io.h"

namespace sinew::cli {
namespace {

struct Arguments {
    std::string input, output, skeleton, weights;
    io::SaveOptions save;
};

int run_apply(const Arguments& args) {
    const NamedFile output{"--output", args.output};
    const NamedFile inputs[] = {
        {"the input", args.input}, {"--weights", args.weights}, {"--skeleton", args.skeleton}};
    if (Status ok = check_outputs({&output, 1}, inputs); !ok) return fail(ok.error());
    Result<io::Scene> scene = io::load(args.input, {args.skeleton});
    if (!scene) return fail(scene.error());
    for (const auto& file : io::external_files(*scene)) {
        const NamedFile kept{"a file that the input refers to", file.string()};
        if (Status ok = check_kept({&output, 1}, {&kept, 1}); !ok) return fail(ok.error());
    }
    Result<SkinWeights> weights = io::load_weights_json(scene->skeleton, scene->positions.size(), args.weights);
    if (!weights) return fail(weights.error());
    if (Status ok = io::check_weights(*scene, *weights, args.weights); !ok) return fail(ok.error());
    Result<io::SaveReport> saved = io::save(*scene, *weights, args.output, args.save);
    if (!saved) return fail(saved.error());
    fmt::print("wrote {} vertices with up to {} influences to {}\n", weights->vertex_count(),
               weights->max_influences(), args.output);
    return done;
}

}  // namespace

void add_apply(CLI::App& app, int& exit) {
    auto args = std::make_shared<Arguments>();
    CLI::App* c = app.add_subcommand("apply",
                                     "Writes weights from a JSON file into a character.\n\n"
                                     "  sinew bind hero.glb -o out.glb --weights-json w.json\n"
                                     "  sinew apply hero.glb --weights w.json -o edited.glb\n");
    c->add_option("input", args->input, "GLB, glTF or VRM; OBJ with --skeleton")->required();
    c->add_option("--weights", args->weights, "Weights JSON (docs/formats.md)")->required();
    c->add_option("-o,--output", args->output, "GLB, glTF or VRM to write")->required();
    c->add_option("--skeleton", args->skeleton, "Skeleton JSON or TGF, for a mesh that has no skeleton");
    add_choice<io::WeightFormat>(
        *c, "--weight-format", args->save.weight_format,
        {{"f32", io::WeightFormat::f32}, {"u16", io::WeightFormat::u16}, {"u8", io::WeightFormat::u8}},
        "f32 (default), u16 or u8; integers sum exactly");
    c->callback([args, &exit] { exit = run_apply(*args); });
}

}  // namespace sinew::cli
