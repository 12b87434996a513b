// The picture of a character that `sinew render` draws, for the command line and the C interface.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/deform.h"
#include "sinew/io.h"
#include "sinew/render.h"

namespace sinew {

enum class PictureView { joints, joint, strongest, influences, distance, heat, voxels, defects, surface };

/// The words of `sinew render --view` and of snw_render_options, in the order of the help.
inline constexpr std::array<std::pair<std::string_view, PictureView>, 9> kPictureViews{{
    {"joints", PictureView::joints},
    {"joint", PictureView::joint},
    {"strongest", PictureView::strongest},
    {"influences", PictureView::influences},
    {"distance", PictureView::distance},
    {"heat", PictureView::heat},
    {"voxels", PictureView::voxels},
    {"defects", PictureView::defects},
    {"surface", PictureView::surface},
}};

bool needs_weights(PictureView view);
/// Views of PictureRequest::joints.
bool of_joint(PictureView view);

/// How voxels are shown if their views disagree.
enum class Ambiguous {
    marked,   ///< all of them, in their own colours
    settled,  ///< as interior if winding numbers put them inside
    outside,  ///< not at all: the vote alone leaves them outside
};

/// A pose to show beside the bind pose.
struct PicturePose {
    std::string name;
    io::ScenePose at;
};

struct PictureRequest {
    std::string input;  ///< for messages
    PictureView view = PictureView::joints;
    std::vector<std::uint32_t> joints;                    ///< a panel each
    std::optional<std::uint32_t> zoom;                    ///< frames this joint and its descendants
    std::vector<std::pair<std::string, Viewpoint>> from;  ///< empty: as the view and the poses suggest
    std::vector<std::pair<std::string, Ambiguous>> ambiguous{{"", Ambiguous::marked}};  ///< titles; a panel each
    std::array<double, 3> cut{1, 1, 1};                                                 ///< VoxelPanel::cut_to
    bool overlay = false;                                                               ///< bones over the skin
    bool sheet = false;    ///< all standard poses of the skeleton
    int resolution = 256;  ///< voxels along the longest side
    std::optional<PicturePose> pose;
    Skinning skinning = Skinning::linear_blend;
    std::optional<Vec3> up;  ///< of a scene without a file; else y
    Picture look;            ///< size, title, columns, legend, background

    bool posed() const { return sheet || pose.has_value(); }
};

/// A direction in degrees, with its title in the picture.
std::pair<std::string, Viewpoint> titled_view(double yaw, double pitch);

struct DrawnPicture {
    Image image;
    std::size_t panels = 0;
};

/// Draws the scene with its weights. It selects the joints that deform, as bind does. `stage`, which may be empty,
/// is told the names of stages. Time and errors: those of render, and of the bind's volume for some views.
Result<DrawnPicture> draw_character(io::Scene scene, const PictureRequest& request,
                                    const std::function<void(const char*)>& stage, Context* context);

/// Where the file's nodes put the character at rest; without a file, the bind pose with `up` (else y) upwards.
Result<io::ScenePose> rest_of(const io::Scene& scene, const std::optional<Vec3>& up);

}  // namespace sinew
