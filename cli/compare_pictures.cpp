// Pictures of two bindings and their difference.

#include <fmt/core.h>

#include <cmath>

#include "compare_report.h"
#include "core/try.h"
#include "painter.h"

namespace sinew::cli {
namespace {

/// The pose with the largest mean distance. Random poses, which are hard to read, are used only if there is no
/// other. Null if the sides do not differ in any pose.
const PoseComparison* pose_to_show(const Comparison& c) {
    const PoseComparison* shown = nullptr;
    for (const PoseComparison& p : c.poses) {
        if (!(p.max > 0)) continue;
        const bool random = p.kind == PoseKind::random;
        if (!shown || (shown->kind == PoseKind::random && !random) ||
            (random == (shown->kind == PoseKind::random) && p.mean > shown->mean))
            shown = &p;
    }
    return shown;
}

}  // namespace

Status check_pictures(Context& context) {
    // Draws a picture of one triangle, to detect missing OpenGL before the work.
    const Vec3 positions[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const Triangle triangles[] = {{0, 1, 2}};
    Picture picture;
    picture.width = picture.height = 64;
    picture.panels.resize(1);
    picture.panels[0].positions = positions;
    picture.panels[0].triangles = triangles;
    SINEW_TRY(draw_apart(picture, context));
    return Done{};
}

Result<std::vector<std::byte>> draw_comparison(const CompareRun& run, const Transform& to_world, int width,
                                               int height, Context& context) {
    const Comparison& c = *run.result;
    const Skeleton& skeleton = run.match->skeleton;
    const std::vector<Vec3>& positions = run.scene->positions;
    Paint a = paint_joints(*run.a, skeleton), b = paint_joints(*run.b, skeleton);
    b.legend = a.legend;  // joints have the same colours on both sides
    const Paint l1 = paint_values(c.vertex_l1, "L1 difference", Ramp::heat, 0, 2);

    Picture picture;
    picture.width = width;
    picture.height = height;
    picture.columns = 3;
    auto add = [&](std::string title, std::span<const Vec3> shape, const Paint& paint, const char* from) {
        Panel panel;
        panel.title = std::move(title);
        panel.positions = shape;
        panel.triangles = run.scene->triangles;
        panel.paint = &paint;
        panel.transform = to_world;
        panel.from = *viewpoint(from);
        picture.panels.push_back(std::move(panel));
    };
    for (const char* from : {"front", "back"}) {
        add(fmt::format("A, {}", from), positions, a, from);
        add(fmt::format("B, {}", from), positions, b, from);
        add(fmt::format("L1 difference, {}", from), positions, l1, from);
    }

    Surface posed_a, posed_b;
    Paint distance;
    if (const PoseComparison* worst = pose_to_show(c)) {
        SINEW_TRY_LET(std::vector<Transform> transforms, skinning_matrices(skeleton, worst->joints));
        const SurfaceView rest{positions, {}, {}};
        SINEW_TRY_LET(Surface in_a, deform(rest, *run.a, transforms, run.options.skinning, &context));
        SINEW_TRY_LET(Surface in_b, deform(rest, *run.b, transforms, run.options.skinning, &context));
        posed_a = std::move(in_a);
        posed_b = std::move(in_b);
        std::vector<float> values;
        for (std::size_t v = 0; v < positions.size(); ++v) {
            const Vec3 &p = posed_a.positions[v], &q = posed_b.positions[v];
            const double d = std::hypot(double{p.x} - q.x, double{p.y} - q.y, double{p.z} - q.z);
            values.push_back(static_cast<float>(100 * d / c.diagonal));
        }
        distance = paint_values(std::move(values), "distance, % of the diagonal", Ramp::depth, 0, worst->max);
        add("A, " + worst->name, posed_a.positions, a, "three-quarter");
        add("B, " + worst->name, posed_b.positions, b, "three-quarter");
        add("distance, " + worst->name, posed_b.positions, distance, "three-quarter");
    }
    return draw_apart(picture, context);
}

}  // namespace sinew::cli
