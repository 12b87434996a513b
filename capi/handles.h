// The objects behind the handles of sinew.h, and the one place where exceptions are caught.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "sinew.h"
#include "sinew/binding.h"
#include "sinew/io.h"

struct snw_bytes {
    std::string text;  // zero-terminated
};

struct snw_context {
    snw_context();

    sinew::Context context;
    bool follow_links = false;
    snw_progress progress = nullptr;
    void* user = nullptr;
    snw_log log = nullptr;
    void* log_user = nullptr;
    std::atomic<double> fraction = 0;     // of the whole call
    std::array<double, 2> pass = {0, 1};  // the part of the call that runs now, see Progressing
    std::array<double, 2> next_pass = {0, 1};
    double reached = 0;  // where its last stage began, on the scale of all stages
};

struct snw_settings {
    sinew::BindOptions bind;
    sinew::DeformOptions deform;
    sinew::io::SaveOptions save;
    bool keep_volume = false;  // not in `bind`, whose preset a method would set
};

struct MeasuredDefects {
    sinew::Intersections intersections;
    std::size_t nonmanifold_vertices = 0;
};

struct snw_model {
    sinew::io::Scene scene;   // its skeleton: with joint options; which joints deform is a value of each call
    sinew::Skeleton as_read;  // without joint options
    sinew::io::ShadingFrames frames;
    sinew::io::Look look;
    std::vector<sinew::io::Prop> props;
    std::string name;
    std::optional<sinew::Vec3> up;                            // of a model from arrays, where it was given
    std::vector<bool> kept_vertices;                          // of snw_model_select; empty: none
    std::vector<bool> locked_joints;                          // the same
    mutable std::mutex measuring;                             // of what is kept below
    mutable std::shared_ptr<const MeasuredDefects> measured;  // result of snw_defects
    mutable std::string edits_text;                           // the last list of snw_weights_in_pose
    mutable std::shared_ptr<const sinew::Adjustments> edits;  // what it says
    mutable std::atomic<int> binds = 0;  // that read the model now; below 0: it is being changed
};

struct snw_binding {
    sinew::Binding binding;
};

struct snw_weights {
    sinew::SkinWeights weights;
};

namespace sinew::capi {

/// Stores the message for snw_error and returns the status.
snw_status fail(const Error& error) noexcept;
/// The same with a constant text and without an allocation: memory may be full.
snw_status fail(ErrorCode code, const char* constant) noexcept;
snw_status out_of_memory() noexcept;
snw_status missing(const char* what) noexcept;

inline Context* context_of(snw_context* context) { return context ? &context->context : nullptr; }

inline snw_bytes* new_text(std::string text) { return new snw_bytes{std::move(text)}; }

/// The lines as one text.
std::string lines(const std::vector<std::string>& list);

/// Gives warnings to the log of the context, one of each kind.
void tell(const snw_context* context, const std::vector<std::string>& warnings);

/// A struct of options that begins with its size, of a program that was compiled with an earlier or later header.
template <typename Options>
Result<Options> given(const Options* options) {
    Options out{};
    if (!options) return out;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(options);
    if (options->size < sizeof(size_t) || options->size > 4096)
        return Error{ErrorCode::usage, "options: size is " + std::to_string(options->size) +
                                           ": it must be the size of the struct (sizeof)"};
    if (std::any_of(bytes + std::min(sizeof out, options->size), bytes + options->size,
                    [](auto b) { return b != 0; }))
        return Error{ErrorCode::usage, "options: they have members that this version of sinew does not know"};
    std::memcpy(&out, options, std::min(sizeof out, options->size));
    return out;
}

/// Progress over all stages of a call: sets snw_context::fraction to 0, and at the end, if it succeeds, to 1.
/// passes: the call may run the stages twice, first at a low resolution.
class Progressing {
public:
    explicit Progressing(snw_context* context, bool passes = false);
    Status done() const {
        if (context_) context_->fraction = 1;
        return Done{};
    }

private:
    snw_context* context_;
};

snw_status unexpected(const std::exception& error) noexcept;

/// Runs the body of a call: it returns a Status and may throw.
template <typename Body>
snw_status guarded(Body&& body) noexcept {
    try {
        const Status outcome = body();
        return outcome ? SNW_OK : fail(outcome.error());
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::exception& error) {
        return unexpected(error);
    } catch (...) {
        return fail(ErrorCode::internal, "an unknown exception was thrown");
    }
}

/// The skeleton with the joints that deform, from the settings and the weights of the file.
Result<Skeleton> selected(const snw_model& model, const snw_settings* settings);

/// As long as it lives, a bind reads the model, or a call changes it. These exclude each other.
class ModelUse {
public:
    enum Kind { reads, changes };
    ModelUse(const snw_model& model, Kind kind);
    ModelUse(const ModelUse&) = delete;
    ~ModelUse();
    /// An error if the other kind is in progress, in another thread or in the call that runs this callback.
    const Status& allowed() const { return allowed_; }

private:
    const snw_model& model_;
    Kind kind_;
    Status allowed_ = Done{};
};

/// What snw_defects has measured; null: nothing yet.
inline std::shared_ptr<const MeasuredDefects> measured_of(const snw_model& model) {
    const std::lock_guard lock(model.measuring);
    return model.measured;
}

/// A pose in the format of sinew.h: ten numbers a joint.
constexpr std::size_t kPoseNumbers = 10;
std::vector<JointPose> read_pose(const double* numbers, std::size_t joints);

/// Joint matrices in the format of sinew.h.
std::vector<Transform> transforms_of(const double* matrices, std::size_t joints);

/// The up direction in bind space, for standard poses.
Vec3 up_of(const snw_model& model);

/// Sets the flags of `to` that are set in `from`.
inline void add_flags(std::vector<bool>& to, const std::vector<bool>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
        if (from[i]) to[i] = true;
}

/// Checks that the weights belong to this model; the error gives both numbers of vertices.
Status fits(const snw_model& model, const SkinWeights& weights);

}  // namespace sinew::capi
