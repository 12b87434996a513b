// Pictures of a character, and whether its skin is fit to ship. Not in the page's module.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/try.h"
#include "handles.h"
#include "picture/draw_character.h"
#include "report/check_report.h"
#include "report/report.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

Error usage(std::string message) { return {ErrorCode::usage, std::move(message)}; }

/// Lines, or words, of a text that may be null.
std::vector<std::string> split(const char* text, char at) {
    std::vector<std::string> out;
    std::string_view rest(text ? text : "");
    while (!rest.empty()) {
        const std::string_view part = rest.substr(0, rest.find(at));
        if (!part.empty()) out.emplace_back(part);
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    return out;
}

/// "front", or "30,15"
Status add_view(const std::string& word, PictureRequest& request) {
    if (const std::optional<Viewpoint> known = viewpoint(word)) {
        request.from.emplace_back(word, *known);
        return Done{};
    }
    const auto number = [](std::string_view text) {
        double value = NAN;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && end == text.data() + text.size() ? value : NAN;
    };
    const std::size_t comma = word.find(',');
    const double yaw = number(std::string_view(word).substr(0, comma));
    const double pitch = comma == std::string::npos ? 0 : number(std::string_view(word).substr(comma + 1));
    if (!(std::abs(yaw) <= 360) || !(std::abs(pitch) <= 90))
        return usage("from " + printable(word) +
                     ": choose front, back, left, right, top or three-quarter, or give yaw,pitch in degrees");
    request.from.push_back(titled_view(yaw, pitch));
    return Done{};
}

Status read_look(const snw_render_options& o, Picture& look) {
    if (o.width) look.width = o.width;
    if (o.height) look.height = o.height;
    if (std::min(look.width, look.height) < Picture::min_side ||
        std::max(look.width, look.height) > Picture::max_side)
        return usage("width and height must be within " + std::to_string(Picture::min_side) + " to " +
                     std::to_string(Picture::max_side) + " pixels");
    if (o.columns < 0 || o.columns > 64) return usage("columns must be from 0 to 64");
    look.columns = o.columns;
    look.title = o.title ? o.title : "";
    look.legend = !o.no_legend;
    look.background = o.dark ? Background::dark : Background::light;
    return Done{};
}

Status read_joints(const snw_render_options& o, std::size_t count, PictureRequest& request) {
    if (o.joint_count && !o.joints) return usage("joints must not be null where joint_count is not 0");
    request.joints.assign(o.joints, o.joints + o.joint_count);
    if (of_joint(request.view) && request.joints.empty())
        return usage("the views joint, distance and heat need joints");
    if (!of_joint(request.view) && !request.joints.empty())
        return usage("joints are for the views joint, distance and heat (zoom frames a joint in any view)");
    if (o.zoom) request.zoom = *o.zoom;
    for (const std::uint32_t j : request.joints)
        if (j >= count) return usage("joint " + std::to_string(j) + ": there are " + std::to_string(count));
    if (request.zoom && *request.zoom >= count)
        return usage("zoom on joint " + std::to_string(*request.zoom) + ": there are " + std::to_string(count));
    return Done{};
}

Status read_pose(const snw_render_options& o, const snw_model& model, PictureRequest& request) {
    request.sheet = o.sheet != 0;
    if (o.skinning != SNW_LINEAR_BLEND && o.skinning != SNW_DUAL_QUATERNION)
        return usage("skinning must be SNW_LINEAR_BLEND or SNW_DUAL_QUATERNION");
    request.skinning = o.skinning == SNW_LINEAR_BLEND ? Skinning::linear_blend : Skinning::dual_quaternion;
    if (request.view == PictureView::voxels && (o.sheet || o.matrices))
        return usage("voxels are shown in the bind pose: remove matrices and sheet");
    if (!o.matrices) return Done{};
    if (o.sheet) return usage("sheet shows the standard poses: remove matrices");
    SINEW_TRY_LET(io::ScenePose at, rest_of(model.scene, model.up));
    at.skinning = transforms_of(o.matrices, model.scene.skeleton.joints.size());
    request.pose = {o.pose_name ? o.pose_name : "pose", std::move(at)};
    return Done{};
}

Status read(const snw_render_options& o, const snw_model& model, PictureRequest& request) {
    request.input = model.name;
    request.up = model.up;
    const std::string_view view = o.view ? o.view : "joints";
    const auto row =
        std::find_if(kPictureViews.begin(), kPictureViews.end(), [&](auto& r) { return r.first == view; });
    if (row == kPictureViews.end()) {
        std::vector<std::string> known;
        for (const auto& [word, meaning] : kPictureViews) known.emplace_back(word);
        return usage("there is no view '" + printable(view) + "'" + did_you_mean(view, known));
    }
    request.view = row->second;
    SINEW_TRY(read_look(o, request.look));
    SINEW_TRY(read_joints(o, model.scene.skeleton.joints.size(), request));
    for (const std::string& word : split(o.from, ' ')) SINEW_TRY(add_view(word, request));
    request.overlay = o.overlay != 0;
    if (o.resolution) request.resolution = o.resolution;
    if (o.cut) {
        if (request.view != PictureView::voxels) return usage("cut needs the view voxels");
        for (std::size_t k = 0; k < 3; ++k)
            if (!(o.cut[k] > 0 && o.cut[k] <= 1)) return usage("each number of cut must be above 0, to 1");
        std::copy_n(o.cut, 3, request.cut.begin());
    }
    return read_pose(o, model, request);
}

}  // namespace

extern "C" {

snw_status snw_check_json(const snw_model* model, const snw_weights* weights, const snw_check_options* options,
                          snw_context* context, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(const snw_check_options asked, given(options));
        SkinCheckOptions o;
        if (asked.bleed_resolution) o.bleed_resolution = asked.bleed_resolution;
        if (asked.profile && *asked.profile) SINEW_TRY(take_profile(asked.profile, o));
        if (asked.thresholds && *asked.thresholds) SINEW_TRY(take_thresholds(asked.thresholds, "thresholds", o));
        SINEW_TRY(take_rules(split(asked.only, '\n'), split(asked.skip, '\n'), o));
        if (!weights && !model->scene.weights)
            return Error{ErrorCode::usage, model->name + ": it has no weights to check"};
        CheckRun run;
        run.input = model->name;
        run.profile = asked.profile ? asked.profile : "";
        run.weights = weights ? &weights->weights : &*model->scene.weights;
        SINEW_TRY(fits(*model, *run.weights));
        io::Scene scene = model->scene;
        scene.skeleton = model->as_read;
        run.scene = &scene;
        const Progressing progress(context);
        SINEW_TRY_LET(run.findings, check_scene(scene, *run.weights, !weights, o, model->up, context_of(context)));
        run.judge(asked.strict != 0);
        *out = new_text(compact_text(make_check_report(run)));
        return progress.done();
    });
}

snw_status snw_render_png(const snw_model* model, const snw_weights* weights, const snw_render_options* options,
                          snw_context* context, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        PictureRequest request;
        SINEW_TRY_LET(const snw_render_options asked, given(options));
        SINEW_TRY(read(asked, *model, request));
        if (weights) SINEW_TRY(fits(*model, weights->weights));
        io::Scene scene = model->scene;
        if (weights) scene.weights = weights->weights;
        if (!scene.weights && (needs_weights(request.view) || request.posed()))
            return usage(model->name + ": it has no weights to show");
        const Progressing progress(context);
        SINEW_TRY_LET(const DrawnPicture drawn, draw_character(std::move(scene), request, {}, context_of(context)));
        SINEW_TRY_LET(const std::vector<std::byte> png, encode_png(drawn.image));
        *out = new_text({reinterpret_cast<const char*>(png.data()), png.size()});
        return progress.done();
    });
}

}  // extern "C"
