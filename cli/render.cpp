// sinew render: a picture of a character's weights, distances, heat, voxels or poses.

#include "sinew/render.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "posing.h"
#include "sinew/bind.h"
#include "sinew/domain.h"
#include "sinew/near.h"

namespace sinew::cli {
namespace {

enum class View { joints, joint, strongest, influences, distance, heat, voxels, defects, surface };

constexpr float kColdest = 1e-4f;  // the end of the scale of heat

/// How voxels are shown if their views disagree.
enum class Ambiguous {
    marked,   ///< all of them, in their own colours
    settled,  ///< as interior if winding numbers put them inside
    outside,  ///< not at all: the vote alone leaves them outside
};

struct RenderArguments : InputOptions {
    std::string input, output, joint_options, weights, title;
    View view = View::joints;
    std::vector<std::string> joints, from, winding_numbers;
    std::optional<double> yaw, pitch;
    std::string zoom, cut, size = "1600x1200";
    double zoom_radius = 0;
    bool overlay = false, sheet = false, no_legend = false, quiet = false, dark = false;
    bool view_given = false;
    int columns = 0, resolution = 256, threads = 0;
    PoseOptions pose;
};

Error usage(std::string message) { return {ErrorCode::usage, std::move(message)}; }

bool needs_weights(View view) {
    return view == View::joints || view == View::joint || view == View::strongest || view == View::influences;
}

bool of_joint(View view) { return view == View::joint || view == View::distance || view == View::heat; }

/// "1600x1200"
Status read_size(const std::string& text, Picture& picture) {
    int used = 0, width = 0, height = 0;
    if (std::sscanf(text.c_str(), "%5dx%5d%n", &width, &height, &used) != 2 ||
        static_cast<std::size_t>(used) != text.size())
        return usage("--size " + text + ": give WIDTHxHEIGHT in pixels, for example 1600x1200");
    if (std::min(width, height) < 64 || std::max(width, height) > 8192)
        return usage("--size " + text + ": each side must be within 64 to 8192 pixels");
    picture.width = width;
    picture.height = height;
    return Done{};
}

/// "x=0.5": the part before that fraction of the voxels' box along an axis is cut away, seen from the end of
/// the axis.
Status read_cut(const std::string& text, VoxelPanel& panel) {
    if (text.empty()) return Done{};
    double share = 0;
    char axis = 0;
    int used = 0;
    if (std::sscanf(text.c_str(), "%c=%lf%n", &axis, &share, &used) != 2 ||
        static_cast<std::size_t>(used) != text.size() || axis < 'x' || axis > 'z' || !(share > 0 && share < 1))
        return usage("--cut " + text + ": give an axis and a fraction between 0 and 1, for example z=0.5");
    panel.cut_to[static_cast<std::size_t>(axis - 'x')] = share;
    return Done{};
}

struct NamedAmbiguous {
    std::string title;
    Ambiguous shown;
};

Result<std::vector<NamedAmbiguous>> read_winding_numbers(const std::vector<std::string>& words) {
    std::vector<NamedAmbiguous> out;
    for (const std::string& word : words) {
        if (word == "marked")
            out.push_back({"ambiguous voxels marked", Ambiguous::marked});
        else if (word == "on")
            out.push_back({"vote and winding numbers", Ambiguous::settled});
        else if (word == "off")
            out.push_back({"vote alone", Ambiguous::outside});
        else
            return usage("--winding-numbers " + word + ": choose on, off or marked");
    }
    if (out.empty()) out.push_back({"", Ambiguous::marked});
    return out;
}

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

struct NamedView {
    std::string name;
    Viewpoint from;
};

Result<std::vector<NamedView>> read_views(const RenderArguments& args) {
    std::vector<NamedView> views;
    for (const std::string& name : args.from) {
        const std::optional<Viewpoint> from = viewpoint(name);
        if (!from)
            return usage("--from " + name +
                         ": choose front, back, left, right, top or three-quarter, or give --yaw "
                         "and --pitch");
        views.push_back({name, *from});
    }
    if (args.yaw || args.pitch) {
        const Viewpoint from{args.yaw.value_or(0), args.pitch.value_or(0)};
        views.push_back({fmt::format("yaw {:g}, pitch {:g}", from.yaw, from.pitch), from});
    }
    if (!views.empty()) return views;
    // Default views: both sides, unless the picture shows poses or cuts.
    const bool posed = args.sheet || !args.pose.pose.empty() || !args.pose.clip.empty();
    std::vector<std::string> names{"front", "back"};
    if (posed || args.view == View::voxels || !args.zoom.empty()) names = {"three-quarter"};
    if (args.view == View::voxels && args.cut.empty()) names = {"front"};
    for (const std::string& name : names) views.push_back({name, *viewpoint(name)});
    return views;
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

class Renderer {
public:
    Renderer(RenderArguments args, Context& context) : args_(std::move(args)), context_(context) {}

    Result<Image> run(Progress& progress) {
        if (Status ok = read_size(args_.size, picture_); !ok) return ok.error();
        if (Status ok = read_cut(args_.cut, voxel_panel_); !ok) return ok.error();
        Result<std::vector<NamedAmbiguous>> ambiguous = read_winding_numbers(args_.winding_numbers);
        if (!ambiguous) return ambiguous.error();
        ambiguous_ = std::move(*ambiguous);
        Result<std::vector<NamedView>> views = read_views(args_);
        if (!views) return views.error();
        progress.stage("load");
        if (Status ok = load(); !ok) return ok.error();
        if (Status ok = mark_joints(); !ok) return ok.error();
        if (Status ok = make_figures(); !ok) return ok.error();
        progress.stage("paint");
        if (Status ok = make_paints(); !ok) return ok.error();
        compose(*views);
        progress.stage("draw");
        return sinew::render(picture_, &context_);
    }
    std::size_t panels() const { return picture_.panels.size(); }

private:
    bool posed() const { return args_.sheet || !args_.pose.pose.empty() || !args_.pose.clip.empty(); }

    Status load() {
        Result<io::Scene> loaded = io::load(args_.input, args_.load(), &context_);
        if (!loaded) return loaded.error();
        scene_ = std::move(*loaded);
        if (!args_.joint_options.empty())
            if (Status ok = io::load_joint_options(args_.joint_options, scene_.skeleton); !ok) return ok;
        if (Status ok = take_weights(scene_, args_.weights); !ok) return ok;
        if (!scene_.weights && (needs_weights(args_.view) || posed()))
            return Error{
                ErrorCode::input,
                args_.input + ": the file has no weights to show (sinew bind " + args_.input +
                    " -o OUT.glb computes them; then use sinew render OUT.glb; --weights takes "
                    "them from a file; --view surface, voxels, defects, distance and heat need no weights)"};
        return Done{};
    }

    Status mark_joints() {
        Skeleton& skeleton = scene_.skeleton;
        for (const std::string& name : args_.joints) {
            Result<std::uint32_t> joint = find_joint(skeleton, name, args_.input);
            if (!joint) return joint.error();
            joints_.push_back(*joint);
        }
        if (!args_.zoom.empty()) {
            Result<std::uint32_t> joint = find_joint(skeleton, args_.zoom, args_.input);
            if (!joint) return joint.error();
            zoom_ = *joint;
        }
        if (skeleton.joints.empty()) return Done{};
        const std::vector<double> use =
            scene_.weights ? joint_use(*scene_.weights, skeleton.joints.size()) : std::vector<double>{};
        if (Status ok = select_deforming(skeleton, use, {}); !ok) return ok;
        if (args_.view == View::distance || args_.view == View::heat)
            for (const std::uint32_t j : joints_) skeleton.joints[j].deform = true;
        near_ = near_triangles(scene_.mesh(), skeleton, &context_);
        if (!args_.overlay && args_.view != View::voxels) return Done{};
        // Leaf bones have the same length as in bind.
        const MeshView mesh{scene_.positions, near_, scene_.skin_of_vertex};
        const MeshTopology topology = analyse_mesh(mesh);
        VoxelizeOptions options;
        options.resolution = args_.view == View::voxels ? args_.resolution : 128;
        options.keep_ambiguous = args_.view == View::voxels;
        if (Status ok = check(options); !ok) return ok;
        Result<VoxelGrid> grid = voxelize(mesh, topology, options, &context_);
        if (!grid) return grid.error();
        bones_ = make_bones(skeleton);
        extend_leaf_bones(bones_, skeleton, *grid);
        if (args_.view == View::voxels)
            for (const NamedAmbiguous& ambiguous : ambiguous_) grids_.push_back(shown_grid(*grid, ambiguous.shown));
        return Done{};
    }

    Result<Figure> figure(std::string name, const io::ScenePose& pose) {
        Figure out;
        out.name = std::move(name);
        out.to_world = pose.to_world;
        std::vector<Vec3> shape = scene_.positions;
        std::vector<Morph> morphs;
        for (const io::MorphTarget& m : pose.morphs) morphs.push_back({m.first_vertex, m.weight, m.offsets});
        if (Status ok = add_morphs(shape, morphs); !ok) return ok.error();
        if (scene_.weights && posed()) {
            Result<Surface> surface =
                deform({shape, {}, {}}, *scene_.weights, pose.skinning, args_.pose.how(), &context_);
            if (!surface) return surface.error();
            shape = std::move(surface->positions);
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
        Result<io::ScenePose> rest = io::pose_at(scene_, std::nullopt, 0);
        if (!rest) return rest.error();
        rest->skinning.assign(joints, Transform{});
        auto add = [&](std::string name, const io::ScenePose& pose) -> Status {
            Result<Figure> made = figure(std::move(name), pose);
            if (!made) return made.error();
            figures_.push_back(std::move(*made));
            return Done{};
        };
        if (Status ok = add(posed() ? "bind pose" : "", *rest); !ok) return ok;
        if (args_.sheet) {
            // The row of the matrix for the world's height is the up direction in bind space.
            const Transform& t = rest->to_world;
            const Vec3 up{static_cast<float>(t(1, 0)), static_cast<float>(t(1, 1)), static_cast<float>(t(1, 2))};
            const std::vector<NamedPose> poses = standard_poses(scene_.skeleton, up);
            if (poses.empty())
                return Error{ErrorCode::input, args_.input + ": no standard pose fits this skeleton of " +
                                                   std::to_string(joints) +
                                                   " joints (--pose takes one from a file)"};
            for (const NamedPose& pose : poses) {
                Result<std::vector<Transform>> matrices = skinning_matrices(scene_.skeleton, pose.joints);
                if (!matrices) return matrices.error();
                io::ScenePose at = *rest;
                at.skinning = std::move(*matrices);
                if (Status ok = add(pose.name, at); !ok) return ok;
            }
        }
        if (!args_.pose.pose.empty() || !args_.pose.clip.empty()) {
            Result<io::ScenePose> at = read_pose(scene_, args_.pose, args_.input);
            if (!at) return at.error();
            const std::string name = args_.pose.clip.empty()
                                         ? std::filesystem::path(args_.pose.pose).stem().string()
                                         : fmt::format("{} at {:.3g} s", args_.pose.clip, at->time);
            if (Status ok = add(name, *at); !ok) return ok;
        }
        return Done{};
    }

    /// The heat of the chosen joints at every vertex, as voxel-heat computes it, as a power of ten: heat falls
    /// exponentially along the way. Not a number where none was measured.
    Result<std::vector<std::vector<float>>> heat_of_joints() {
        BindOptions options = preset(Method::voxel_heat);
        options.voxels.resolution = args_.resolution;
        options.finish.max_influences = all_influences;
        const Result<Binding> binding = bind(scene_.mesh(), scene_.skeleton, options, &context_);
        if (!binding) return binding.error();
        const InfluenceTable& table = binding->influences();
        std::vector<std::vector<float>> out;
        for (const std::uint32_t joint : joints_) {
            std::vector<float>& heat = out.emplace_back(table.vertices, std::numeric_limits<float>::quiet_NaN());
            for (std::size_t v = 0; v < table.vertices; ++v) {
                const Coverage how = binding->coverage()[v];
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
            Result<std::vector<std::vector<float>>> measured = heat_of_joints();
            if (!measured) return measured.error();
            heat = std::move(*measured);
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
                    Result<std::vector<float>> distance =
                        joint_distance(scene_.mesh(), skeleton, joints_[i], voxels, {}, &context_);
                    if (!distance) return distance.error();
                    for (const float d : *distance)
                        if (std::isfinite(d)) far = std::max(far, static_cast<double>(d));
                    paints_.push_back({});
                    paints_.back().values = std::move(*distance);
                    break;
                }
                case View::heat:
                    paints_.push_back({});
                    paints_.back().values = std::move(heat[i]);
                    break;
                case View::defects: {
                    Result<Intersections> intersections = find_intersections(scene_.mesh(), &context_);
                    if (!intersections) return intersections.error();
                    paints_.push_back(paint_defects(
                        *intersections, find_defect_edges(scene_.mesh(), analyse_mesh(scene_.mesh()).weld)));
                    break;
                }
                case View::voxels:
                    paints_.resize(ambiguous_.size());  // only their number matters
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
                for (const NamedView& view : views) {
                    Panel panel;
                    panel.title = figure.name;
                    auto join = [&](const std::string& more) {
                        panel.title += (panel.title.empty() ? "" : ", ") + more;
                    };
                    if (joints_.size() > 1) join(skeleton.joints[joints_[p]].name);
                    if (views.size() > 1) join(view.name);
                    panel.transform = figure.to_world;
                    panel.from = view.from;
                    panel.from.yaw += turned;
                    if (args_.view == View::voxels) {
                        if (!ambiguous_[p].title.empty()) join(ambiguous_[p].title);
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
        picture_.title = args_.title;
        picture_.columns = args_.columns;
        picture_.legend = !args_.no_legend;
        picture_.background = args_.dark ? Background::dark : Background::light;
    }

    const RenderArguments args_;
    Context& context_;
    io::Scene scene_;
    std::vector<std::uint32_t> joints_;
    std::optional<std::uint32_t> zoom_;
    std::vector<NamedAmbiguous> ambiguous_;
    std::vector<Triangle> near_;    // of the bind
    std::vector<VoxelGrid> grids_;  // one for each of them
    VoxelPanel voxel_panel_;
    std::vector<Bone> bones_;
    std::vector<Figure> figures_;
    std::vector<Paint> paints_;
    std::vector<Rgb> bone_colours_;
    Picture picture_;
};

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

int run_render(RenderArguments args) {
    if (args.view == View::joints && !args.view_given && !args.joints.empty()) args.view = View::joint;
    if (Status ok = check_combination(args); !ok) return fail(ok.error());
    const NamedFile outputs[] = {{"--output", args.output}};
    const NamedFile inputs[] = {{"the input", args.input},
                                {"--skeleton", args.skeleton},
                                {"--joint-options", args.joint_options},
                                {"--weights", args.weights},
                                {"--pose", args.pose.pose}};
    if (!args.output.ends_with(".png"))
        return fail(usage(args.output + ": the picture is a PNG: its name must end in .png"));
    if (Status ok = check_files(outputs, inputs); !ok) return fail(ok.error());
    Context context;
    context.threads = args.threads;
    {
        Progress progress(context, args.quiet);
        Renderer renderer(args, context);
        Result<Image> image = renderer.run(progress);
        if (!image) return fail(image.error());
        Result<std::vector<std::byte>> png = encode_png(*image);
        if (!png) return fail(png.error());
        io::OutputBatch batch;
        if (Status ok = batch.add(args.output, *png); !ok) return fail(ok.error());
        const std::size_t panels = renderer.panels();
        const Status published = progress.publish(batch, [&] {
            if (!args.quiet)
                fmt::print("drew {} panel{} at {} x {} to {}\n", panels, panels == 1 ? "" : "s", image->width,
                           image->height, printable(args.output, 2000));
        });
        if (!published) return fail(published.error());
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
    c->add_option("input", args->input,
                  "GLB, glTF or VRM with weights; OBJ with --skeleton and --weights (docs/render.md)")
        ->required();
    c->add_option("-o,--output", args->output, "PNG to write")->required();
    add_choice<View>(
        *c, "--view", args->view,
        {{"joints", View::joints},
         {"joint", View::joint},
         {"strongest", View::strongest},
         {"influences", View::influences},
         {"distance", View::distance},
         {"heat", View::heat},
         {"voxels", View::voxels},
         {"defects", View::defects},
         {"surface", View::surface}},
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
    c->add_option("--weights", args->weights, "Weights JSON, instead of the file's own");
    add_input_options(*c, *args);
    c->add_option(
        "--joint-options", args->joint_options,
        "JSON: shapes and other options of joints by name (docs/formats.md); --skeleton-overlay draws shapes");
    c->add_option("--threads", args->threads, "Worker threads (default: all cores)")->check(CLI::NonNegativeNumber);
    c->add_flag("--quiet", args->quiet, "Print errors only");
    c->callback([args, &exit] { exit = run_render(*args); });
}

}  // namespace sinew::cli
