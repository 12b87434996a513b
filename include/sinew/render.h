// sinew/render.h: pictures of a character, drawn without a display: weights, distances, voxels, bones, poses.
//
// Paints, the colours of a surface, are plain arithmetic and work in every build. render() needs OpenGL (SINEW_GL)
// and is an error without it; Mesa's software rasteriser suffices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// A colour: sRGB, 8 bits a channel.
struct Rgb {
    std::uint8_t r = 0, g = 0, b = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// Rows from the top, three bytes a pixel, without gaps.
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;  ///< width × height × 3
    friend bool operator==(const Image&, const Image&) = default;
};

/// The image as a PNG file of 8 bits a channel. Needs what render() needs. O(pixels).
Result<std::vector<std::byte>> encode_png(const Image& image);

/// A colour scale. Lightness alone shows the order, also to colour-blind people and in greyscale prints.
/// Interpolated in OKLab (Ottosson 2020).
enum class Ramp {
    heat,   ///< dark blue over violet and orange to pale yellow: more is lighter
    depth,  ///< pale yellow over green to dark blue: more is darker
};
/// The colour at t, clamped to 0..1; not a number is 0.
Rgb ramp_colour(Ramp ramp, double t);

/// One colour per joint. A joint differs in hue from its parent and from its siblings, and a joint from the one
/// that mirrors it (by name: left and right) in lightness. The same names and parents give the same colours, on any
/// file. O(joints).
std::vector<Rgb> joint_colours(const Skeleton& skeleton);

/// The legend of a paint: a bar with ticks, or names with their colours.
struct Legend {
    std::string title;  ///< UTF-8, as all texts here
    // A bar, where low < high:
    Ramp ramp = Ramp::heat;
    double low = 0, high = 0;
    std::vector<double> ticks;  ///< values with a number beside the bar
    // Names:
    struct Entry {
        std::string name;
        Rgb colour;
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    std::vector<Entry> entries;  ///< the most important first; entries that do not fit are counted ("and 31 more")
    friend bool operator==(const Legend&, const Legend&) = default;
};

/// The colours of a surface of V vertices. Made by the paint_ functions. Exactly one of colours, values and pieces
/// is in use, or none: a plain surface. Lines go with any of them.
struct Paint {
    std::vector<Rgb> colours;      ///< V: interpolated over triangles
    std::vector<float> values;     ///< V: interpolated, then looked up in legend.ramp; not finite = grey
    std::vector<double> isolines;  ///< values along which a line is drawn; with `values` only
    bool zero_is_plain = false;    ///< values up to legend.low are not coloured

    /// A part of a triangle that has one colour.
    struct Piece {
        std::uint32_t triangle;
        std::array<std::array<float, 2>, 3>
            corners;  ///< barycentric coordinates of the triangle's second and third vertex
        Rgb colour;
    };
    std::vector<Piece> pieces;  ///< together they cover every triangle

    /// A line from vertex to vertex, of the same width everywhere. Where the surface hides it, it is faint.
    struct Line {
        std::uint32_t from, to;
        Rgb colour;
    };
    std::vector<Line> lines;
    Legend legend;
};

/// One joint's weight, 0..1, with lines at 0.25, 0.5 and 0.75. O(influences).
Paint paint_joint(const SkinWeights& weights, const Skeleton& skeleton, std::uint32_t joint);

/// Every joint has a colour (joint_colours); a vertex has the mean of its joints' by weight, in linear light; one
/// without weights is grey. The legend lists joints with weights, by falling weight. O(influences).
Paint paint_joints(const SkinWeights& weights, const Skeleton& skeleton);

/// The colour of the strongest joint, with borders where two interpolated weights are equal: triangles are cut
/// along them, exactly. O(T), and (joints of the triangle)² where it has a border.
Paint paint_strongest(const SkinWeights& weights, const Skeleton& skeleton, std::span<const Triangle> triangles);

/// The number of influences of a vertex; the largest number is the upper end of the bar. O(V).
Paint paint_influences(const SkinWeights& weights);

/// Defects of a mesh: triangles that intersect others in red, boundary edges and non-manifold edges as lines. The
/// legend has the number of each, including zeros. O(T).
Paint paint_defects(const Intersections& intersections, const DefectEdges& edges);

/// Any value per vertex, for example a distance or the L1 difference of two bindings. `low` < `high`: the ends of
/// the bar, beyond which values are clamped. Values that are not finite are grey. `lines`: about this number of
/// isolines, at round values; 0 = none.
Paint paint_values(std::vector<float> values, std::string title, Ramp ramp, double low, double high, int lines = 0);

/// Position of the camera: yaw 0, pitch 0 looks at the character's face (which looks along +z), yaw 90 at its
/// left side (+x), pitch 90 from above. Degrees. Parallel projection, y up.
struct Viewpoint {
    double yaw = 0, pitch = 0;
};
/// "front", "back", "left" (the character's), "right", "top", "three-quarter"; empty for any other word.
std::optional<Viewpoint> viewpoint(std::string_view name);

/// A ball on which the picture is framed, instead of everything that is shown.
struct Focus {
    Vec3 centre;        ///< after Panel::transform
    double radius = 0;  ///< scene units, > 0
};

/// Voxels to draw instead of a surface: boundary, interior, bone, and ambiguous ones if the grid keeps them
/// (VoxelizeOptions::keep_ambiguous), each in a colour; those that winding numbers put inside have another one than
/// those left outside. The cut is given as two fractions of the box of the occupied
/// voxels; only voxels between them are shown.
struct VoxelPanel {
    const VoxelGrid* grid = nullptr;
    std::span<const Bone> bones;              ///< may be empty; shown whole, cut or not
    std::array<double, 3> cut_from{0, 0, 0};  ///< 0..1, per axis
    std::array<double, 3> cut_to{1, 1, 1};    ///< greater than cut_from, to 1
};

/// One figure of a picture: a surface with a paint, or voxels.
struct Panel {
    std::string title;
    std::span<const Vec3> positions;      ///< V
    std::span<const Triangle> triangles;  ///< wound either way: both sides are lit
    const Paint* paint = nullptr;         ///< null: plain. Panels with the same legend share it
    std::optional<VoxelPanel> voxels;     ///< instead of positions, triangles and paint
    std::span<const Bone> bones;          ///< drawn over the figure, half seen through it; may be empty
    std::span<const Rgb> bone_colours;    ///< by Bone::joint; empty: one neutral colour
    Transform transform;                  ///< to a space where y is up and the face looks along +z; affine
    Viewpoint from;
    std::optional<Focus> focus;
};

enum class Background { light, dark };

/// A picture: panels in a grid, each titled, and a legend beside or below them.
struct Picture {
    static constexpr int min_side = 64, max_side = 8192;
    int width = 1600, height = 1200;  ///< pixels, min_side..max_side
    std::string title;                ///< above everything; may be empty
    std::vector<Panel> panels;        ///< at least one
    int columns = 0;                  ///< 0: as many as make the panels largest
    /// All panels that have no focus of their own get the same scale, so that sizes compare.
    bool same_scale = true;
    bool legend = true;
    Background background = Background::light;
};

/// Draws it: hemisphere and key light from the camera's side, ambient occlusion, four samples a pixel at twice the
/// size. The same bits on every run and on any number of threads, on one machine; another driver may differ in last
/// bits. Errors: a size out of range, no panel, arrays whose lengths do not fit, an index past the end, no OpenGL.
/// Time: about half a second per megapixel on two cores without a graphics card; memory some 400 bytes a vertex, 3
/// a pixel, and 150 MB for drawing in tiles, at any size.
Result<Image> render(const Picture& picture, Context* context = nullptr);

}  // namespace sinew
