// sinew render: a picture of a character's weights, distances, heat, voxels or poses.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/numbers.h"
#include "core/try.h"
#include "picture/draw_character.h"
#include "posing.h"

namespace sinew::cli {
namespace {

using View = PictureView;

struct RenderArguments : InputOptions, MachineOptions {
    std::string input, output, joint_options, weights, title;
    View view = View::joints;
    std::vector<std::string> joints, from, winding_numbers;
    std::optional<double> yaw, pitch;
    std::string zoom, cut, size = "1600x1200";
    double zoom_radius = 0;
    bool overlay = false, sheet = false, no_legend = false, quiet = false, dark = false;
    bool view_given = false;
    int columns = 0, resolution = 256;
    PoseOptions pose;
};

Error usage(std::string message) { return {ErrorCode::usage, std::move(message)}; }

/// "x=0.5": the part before that fraction of the voxels' box along an axis is cut away, seen from the end of
/// the axis.
Status read_cut(const std::string& text, std::array<double, 3>& cut) {
    if (text.empty()) return Done{};
    const auto share = number_of<double>(std::string_view(text).substr(std::min<std::size_t>(2, text.size())));
    const char axis = text[0];
    if (!share || text[1] != '=' || axis < 'x' || axis > 'z' || !(*share > 0 && *share < 1))
        return usage("--cut " + text + ": give an axis and a fraction between 0 and 1, for example z=0.5");
    cut[static_cast<std::size_t>(axis - 'x')] = *share;
    return Done{};
}

Status read_winding_numbers(const std::vector<std::string>& words, PictureRequest& request) {
    if (!words.empty()) request.ambiguous.clear();
    for (const std::string& word : words) {
        if (word == "marked")
            request.ambiguous.emplace_back("ambiguous voxels marked", Ambiguous::marked);
        else if (word == "on")
            request.ambiguous.emplace_back("vote and winding numbers", Ambiguous::settled);
        else if (word == "off")
            request.ambiguous.emplace_back("vote alone", Ambiguous::outside);
        else
            return usage("--winding-numbers " + word + ": choose on, off or marked");
    }
    return Done{};
}

Status read_views(const RenderArguments& args, PictureRequest& request) {
    for (const std::string& name : args.from) {
        const std::optional<Viewpoint> from = viewpoint(name);
        if (!from)
            return usage("--from " + name +
                         ": choose front, back, left, right, top or three-quarter, or give --yaw "
                         "and --pitch");
        request.from.emplace_back(name, *from);
    }
    if (args.yaw || args.pitch) request.from.push_back(titled_view(args.yaw.value_or(0), args.pitch.value_or(0)));
    return Done{};
}

/// What the options say without the file.
Status read_options(const RenderArguments& args, PictureRequest& request) {
    SINEW_TRY_LET(const auto size, picture_size(args.size));
    request.look.width = size[0], request.look.height = size[1];
    SINEW_TRY(read_cut(args.cut, request.cut));
    SINEW_TRY(read_winding_numbers(args.winding_numbers, request));
    SINEW_TRY(read_views(args, request));
    request.input = args.input;
    request.view = args.view;
    request.overlay = args.overlay;
    request.sheet = args.sheet;
    request.resolution = args.resolution;
    request.skinning = args.pose.how();
    request.look.title = args.title;
    request.look.columns = args.columns;
    request.look.legend = !args.no_legend;
    request.look.background = args.dark ? Background::dark : Background::light;
    return Done{};
}

Result<io::Scene> load(const RenderArguments& args, PictureRequest& request, Context& context) {
    SINEW_TRY_LET(io::Scene scene, load_model(args.input, args.load(args), &context));
    if (!args.joint_options.empty())
        SINEW_TRY(io::load_joint_options(args.joint_options, scene.skeleton, &context));
    SINEW_TRY(take_weights(scene, args.weights, context));
    for (const std::string& name : args.joints) {
        SINEW_TRY_LET(std::uint32_t joint, find_joint(scene.skeleton, name, args.input));
        request.joints.push_back(joint);
    }
    if (!args.zoom.empty()) {
        SINEW_TRY_LET(request.zoom, find_joint(scene.skeleton, args.zoom, args.input));
    }
    if (args.pose.pose.empty() && args.pose.clip.empty()) return scene;
    SINEW_TRY_LET(io::ScenePose at, read_pose(scene, args.pose, args.input, context));
    std::string name = args.pose.clip.empty() ? std::filesystem::path(args.pose.pose).stem().string()
                                              : fmt::format("{} at {:.3g} s", args.pose.clip, at.time);
    request.pose = {std::move(name), std::move(at)};
    return scene;
}

/// Options that the view does not use are errors.
Status check_combination(const RenderArguments& args) {
    if (of_joint(args.view) && args.joints.empty())
        return usage("--view joint, distance and heat need --joint NAME");
    if (!of_joint(args.view) && !args.joints.empty())
        return usage("--joint needs --view joint, distance or heat (--zoom NAME frames a joint in any view)");
    const bool posed = args.sheet || !args.pose.pose.empty() || !args.pose.clip.empty();
    if (posed && args.view == View::voxels)
        return usage("voxels are shown in the bind pose: remove --pose, --clip and --sheet");
    if (!args.cut.empty() && args.view != View::voxels) return usage("--cut needs --view voxels");
    if (!args.winding_numbers.empty() && args.view != View::voxels)
        return usage("--winding-numbers needs --view voxels");
    if (args.sheet && (!args.pose.pose.empty() || !args.pose.clip.empty()))
        return usage("--sheet shows the standard poses: remove --pose and --clip");
    return Done{};
}

Result<int> run_render(RenderArguments args) {
    if (args.view == View::joints && !args.view_given && !args.joints.empty()) args.view = View::joint;
    SINEW_TRY(check_combination(args));
    const NamedFile outputs[] = {{"--output", args.output}};
    const NamedFile inputs[] = {{"the input", args.input},
                                {"--skeleton", args.skeleton},
                                {"--joint-options", args.joint_options},
                                {"--weights", args.weights},
                                {"--pose", args.pose.pose}};
    if (!args.output.ends_with(".png"))
        return usage(args.output + ": the picture is a PNG: its name must end in .png");
    SINEW_TRY(check_files(outputs, inputs));
    Context context;
    args.apply(context);
    {
        Progress progress(context, args.quiet);
        PictureRequest request;
        SINEW_TRY(read_options(args, request));
        progress.stage("load");
        SINEW_TRY_LET(io::Scene scene, load(args, request, context));
        SINEW_TRY_LET(const DrawnPicture drawn,
                      draw_character(
                          std::move(scene), request, [&](const char* stage) { progress.stage(stage); }, &context));
        const Image& image = drawn.image;
        SINEW_TRY_LET(std::vector<std::byte> png, encode_png(image));
        io::OutputBatch batch;
        SINEW_TRY(batch.add(args.output, png));
        const std::size_t panels = drawn.panels;
        const Status published = progress.publish(batch, [&] {
            if (!args.quiet)
                fmt::print("drew {} panel{} at {} x {} to {}\n", panels, panels == 1 ? "" : "s", image.width,
                           image.height, printable(args.output, 2000));
        });
        if (!published) return published.error();
    }
    return done;
}

}  // namespace

void add_render(CLI::App& app, int& exit) {
    auto args = std::make_shared<RenderArguments>();
    CLI::App* c = app.add_subcommand(
        "render",
        "Draws a character as a PNG, without a display: weights, distances, voxels, poses.\n\n"
        "  sinew render hero.skinned.glb -o hero.png                      every joint by its colour, front and "
        "back\n"
        "  sinew render hero.skinned.glb -o arm.png --joint LeftForeArm   one joint's weight, with lines\n"
        "  sinew render hero.skinned.glb -o hand.png --zoom LeftHand --view strongest\n"
        "  sinew render hero.skinned.glb -o poses.png --sheet             the standard poses\n"
        "  sinew render hero.glb -o voxels.png --view voxels --cut z=0.5  the volume of the bind\n"
        "  sinew render hero.glb -o defects.png --view defects            defects of the mesh\n");
    names_file(c->add_option("input", args->input,
                             "GLB, glTF or VRM with weights; OBJ with --skeleton and --weights (docs/render.md)"),
               FileUse::reads)
        ->required();
    names_file(c->add_option("-o,--output", args->output, "PNG to write"), FileUse::writes)->required();
    add_choice<View>(
        *c, "--view", args->view, {kPictureViews.begin(), kPictureViews.end()},
        "joints: each its colour, blended by weight (default); joint: the weight of --joint; strongest: "
        "the strongest joint's colour; influences: their number; distance: from --joint through the volume; "
        "heat: of --joint, as voxel-heat spreads it; voxels: of the bind pose; defects: intersecting triangles, "
        "boundary and non-manifold edges; surface: "
        "shape only")
        ->each([args](const std::string&) { args->view_given = true; });
    c->add_option("--joint", args->joints, "A joint, by name or by number from 0; repeat for more panels");
    c->add_option("--from", args->from,
                  "front, back, left, right (the character's), top or three-quarter; repeat for more panels");
    c->add_option("--yaw", args->yaw, "Degrees around the character: 0 is its front, 90 its left")
        ->check(number_within(-360, 360));
    c->add_option("--pitch", args->pitch, "Degrees above it, -90 to 90")->check(number_within(-90, 90));
    c->add_option("--zoom", args->zoom, "Frame a joint and its descendants: a hand, the head");
    c->add_flag("--sheet", args->sheet, "The bind pose and all standard poses of the skeleton");
    add_pose_options(*c, args->pose);
    add_choice<bool>(*c, "--skeleton-overlay", args->overlay, {{"on", true}, {"off", false}},
                     "Bones over the skin: on or off (default)");
    c->add_option("--resolution", args->resolution,
                  "Voxels along the longest side, for --view voxels, distance and heat: 32 to 1024, a power of two "
                  "(default 256)");
    c->add_option("--cut", args->cut,
                  "For --view voxels: AXIS=SHARE keeps the part below that fraction, as in z=0.5");
    c->add_option(
        "--winding-numbers", args->winding_numbers,
        "For --view voxels: off shows the vote alone, on the result with winding numbers, marked (default) "
        "ambiguous voxels in their own colours; repeat for more panels");
    c->add_option("--size", args->size, "WIDTHxHEIGHT in pixels, 64 to 8192 (default 1600x1200)");
    c->add_option("--columns", args->columns, "Panels in a row (default: the number that makes them largest)")
        ->check(CLI::Range(1, 64));
    add_choice<bool>(*c, "--background", args->dark, {{"light", false}, {"dark", true}}, "light (default) or dark");
    c->add_option("--title", args->title, "A line above the picture");
    c->add_flag("--no-legend", args->no_legend, "Leave the legend out");
    names_file(c->add_option("--weights", args->weights, "Weights JSON, instead of the file's own"),
               FileUse::reads);
    add_input_options(*c, *args);
    c->add_option(
        "--joint-options", args->joint_options,
        "JSON: shapes and other options of joints by name (docs/formats.md); --skeleton-overlay draws shapes");
    add_machine_options(*c, *args, "Options");
    c->add_flag("--quiet", args->quiet, "Print errors only");
    c->callback([args, &exit] { exit = exit_of(run_render(*args)); });
}

}  // namespace sinew::cli
