// Sequences of calls of the C interface: handles of other models, null handles, odd sizes, and a cancel from
// another thread. Freed handles are not used. Each call must return a status, and results only with SNW_OK.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "require.h"
#include "sinew.h"
#include "sinew/io.h"

namespace {

using namespace sinew;

/// Two small models of different sizes as GLB, and one without a skin.
const std::vector<std::vector<std::byte>>& models() {
    static const std::vector<std::vector<std::byte>> made = [] {
        std::vector<std::vector<std::byte>> out;
        for (const std::uint32_t rings : {3u, 5u}) {
            std::vector<Vec3> positions;
            std::vector<Triangle> triangles;
            for (std::uint32_t r = 0; r < rings; ++r)
                for (int s = 0; s < 3; ++s)
                    positions.push_back({s == 1 ? 0.3f : 0, static_cast<float>(r) / static_cast<float>(rings - 1),
                                         s == 2 ? 0.3f : 0});
            for (std::uint32_t r = 0; r + 1 < rings; ++r)
                for (std::uint32_t s = 0; s < 3; ++s) {
                    const std::uint32_t a = 3 * r + s, b = 3 * r + (s + 1) % 3;
                    triangles.push_back({a, b, b + 3});
                    triangles.push_back({a, b + 3, a + 3});
                }
            Skeleton skeleton;
            skeleton.joints.resize(rings - 1);
            for (std::uint32_t j = 0; j + 1 < rings; ++j) {
                skeleton.joints[j].name = "joint" + std::to_string(j);
                skeleton.joints[j].parent = static_cast<int>(j) - 1;
                skeleton.joints[j].position = {0.1f, static_cast<float>(j) / static_cast<float>(rings), 0.1f};
            }
            const auto scene = io::make_scene(positions, triangles, skeleton, "fuzz");
            const auto weights = SkinWeights::from_rows(std::vector<std::uint32_t>(positions.size(), 1),
                                                        std::vector<Influence>(positions.size(), {0, 1.0f}));
            out.push_back(*io::save_glb_bytes(*scene, *weights));
        }
        return out;
    }();
    return made;
}

/// The fuzzer's bytes; zeros after their end.
class Reader {
public:
    Reader(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
    bool done() const { return at_ == end_; }
    std::uint8_t byte() { return at_ < end_ ? *at_++ : std::uint8_t{0}; }
    std::string text() {
        std::string out(byte() % 24, ' ');
        for (char& c : out) c = static_cast<char>(byte());
        return out;
    }

private:
    const std::uint8_t *at_, *end_;
};

/// Handles of one kind. Rarely null is chosen.
template <typename T, void (*Free)(T*)>
class Handles {
public:
    ~Handles() {
        for (T* handle : all_) Free(handle);
    }
    T* any(Reader& in) const {
        const std::uint8_t which = in.byte();
        return all_.empty() || which % 16 == 15 ? nullptr : all_[which % all_.size()];
    }
    /// Keeps the result of a call: there is one exactly if the call succeeded.
    void take(snw_status status, T* handle) {
        require((status == SNW_OK) == (handle != nullptr), "a status that contradicts its result");
        require(status == SNW_OK || *snw_error() != 0, "a failure without a message");
        require(status != SNW_INTERNAL, std::string("internal error: ") + snw_error());
        if (!handle) return;
        if (all_.size() == 8) {
            Free(all_.front());
            all_.erase(all_.begin());
        }
        all_.push_back(handle);
    }

private:
    std::vector<T*> all_;
};

void check(snw_status status) {
    require(status == SNW_OK || *snw_error() != 0, "a failure without a message");
    require(status != SNW_INTERNAL, std::string("internal error: ") + snw_error());
}

constexpr const char* kNames[] = {
    "method",           "resolution",    "falloff",     "max-influences", "domain",  "as-published",
    "local-resolution", "weight-format", "deform-from", "exclude",        "include", "power",
    "overshoot",        "rings",         "neighbours",  "fit-check",      "penalty", "no such option"};
constexpr const char* kValues[] = {"32",
                                   "auto",
                                   "0.3",
                                   "on",
                                   "off",
                                   "geodesic-voxel",
                                   "surface-heat",
                                   "voxel-heat",
                                   "all",
                                   "4",
                                   "nan",
                                   "-1",
                                   "u8",
                                   "closest-distance",
                                   "joint1",
                                   "uniform",
                                   "names",
                                   "",
                                   "1e30",
                                   "skin",
                                   "bounded-biharmonic",
                                   "bone-heat"};

struct Session {
    Handles<snw_model, snw_model_free> models;
    Handles<snw_settings, snw_settings_free> settings;
    Handles<snw_binding, snw_binding_free> bindings;
    Handles<snw_weights, snw_weights_free> weights;
    Handles<snw_context, snw_context_free> contexts;
    Handles<snw_bytes, snw_bytes_free> texts;

    /// One call of those that make something.
    void make(Reader& in) {
        snw_bytes* text = nullptr;
        switch (in.byte() % 9) {
            case 0: {
                const auto& bytes = ::models()[in.byte() % ::models().size()];
                const std::size_t cut = in.byte() % 8 == 7 ? in.byte() : 0;
                const std::size_t size = bytes.size() - std::min(cut, bytes.size());
                snw_model* model = nullptr;
                snw_open_options options = {};
                options.size = sizeof options;
                const std::string skeleton = in.byte() % 4 == 0 ? in.text() : std::string();
                if (!skeleton.empty()) options.skeleton = skeleton.data(), options.skeleton_size = skeleton.size();
                if (in.byte() % 4 == 0) options.skeleton_scale = (in.byte() - 64.0) / 16;
                options.prop = in.byte() % 2;
                const snw_status status =
                    in.byte() % 2
                        ? snw_model_open(bytes.data(), size, "fuzz.glb", nullptr, nullptr, 0, nullptr, &model)
                        : snw_model_open_with(bytes.data(), size, "fuzz.glb", in.byte() % 8 ? &options : nullptr,
                                              contexts.any(in), &model);
                return models.take(status, model);
            }
            case 1: {
                snw_settings* made = nullptr;
                const snw_status status = snw_settings_new(&made);
                if (made) check(snw_settings_set(made, "resolution", "32"));
                return settings.take(status, made);
            }
            case 2: {
                snw_context* made = nullptr;
                const snw_status status = snw_context_new(&made);
                snw_context_threads(made, 1 + in.byte() % 2);
                return contexts.take(status, made);
            }
            case 3: {
                snw_binding* made = nullptr;
                snw_context* const context = contexts.any(in);
                const bool cancels = context && in.byte() % 4 == 0;
                std::thread other;
                if (cancels) other = std::thread([context] { snw_cancel(context); });
                const snw_status status = snw_bind(models.any(in), settings.any(in), context, &made);
                if (cancels) other.join();
                if (context) snw_uncancel(context);
                return bindings.take(status, made);
            }
            case 4: {
                snw_weights* made = nullptr;
                const std::string edits = in.byte() % 4 == 0 ? in.text() : std::string();
                const snw_status status =
                    snw_weights_of(bindings.any(in), models.any(in), settings.any(in), edits.data(), edits.size(),
                                   contexts.any(in), in.byte() % 2 ? &text : nullptr, &made);
                if (text) texts.take(SNW_OK, text);
                return weights.take(status, made);
            }
            case 5: {
                snw_weights* made = nullptr;
                const snw_status status = snw_model_weights(models.any(in), &made);
                return weights.take(status, made);
            }
            case 6: {
                snw_binding* made = nullptr;
                const snw_status status = snw_binding_copy(bindings.any(in), &made);
                return bindings.take(status, made);
            }
            case 7:
                return paint(in);
            default: {
                snw_settings* const which = settings.any(in);
                const std::string own = in.byte() % 8 == 0 ? in.text() : kValues[in.byte() % std::size(kValues)];
                return check(snw_settings_set(which, kNames[in.byte() % std::size(kNames)], own.c_str()));
            }
        }
    }

    /// Edits of weights one by one, some of them wrong, and back again.
    void paint(Reader& in) {
        snw_painting* made = nullptr;
        const snw_status begun =
            snw_painting_new(models.any(in), weights.any(in), settings.any(in), nullptr, 0, &made);
        const std::unique_ptr<snw_painting, decltype(&snw_painting_free)> painting(made, &snw_painting_free);
        require((begun == SNW_OK) == (made != nullptr), "a status that contradicts its result");
        check(begun);
        std::size_t edits = 0;
        for (int k = 0; k < 6 && !in.done(); ++k) {
            const auto number = [&](double unit) { return std::to_string((in.byte() - 8) * unit); };
            const char* ops[] = {"set", "add", "scale", "smooth", "relax", "sharpen", "replace", "mirror"};
            const std::string joint = "\"joint" + std::to_string(in.byte() % 5) + "\"";
            const std::string edit =
                std::string("{\"op\":\"") + ops[in.byte() % 8] + "\"" +
                (in.byte() % 2 ? ",\"joint\":" + joint : ",\"joints\":" + joint) +
                (in.byte() % 2 ? ",\"value\":" + number(0.01) : "") +
                (in.byte() % 2 ? ",\"length\":" + number(0.01) + ",\"steps\":" + number(1) : "") +
                (in.byte() % 4 ? "" : ",\"locked\":" + joint + ",\"symmetric\":true") +
                ",\"select\":{\"brush\":{\"points\":[[" + number(0.1) + "," + number(0.1) +
                ",0]],\"radius\":" + number(0.05) + "}}}";
            std::size_t changed = 0;
            const bool again = in.byte() % 2;
            const snw_status status =
                snw_painting_apply(made, edit.data(), edit.size(), again, contexts.any(in), &changed, nullptr);
            check(status);
            if (status == SNW_OK) edits += !again || edits == 0;
            std::vector<std::uint16_t> joints(4 * changed + 4);
            std::vector<float> shares(4 * changed + 4);
            check(snw_painting_rows(made, 4, joints.data(), shares.data()));
            require(status != SNW_OK || snw_painting_edits(made) == edits, "another number of edits");
            if (status != SNW_OK) edits = snw_painting_edits(made);
            if (in.byte() % 4 == 0) {
                check(snw_painting_rebase(made, weights.any(in), contexts.any(in), &changed));
                require(snw_painting_edits(made) == edits, "another number of edits");
            }
        }
        snw_weights* now = nullptr;
        const snw_status status = snw_painting_weights(made, &now);
        weights.take(status, now);
        while (edits-- > 0) check(snw_painting_undo(made, nullptr));
    }

    /// One call of those that read.
    void read(Reader& in) {
        snw_bytes* text = nullptr;
        snw_model* const model = models.any(in);
        std::size_t vertices = 0, triangles = 0, joints = 0;
        snw_model_size(model, &vertices, &triangles, &joints);
        // As large as for the largest model: the sizes are those of `model`, the weights may be of another.
        std::vector<float> numbers(64 * 64);
        std::vector<double> poses(64 * 12, 0.5);
        switch (in.byte() % 13) {
            case 0: {
                const snw_status status = snw_binding_report(bindings.any(in), model, settings.any(in), &text);
                return texts.take(status, text);
            }
            case 1: {
                const snw_status status = snw_model_json(model, settings.any(in), contexts.any(in), &text);
                return texts.take(status, text);
            }
            case 2:
                return check(snw_deform(model, weights.any(in), poses.data(), in.byte() % 4 - 1, contexts.any(in),
                                        numbers.data(), nullptr));
            case 3: {
                std::vector<std::uint16_t> rows(64 * 64);
                return check(snw_weights_rows(weights.any(in), in.byte() % 40, rows.data(), numbers.data()));
            }
            case 4:
                return check(snw_weights_joint(weights.any(in), in.byte() % 2 ? in.byte() : ~std::size_t{0},
                                               numbers.data()));
            case 5:
                return check(snw_weights_difference(weights.any(in), weights.any(in), numbers.data()));
            case 6: {
                const snw_status status = snw_save_glb(model, weights.any(in), settings.any(in), nullptr, &text);
                return texts.take(status, text);
            }
            case 7: {
                const snw_status status = snw_save_json(model, weights.any(in), &text);
                return texts.take(status, text);
            }
            case 8:
                return check(
                    snw_distances(model, settings.any(in), in.byte() % 6, contexts.any(in), numbers.data()));
            case 9: {
                const snw_status status =
                    snw_volume(model, settings.any(in), in.byte() * 64u, contexts.any(in), &text);
                return texts.take(status, text);
            }
            case 10: {
                const std::string options = in.text();
                return check(snw_model_joint_options(model, options.data(), options.size()));
            }
            case 11: {
                snw_bytes* skeleton = nullptr;
                const char* const names[] = {"biped", "quadruped", "bird", "spider",
                                             "fish",  "snake",     "hand", "none"};
                const snw_status status = snw_rig(model, in.byte() % 8 ? names[in.byte() % 8] : nullptr, 32,
                                                  contexts.any(in), in.byte() % 2 ? &text : nullptr, &skeleton);
                if (text) texts.take(status, text);
                return texts.take(status, skeleton);
            }
            default:
                return check(snw_pose_matrices(model, poses.data(), poses.data() + 320));
        }
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Reader in(data, size);
    Session session;
    // One of each, so that most calls have something to work on.
    for (const auto start : std::array<std::uint8_t, 4>{0, 0, 1, 2}) {
        const std::uint8_t bytes[] = {start, static_cast<std::uint8_t>(start == 0 && in.byte() % 2)};
        Reader fixed(bytes, sizeof bytes);
        session.make(fixed);
    }
    for (int calls = 0; calls < 24 && !in.done(); ++calls)
        if (in.byte() % 2)
            session.make(in);
        else
            session.read(in);
    return 0;
}
