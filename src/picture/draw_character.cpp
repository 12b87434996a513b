#include "picture/draw_character.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numbers.h"
#include "core/try.h"
#include "sinew/bind_scene.h"
#include "sinew/domain.h"
#include "sinew/near.h"
#include "sinew/voxels.h"

namespace sinew {

bool needs_weights(PictureView view) {
    return view == PictureView::joints || view == PictureView::joint || view == PictureView::strongest ||
           view == PictureView::influences;
}

bool of_joint(PictureView view) {
    return view == PictureView::joint || view == PictureView::distance || view == PictureView::heat;
}

std::pair<std::string, Viewpoint> titled_view(double yaw, double pitch) {
    return {"yaw " + shortest_text(yaw) + ", pitch " + shortest_text(pitch), Viewpoint{yaw, pitch}};
}

namespace {

using View = PictureView;
using NamedView = std::pair<std::string, Viewpoint>;

constexpr float kColdest = 1e-4f;  // the end of the scale of heat

/// The grid as it is shown.
VoxelGrid shown_grid(const VoxelGrid& grid, Ambiguous shown) {
    VoxelGrid out = grid;
    if (shown == Ambiguous::marked || grid.ambiguous_voxels.words().empty()) return out;
    if (shown == Ambiguous::outside)
        for (std::size_t i = 0; i < out.interior.words().size(); ++i)
            if (const std::uint64_t doubt = grid.ambiguous_voxels.words()[i]) out.interior.words()[i] &= ~doubt;
    out.ambiguous_voxels = {};
    return out;
}

/// One state of the character: the positions of its vertices and bones.
struct Figure {
    std::string name;
    std::vector<Vec3> positions;
    std::vector<Bone> bones;
    Transform to_world;
    std::optional<Focus> focus;  ///< of --zoom
};

Vec3 moved(const Transform& t, const Vec3& p) {
    std::vector<Vec3> one{p};
    move_points(one, t);
    return one[0];
}

/// Whether `joint` is `above` or a descendant of it.
bool hangs_on(const Skeleton& skeleton, std::size_t joint, std::uint32_t above) {
    for (int j = static_cast<int>(joint); j >= 0; j = skeleton.joints[static_cast<std::size_t>(j)].parent)
        if (static_cast<std::uint32_t>(j) == above) return true;
    return false;
}

double between(const Vec3& a, const Vec3& b) {
    return std::hypot(double(a.x) - b.x, double(a.y) - b.y, double(a.z) - b.z);
}

/// Both sides, unless the picture shows poses or cuts.
std::vector<NamedView> usual_views(const PictureRequest& request) {
    std::vector<std::string> names{"front", "back"};
    const bool whole = request.cut == std::array<double, 3>{1, 1, 1};
    if (request.posed() || request.view == View::voxels || request.zoom) names = {"three-quarter"};
    if (request.view == View::voxels && whole) names = {"front"};
    std::vector<NamedView> views;
    for (const std::string& name : names) views.emplace_back(name, *viewpoint(name));
    return views;
}

class Renderer {
public:
    Renderer(io::Scene scene, const PictureRequest& request, Context* context)
        : args_(request),
          context_(context),
          scene_(std::move(scene)),
          joints_(request.joints),
          zoom_(request.zoom) {
        voxel_panel_.cut_to = request.cut;
    }

    Result<DrawnPicture> run(const std::function<void(const char*)>& stage) {
        if (!scene_.weights && (needs_weights(args_.view) || posed()))
            return Error{ErrorCode::input, args_.input +
                                               ": the file has no weights to show (`sinew bind` computes "
                                               "them; `weights` takes them from a file; `view` surface, voxels, "
                                               "defects, distance and heat need "
                                               "none)"};
        SINEW_TRY(mark_joints());
        SINEW_TRY(make_figures());
        if (stage) stage("paint");
        SINEW_TRY(make_paints());
        compose(args_.from.empty() ? usual_views(args_) : args_.from);
        if (stage) stage("draw");
        SINEW_TRY_LET(Image image, render(picture_, context_));
        return DrawnPicture{std::move(image), picture_.panels.size()};
    }

private:
    bool posed() const { return args_.posed(); }

    Status mark_joints() {
        Skeleton& skeleton = scene_.skeleton;
        if (skeleton.joints.empty()) return Done{};
        SINEW_TRY_LET(skeleton, deforming_skeleton(scene_));
        if (args_.view == View::distance || args_.view == View::heat)
            for (const std::uint32_t j : joints_) skeleton.joints[j].deform = true;
        near_ = near_triangles(scene_.mesh(), skeleton, context_);
        if (!args_.overlay && args_.view != View::voxels) return Done{};
        // Leaf bones have the same length as in bind.
        const MeshView mesh{scene_.positions, near_, scene_.skin_of_vertex};
        const MeshTopology topology = analyse_mesh(mesh, context_);
        VoxelizeOptions options;
        options.resolution = args_.view == View::voxels ? args_.resolution : 128;
        options.keep_ambiguous = args_.view == View::voxels;
        SINEW_TRY(check(options));
        SINEW_TRY_LET(VoxelGrid grid, voxelize(mesh, topology, options, context_));
        bones_ = make_bones(skeleton);
        extend_leaf_bones(bones_, skeleton, grid);
        if (args_.view == View::voxels)
            for (const auto& [title, shown] : args_.ambiguous) grids_.push_back(shown_grid(grid, shown));
        return Done{};
    }

    Result<Figure> figure(std::string name, const io::ScenePose& pose) {
        Figure out;
        out.name = std::move(name);
        out.to_world = pose.to_world;
        std::vector<Vec3> shape = scene_.positions;
        std::vector<Morph> morphs;
        for (const io::MorphTarget& m : pose.morphs) morphs.push_back({m.first_vertex, m.weight, m.offsets});
        SINEW_TRY(add_morphs(shape, morphs));
        if (scene_.weights && posed()) {
            io::start_from_other_poses(scene_, pose.skinning, shape);
            SINEW_TRY_LET(const io::ShadingFrames frames, io::shading_frames(scene_));
            SINEW_TRY_LET(Surface surface, deform({shape, {}, {}, frames.dual_share}, *scene_.weights,
                                                  pose.skinning, args_.skinning, context_));
            shape = std::move(surface.positions);
        }
        out.positions = std::move(shape);
        out.bones = bones_;
        for (Bone& bone : out.bones) {
            bone.head = moved(pose.skinning[bone.joint], bone.head);
            bone.tail = moved(pose.skinning[bone.joint], bone.tail);
            if (!bone.box) continue;
            const Vec3 origin = moved(pose.skinning[bone.joint], {});
            for (Vec3& axis : bone.box->axes) {
                const Vec3 end = moved(pose.skinning[bone.joint], axis);
                axis = {end.x - origin.x, end.y - origin.y, end.z - origin.z};
            }
        }
        if (zoom_)
            out.focus = focus_on(pose);
        else if (!near_.empty() && near_.size() < scene_.triangles.size())
            out.focus = focus_on_near(out);
        return out;
    }

    /// Far triangles (a ground plane) do not make the character small.
    Focus focus_on_near(const Figure& figure) const {
        constexpr float far_away = std::numeric_limits<float>::max();
        Vec3 low{far_away, far_away, far_away}, high{-far_away, -far_away, -far_away};
        for (const Triangle& t : near_)
            for (const std::uint32_t v : t) {
                const Vec3 p = moved(figure.to_world, figure.positions[v]);
                low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
                high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
            }
        return {{(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2}, between(low, high) / 2};
    }

    /// A ball around the joint and its descendants, with a margin for the flesh around them.
    Focus focus_on(const io::ScenePose& pose) const {
        const Skeleton& skeleton = scene_.skeleton;
        auto place = [&](std::size_t j) {
            return moved(pose.to_world, moved(pose.skinning[j], skeleton.joints[j].position));
        };
        Vec3 low = place(*zoom_), high = low;
        Vec3 all_low = low, all_high = low;
        for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
            const Vec3 p = place(j);
            auto widen = [&](Vec3& a, Vec3& b) {
                a = {std::min(a.x, p.x), std::min(a.y, p.y), std::min(a.z, p.z)};
                b = {std::max(b.x, p.x), std::max(b.y, p.y), std::max(b.z, p.z)};
            };
            if (hangs_on(skeleton, j, *zoom_)) widen(low, high);
            widen(all_low, all_high);
        }
        const Vec3 centre{(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2};
        double radius = 0, limb = 0;
        for (std::size_t j = 0; j < skeleton.joints.size(); ++j)
            if (hangs_on(skeleton, j, *zoom_)) radius = std::max(radius, between(centre, place(j)));
        // A joint without children: the ball reaches its parent, which shows the scale.
        if (const int parent = skeleton.joints[*zoom_].parent; parent >= 0)
            limb = between(place(*zoom_), place(static_cast<std::size_t>(parent)));
        const double size = between(all_low, all_high);
        radius = std::max(
            {1.15 * radius + 0.15 * std::min(limb, 2 * radius), radius > 0 ? 0.0 : limb, 0.01 * size, 1e-9});
        return {centre, radius};
    }

    /// With --zoom the legend lists the visible joints, the heaviest first.
    void label_visible_joints(Paint& paint) const {
        if (!zoom_ || paint.legend.entries.empty() || args_.view == View::influences || args_.view == View::defects)
            return;
        const Skeleton& skeleton = scene_.skeleton;
        std::vector<double> use(skeleton.joints.size(), 0);
        for (const Figure& figure : figures_)
            for (std::size_t v = 0; v < figure.positions.size(); ++v) {
                if (between(moved(figure.to_world, figure.positions[v]), figure.focus->centre) >
                    1.1 * figure.focus->radius)
                    continue;
                for (const Influence& i : (*scene_.weights)[v]) {
                    use[i.joint] += i.weight;
                    if (args_.view == View::strongest) break;
                }
            }
        std::vector<std::size_t> order;
        for (std::size_t j = 0; j < use.size(); ++j)
            if (use[j] > 0) order.push_back(j);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return use[a] > use[b]; });
        const std::vector<Rgb> colours = joint_colours(skeleton);
        paint.legend.entries.clear();
        for (const std::size_t j : order) paint.legend.entries.push_back({skeleton.joints[j].name, colours[j]});
    }

    /// The angle in degrees, in quarter turns, for a character that does not face +z, as in VRM 0.
    double turn() const {
        const Transform& t = figures_[0].to_world;
        const Vec3 up{static_cast<float>(t(1, 0)), static_cast<float>(t(1, 1)), static_cast<float>(t(1, 2))};
        const std::optional<Vec3> front = facing(scene_.skeleton, up);
        if (!front) return 0;
        const double x = t(0, 0) * front->x + t(0, 1) * front->y + t(0, 2) * front->z;
        const double z = t(2, 0) * front->x + t(2, 1) * front->y + t(2, 2) * front->z;
        return 90 * std::round(std::atan2(x, z) / (3.14159265358979323846 / 2));
    }

    Status make_figures() {
        const std::size_t joints = scene_.skeleton.joints.size();
        SINEW_TRY_LET(io::ScenePose rest, rest_of(scene_, args_.up));
        rest.skinning.assign(joints, Transform{});
        auto add = [&](std::string name, const io::ScenePose& pose) -> Status {
            SINEW_TRY_LET(Figure made, figure(std::move(name), pose));
            figures_.push_back(std::move(made));
            return Done{};
        };
        SINEW_TRY(add(posed() ? "bind pose" : "", rest));
        if (args_.sheet) {
            // The row of the matrix for the world's height is the up direction in bind space.
            const Transform& t = rest.to_world;
            const Vec3 up{static_cast<float>(t(1, 0)), static_cast<float>(t(1, 1)), static_cast<float>(t(1, 2))};
            const std::vector<NamedPose> poses = standard_poses(scene_.skeleton, up);
            if (poses.empty())
                return Error{ErrorCode::input, args_.input + ": no standard pose fits this skeleton of " +
                                                   std::to_string(joints) +
                                                   " joints (`pose` takes one from a file)"};
            for (const NamedPose& pose : poses) {
                SINEW_TRY_LET(std::vector<Transform> matrices, skinning_matrices(scene_.skeleton, pose.joints));
                io::ScenePose at = rest;
                at.skinning = std::move(matrices);
                SINEW_TRY(add(pose.name, at));
            }
        }
        if (args_.pose) SINEW_TRY(add(args_.pose->name, args_.pose->at));
        return Done{};
    }

    /// The heat of the chosen joints at every vertex, as voxel-heat computes it, as a power of ten: heat falls
    /// exponentially along the way. Not a number where none was measured.
    Result<std::vector<std::vector<float>>> heat_of_joints() {
        BindOptions options = preset(Method::voxel_heat);
        options.voxels.resolution = args_.resolution;
        options.finish.max_influences = all_influences;
        SINEW_TRY_LET(const Binding binding, bind(scene_.mesh(), scene_.skeleton, options, context_));
        const InfluenceTable& table = binding.influences();
        std::vector<std::vector<float>> out;
        for (const std::uint32_t joint : joints_) {
            std::vector<float>& heat = out.emplace_back(table.vertices, std::numeric_limits<float>::quiet_NaN());
            for (std::size_t v = 0; v < table.vertices; ++v) {
                const Coverage how = binding.coverage()[v];
                if (how != Coverage::weighted && how != Coverage::bridged) continue;
                heat[v] = std::log10(kColdest);
                for (std::size_t k = v * table.width; k < (v + 1) * table.width; ++k)
                    if (table.joint[k] == joint) heat[v] = std::log10(std::max(kColdest, table.strength[k]));
            }
        }
        return out;
    }

    Status make_paints() {
        const Skeleton& skeleton = scene_.skeleton;
        const std::size_t paints = std::max<std::size_t>(1, joints_.size());
        double far = 0;
        std::vector<std::vector<float>> heat;
        if (args_.view == View::heat) {
            SINEW_TRY_LET(heat, heat_of_joints());
        }
        for (std::size_t i = 0; i < paints; ++i) {
            switch (args_.view) {
                case View::joints:
                    paints_.push_back(paint_joints(*scene_.weights, skeleton));
                    break;
                case View::joint:
                    paints_.push_back(paint_joint(*scene_.weights, skeleton, joints_[i]));
                    break;
                case View::strongest:
                    paints_.push_back(paint_strongest(*scene_.weights, skeleton, scene_.triangles));
                    break;
                case View::influences:
                    paints_.push_back(paint_influences(*scene_.weights));
                    break;
                case View::distance: {
                    VoxelizeOptions voxels;
                    voxels.resolution = args_.resolution;
                    SINEW_TRY_LET(std::vector<float> distance,
                                  joint_distance(scene_.mesh(), skeleton, joints_[i], voxels, {}, context_));
                    for (const float d : distance)
                        if (std::isfinite(d)) far = std::max(far, static_cast<double>(d));
                    paints_.push_back({});
                    paints_.back().values = std::move(distance);
                    break;
                }
                case View::heat:
                    paints_.push_back({});
                    paints_.back().values = std::move(heat[i]);
                    break;
                case View::defects: {
                    SINEW_TRY_LET(Intersections intersections, find_intersections(scene_.mesh(), context_));
                    paints_.push_back(paint_defects(
                        intersections,
                        find_defect_edges(scene_.mesh(), analyse_mesh(scene_.mesh(), context_).weld)));
                    break;
                }
                case View::voxels:
                    paints_.resize(args_.ambiguous.size());  // only their number matters
                    break;
                case View::surface:
                    paints_.emplace_back();
                    break;
            }
        }
        // Panels of several joints share one scale; their titles name the joints.
        const std::string whose = paints == 1 && !joints_.empty() ? skeleton.joints[joints_[0]].name : "the joint";
        for (Paint& paint : paints_) {
            if (args_.view == View::distance)
                paint = paint_values(std::move(paint.values), "distance from " + whose, Ramp::depth, 0,
                                     far > 0 ? far : 1, 20);
            if (args_.view == View::heat)
                paint = paint_values(std::move(paint.values), "heat of " + whose + ", power of ten", Ramp::heat,
                                     std::log10(kColdest), 0, 4);
            if (args_.view == View::joint) paint.legend.title = "weight of " + whose;
        }
        return Done{};
    }

    void compose(const std::vector<NamedView>& views) {
        picture_ = args_.look;
        picture_.panels.clear();
        const Skeleton& skeleton = scene_.skeleton;
        if (args_.overlay && of_joint(args_.view)) {
            bone_colours_.assign(skeleton.joints.size(), Rgb{240, 240, 242});
            for (const std::uint32_t j : joints_) bone_colours_[j] = {233, 72, 60};
        } else if (args_.view == View::surface || args_.view == View::influences || args_.view == View::defects) {
            bone_colours_ = joint_colours(skeleton);
        }
        for (Paint& paint : paints_) label_visible_joints(paint);
        const double turned = turn();
        for (std::size_t p = 0; p < paints_.size(); ++p)
            for (const Figure& figure : figures_)
                for (const auto& [name, from] : views) {
                    Panel panel;
                    panel.title = figure.name;
                    auto join = [&](const std::string& more) {
                        panel.title += (panel.title.empty() ? "" : ", ") + more;
                    };
                    if (joints_.size() > 1) join(skeleton.joints[joints_[p]].name);
                    if (views.size() > 1) join(name);
                    panel.transform = figure.to_world;
                    panel.from = from;
                    panel.from.yaw += turned;
                    if (args_.view == View::voxels) {
                        if (!args_.ambiguous[p].first.empty()) join(args_.ambiguous[p].first);
                        panel.voxels = voxel_panel_;
                        panel.voxels->grid = &grids_[p];
                        panel.voxels->bones = figure.bones;
                    } else {
                        panel.positions = figure.positions;
                        panel.triangles = scene_.triangles;
                        panel.paint = &paints_[p];
                    }
                    if (args_.overlay) panel.bones = figure.bones;
                    panel.bone_colours = bone_colours_;
                    panel.focus = figure.focus;
                    picture_.panels.push_back(std::move(panel));
                }
    }

    const PictureRequest& args_;
    Context* context_;
    io::Scene scene_;
    std::vector<std::uint32_t> joints_;
    std::optional<std::uint32_t> zoom_;
    std::vector<Triangle> near_;    // of the bind
    std::vector<VoxelGrid> grids_;  // one for each way to show ambiguous voxels
    VoxelPanel voxel_panel_;
    std::vector<Bone> bones_;
    std::vector<Figure> figures_;
    std::vector<Paint> paints_;
    std::vector<Rgb> bone_colours_;
    Picture picture_;
};

}  // namespace

Result<io::ScenePose> rest_of(const io::Scene& scene, const std::optional<Vec3>& up) {
    if (scene.document) return io::pose_at(scene, std::nullopt, 0);
    io::ScenePose rest;
    rest.skinning.assign(scene.skeleton.joints.size(), Transform{});
    if (!up) return rest;
    // The shortest rotation from up to y, by Rodrigues' formula; upside down: half a turn about x.
    const double length = std::hypot(double(up->x), double(up->y), double(up->z));
    const double x = up->x / length, y = up->y / length, z = up->z / length;
    if (y <= -1 + 1e-12) {
        rest.to_world.m = {1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0};
        return rest;
    }
    const double k = 1 / (1 + y);
    rest.to_world.m = {1 - k * x * x, -x, -k * x * z, 0, x, y, z, 0, -k * x * z, -z, 1 - k * z * z, 0};
    return rest;
}

Result<DrawnPicture> draw_character(io::Scene scene, const PictureRequest& request,
                                    const std::function<void(const char*)>& stage, Context* context) {
    return Renderer(std::move(scene), request, context).run(stage);
}

}  // namespace sinew
