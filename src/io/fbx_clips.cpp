// Curves of FBX: a value and a way to the next key: a step, a line, or a cubic whose tangents are stated, or follow
// from the keys around. Version 6 lists the same in takes (KeyVer 4002 to 4005), later ones in objects.
#include "io/fbx_clips.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

constexpr double kMostSeconds = 1e7;  // from the time 0: keys beyond are damaged

/// Bits of KeyAttrFlags.
enum : std::uint32_t {
    kConstant = 0x2,
    kLinear = 0x4,
    kCubic = 0x8,
    kNext = 0x100,  // of a constant: the value of the next key
    kAuto = 0x100,
    kTcb = 0x200,
    kClamp = 0x1000,
    kTimeIndependent = 0x2000,
    kClampProgressive = 0x4000,
    kWeightedRight = 0x1000000,
    kWeightedNextLeft = 0x2000000,
};

struct FbxKey {
    double time = 0, value = 0;
    std::uint32_t flags = kLinear;
    /// From this key, and at the next one. Of kTcb: tension and continuity, and bias.
    double slope = 0, next_slope = 0, bias = 0;
    double weight = 1.0 / 3, next_weight = 1.0 / 3;  ///< lengths of the tangents, as shares of the time between
};

class FbxCurve {
public:
    FbxCurve() = default;
    /// Keys with times that do not ascend are left out.
    explicit FbxCurve(std::vector<FbxKey> keys) {
        for (FbxKey& key : keys)
            if (std::abs(key.time) < kMostSeconds && std::isfinite(key.value) &&
                (keys_.empty() || key.time > keys_.back().time))
                keys_.push_back(key);
        std::vector<double> left(keys_.size()), right(keys_.size());
        for (std::size_t k = 0; k < keys_.size(); ++k) tangents(k, left[k], right[k]);
        for (std::size_t k = 0; k < keys_.size(); ++k) {
            // Where a key states its own slopes, it also states that on the left of the next.
            if (k > 0 && automatic(keys_[k - 1])) keys_[k - 1].next_slope = left[k];
            if (automatic(keys_[k])) keys_[k].slope = right[k];
        }
    }

    const std::vector<FbxKey>& keys() const { return keys_; }

    /// passed: the number of keys up to this time, or of fewer of them, as after the call for an earlier time.
    double at(double time, std::size_t& passed) const {
        while (passed < keys_.size() && keys_[passed].time <= time) ++passed;
        if (passed == 0) return keys_.front().value;
        const FbxKey& a = keys_[passed - 1];
        if (passed == keys_.size()) return a.value;
        const FbxKey& b = keys_[passed];
        const double span = b.time - a.time, x = (time - a.time) / span;
        if (x == 0) return a.value;
        if (a.flags & kConstant) return a.flags & kNext ? b.value : a.value;
        if (!(a.flags & kCubic)) return a.value + x * (b.value - a.value);
        // Bézier: first the parameter at which the curve is at this time.
        const double from = a.weight, to = 1 - a.next_weight;
        const auto bezier = [](double u, double p1, double p2, double p3) {
            const double v = 1 - u;
            return u * (3 * v * (v * p1 + u * p2) + u * u * p3);
        };
        double u = x, low = 0, high = 1;
        for (int step = 0; step < 60 && high - low > 1e-15; ++step) {
            const double gap = bezier(u, from, to, 1) - x;
            if (std::abs(gap) < 1e-14) break;
            (gap > 0 ? high : low) = u;
            u = (low + high) / 2;
        }
        return a.value + bezier(u, a.slope * a.weight * span,
                                b.value - a.value - a.next_slope * a.next_weight * span, b.value - a.value);
    }

private:
    /// Whether its slopes follow from its neighbours.
    static bool automatic(const FbxKey& key) { return key.flags & kCubic && key.flags & (kAuto | kTcb); }

    /// Slopes on both sides of a key: stated, or 0 at the ends, or from its neighbours.
    void tangents(std::size_t k, double& left, double& right) const {
        left = right = automatic(keys_[k]) ? 0 : keys_[k].slope;
        if (!automatic(keys_[k]) || k == 0 || k + 1 == keys_.size()) return;
        const FbxKey &before = keys_[k - 1], &key = keys_[k], &after = keys_[k + 1];
        const double span_left = key.time - before.time, span_right = after.time - key.time;
        const double rise_left = key.value - before.value, rise_right = after.value - key.value;
        const double chord_left = rise_left / span_left, chord_right = rise_right / span_right;
        if (key.flags & kTcb) {  // Kochanek and Bartels 1984
            const double t = (1 - key.slope) / 2, c = key.next_slope, b = key.bias;
            left = t * ((1 - c) * (1 + b) * chord_left + (1 + c) * (1 - b) * chord_right);
            right = t * ((1 + c) * (1 + b) * chord_left + (1 - c) * (1 - b) * chord_right);
            return;
        }
        double slope = (rise_left + rise_right) / (span_left + span_right);
        if (!(key.flags & kTimeIndependent)) {
            const double share = span_left / (span_left + span_right);
            slope = (slope + chord_left * (1 - share) + chord_right * share) / 2;
        }
        if (key.flags & kClampProgressive) {  // the tangent does not pass the values of its neighbours
            const double sign = slope < 0 ? -1 : 1;
            const double most = std::min(std::max(0.0, sign * rise_left / (before.next_weight * span_left)),
                                         std::max(0.0, sign * rise_right / (key.weight * span_right)));
            slope = sign * std::min(std::abs(slope), most);
        } else if (key.flags & kClamp && std::min(std::abs(rise_left), std::abs(rise_right)) < 1e-6) {
            slope = 0;
        }
        left = right = slope;
    }

    std::vector<FbxKey> keys_;
};

/// A curve of one number of a model: of its translation, rotation or scale.
struct FbxChannel {
    std::size_t node = 0, which = 0, axis = 0;
    FbxCurve curve;
};

struct FbxTake {
    std::string name;
    double start = 0, stop = 0;  ///< seconds; both 0 where the file does not say
    std::vector<FbxChannel> channels;
};

class FbxClipReader {
public:
    FbxClipReader(const FbxObjects& objects, FbxNodes& nodes, ModelFiles& files, std::vector<std::string>& warnings)
        : objects_(objects), file_(objects.file()), nodes_(nodes), files_(files), warnings_(warnings) {}

    Result<std::vector<ForeignClip>> read() {
        SINEW_TRY(read_stacks());
        if (takes_.empty()) SINEW_TRY(read_takes());
        if (shapes_) warnings_.push_back("animations of shapes are left out");
        std::vector<std::vector<double>> times;
        for (const FbxTake& take : takes_) {
            times.push_back(times_of(take));
            std::vector<FbxTransform> now = nodes_.rest();
            const bool scales = std::any_of(now.begin(), now.end(), skips_scale) &&
                                std::any_of(take.channels.begin(), take.channels.end(),
                                            [](const FbxChannel& channel) { return channel.which == 2; });
            std::vector<std::size_t> passed(take.channels.size(), 0);
            for (std::size_t k = 0; scales && k < times.back().size(); ++k) {
                for (std::size_t c = 0; c < passed.size(); ++c)
                    if (take.channels[c].which == 2) move(take.channels[c], times.back()[k], passed[c], now);
                nodes_.mark_compensated(now);
            }
        }
        std::vector<ForeignClip> out;
        for (std::size_t t = 0; t < takes_.size(); ++t) {
            if (times[t].empty()) continue;
            SINEW_TRY_LET(ForeignClip clip, sample(takes_[t], times[t]));
            out.push_back(std::move(clip));
        }
        return out;
    }

private:
    /// A node of the result, as a take moves it.
    struct Track {
        std::size_t node = 0;
        std::array<bool, 3> stated{};  ///< translation, rotation, scale: the take has curves of it
        std::array<std::vector<float>, 3> values;
        Trs rest;
    };

    Result<ForeignClip> sample(const FbxTake& take, const std::vector<double>& times) {
        const std::vector<std::size_t> numbers = nodes_.numbers();
        std::vector<std::array<bool, 3>> stated(nodes_.nodes.size());
        bool scales = false;
        for (const FbxChannel& channel : take.channels) {
            stated[channel.node][channel.which] = true;
            scales = scales || channel.which == 2;
        }
        std::vector<FbxTransform> now = nodes_.rest();
        const std::vector<FbxLocal> rest = nodes_.place(now);
        std::vector<Track> tracks;
        std::vector<std::pair<std::size_t, bool>> of;  // node, and whether it is its node of compensation
        for (std::size_t n = 1; n < nodes_.nodes.size(); ++n) {
            const bool moved = stated[n][0] || stated[n][1] || stated[n][2];
            if (!moved && !(scales && skips_scale(now[n]))) continue;
            if (rest[n].compensation) {
                of.emplace_back(n, true);
                tracks.push_back({numbers[n] - 1, {}, {}, *rest[n].compensation});
            }
            of.emplace_back(n, false);
            tracks.push_back({numbers[n], stated[n], {}, rest[n].own});
        }
        SINEW_TRY(files_.take(times.size() * tracks.size() * 100, "clip '" + printable(take.name) + "'"));
        std::vector<std::size_t> moved;
        for (const auto& [n, compensation] : of)
            if (!compensation) moved.push_back(n);
        std::vector<FbxLocal> placed(nodes_.nodes.size());
        std::vector<std::size_t> passed(take.channels.size(), 0);
        for (const double time : times) {
            for (std::size_t c = 0; c < passed.size(); ++c) move(take.channels[c], time, passed[c], now);
            nodes_.place(now, moved, placed);
            for (std::size_t k = 0; k < tracks.size(); ++k) {
                const FbxLocal& at = placed[of[k].first];
                const Trs& local = of[k].second ? *at.compensation : at.own;
                auto& [translation, rotation, scale] = tracks[k].values;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    translation.push_back(static_cast<float>(local.t[axis]));
                    scale.push_back(static_cast<float>(local.s[axis]));
                }
                double along = 0;  // of the two quaternions of a rotation, that which is nearer to the one before
                for (std::size_t axis = 0; axis < 4 && !rotation.empty(); ++axis)
                    along += local.q[axis] * double{*(rotation.end() - 4 + static_cast<std::ptrdiff_t>(axis))};
                for (const double x : local.q) rotation.push_back(static_cast<float>(along < 0 ? -x : x));
            }
        }
        ForeignClip out;
        out.name = take.name;
        for (Track& track : tracks) {
            const std::vector<double> at_rest[] = {{track.rest.t.begin(), track.rest.t.end()},
                                                   {track.rest.q.begin(), track.rest.q.end()},
                                                   {track.rest.s.begin(), track.rest.s.end()}};
            for (std::size_t which = 0; which < 3; ++which) {
                static constexpr const char* paths[] = {"translation", "rotation", "scale"};
                std::vector<float>& values = track.values[which];
                const std::size_t width = at_rest[which].size();
                bool constant = true, rests = !track.stated[which];
                for (std::size_t k = 0; k < values.size(); ++k) {
                    constant = constant && values[k] == values[k % width];
                    rests = rests && values[k] == static_cast<float>(at_rest[which][k % width]);
                }
                if (rests) continue;
                ForeignChannel channel{track.node, paths[which], {}, std::move(values)};
                for (const double time : times) channel.times.push_back(static_cast<float>(time - times.front()));
                if (constant) {
                    channel.times.resize(1);
                    channel.values.resize(width);
                }
                out.channels.push_back(std::move(channel));
            }
        }
        return out;
    }

    /// Whether a node does not just inherit its parent's scale.
    static bool skips_scale(const FbxTransform& node) { return node.inherit != FbxTransform::Inherit::RSrs; }

    /// passed: of FbxCurve::at.
    static void move(const FbxChannel& channel, double time, std::size_t& passed, std::vector<FbxTransform>& now) {
        FbxTransform& to = now[channel.node];
        (channel.which == 0   ? to.translation
         : channel.which == 1 ? to.rotation
                              : to.scale)[channel.axis] = channel.curve.at(time, passed);
    }

    double frames_a_second() const {
        constexpr double rates[] = {30,
                                    120,
                                    100,
                                    60,
                                    50,
                                    48,
                                    30,
                                    30,
                                    30000 / 1001.0,
                                    30000 / 1001.0,
                                    25,
                                    24,
                                    1000,
                                    24000 / 1001.0,
                                    0,
                                    96,
                                    72,
                                    60000 / 1001.0,
                                    120000 / 1001.0};
        const double mode = objects_.setting("TimeMode", 0);
        double rate = mode >= 0 && mode < double(std::size(rates)) ? rates[static_cast<std::size_t>(mode)] : 30;
        if (rate == 0) rate = objects_.setting("CustomFrameRate", 30);
        return rate >= 1 && rate <= 1000 ? rate : 30;
    }

    /// Its start, and then every key and frame.
    std::vector<double> times_of(const FbxTake& take) {
        std::vector<double> out, own, before;
        for (const FbxChannel& channel : take.channels) {
            own.clear();
            for (const FbxKey& key : channel.curve.keys()) own.push_back(key.time);
            if (own != before) out.insert(out.end(), own.begin(), own.end());  // most have the same times
            before.swap(own);
        }
        std::sort(out.begin(), out.end());
        const bool stated = take.start != take.stop && take.start < out.back() && take.start > -kMostSeconds;
        const double start = stated ? take.start : out.front();
        const double end = out.back(), rate = frames_a_second();
        // Every node is placed at every time.
        constexpr double kMostPlaces = 5e6;
        const auto nodes = static_cast<double>(nodes_.nodes.size());
        const auto warn = [&](double times, const char* what) {
            warnings_.push_back("clip '" + printable(take.name) + "' has " + std::to_string(std::llround(times)) +
                                what);
        };
        if (const auto keys = static_cast<double>(out.size()); keys * nodes > 10 * kMostPlaces) {
            warn(keys, " keys, too many for the nodes of the file: left out");
            return {};
        }
        if (const double frames = (end - start) * rate; frames * nodes > kMostPlaces) {
            warn(frames, " frames: only its keys are read");
        } else {
            for (double frame = std::ceil(start * rate); frame / rate < end; ++frame) out.push_back(frame / rate);
        }
        out.push_back(start);
        std::sort(out.begin(), out.end());
        // A frame that is a key but for rounding is that key.
        std::vector<double> kept;
        for (const double time : out)
            if (time >= start && (kept.empty() || time - kept.back() > 1e-6)) kept.push_back(time);
        return kept;
    }

    void add(FbxTake& take, std::size_t object, std::string_view property, std::size_t axis, FbxCurve curve) {
        static constexpr std::string_view names[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling"};
        const auto found = std::find(std::begin(names), std::end(names), property);
        shapes_ = shapes_ || property == "DeformPercent" || property == "DeformPercent (Shape)";
        const std::size_t node = object == FbxObjects::missing ? object : nodes_.node_of_object[object];
        if (found == std::end(names) || node == FbxObjects::missing || node == 0 || curve.keys().empty()) return;
        take.channels.push_back(
            {node, static_cast<std::size_t>(found - std::begin(names)), axis, std::move(curve)});
    }

    // ---- version 7

    Status read_stacks() {
        for (std::size_t s = 1; s < objects_.all().size(); ++s) {
            if (!objects_[s].is("AnimationStack")) continue;
            FbxTake take{objects_[s].name,
                         objects_.number(s, "LocalStart", 0) / kFbxTicks,
                         objects_.number(s, "LocalStop", 0) / kFbxTicks,
                         {}};
            std::size_t layers = 0;
            for (const FbxObjects::Link& layer : objects_[s].sources) {
                if (!objects_[layer.object].is("AnimationLayer") || layers++ > 0) continue;
                for (const FbxObjects::Link& moved : objects_[layer.object].sources)
                    if (objects_[moved.object].is("AnimationCurveNode")) SINEW_TRY(read_curves(take, moved.object));
            }
            if (layers > 1)
                warnings_.push_back("clip '" + printable(take.name) + "' has " + std::to_string(layers) +
                                    " layers: only the first is read");
            if (!take.channels.empty()) takes_.push_back(std::move(take));
        }
        return Done{};
    }

    /// The curves of one property.
    Status read_curves(FbxTake& take, std::size_t moved) {
        for (const FbxObjects::Link& target : objects_[moved].targets) {
            if (target.property.empty()) continue;  // the layer
            for (const FbxObjects::Link& curve : objects_[moved].sources) {
                const std::size_t axis = curve.property == "d|X"   ? 0
                                         : curve.property == "d|Y" ? 1
                                         : curve.property == "d|Z" ? 2
                                                                   : 3;
                if (!objects_[curve.object].is("AnimationCurve")) continue;
                if (axis == 3) {
                    shapes_ = shapes_ || target.property == "DeformPercent";
                    continue;
                }
                SINEW_TRY_LET(FbxCurve read, read_curve(*objects_[curve.object].record));
                add(take, target.object, target.property, axis, std::move(read));
            }
        }
        return Done{};
    }

    Result<FbxCurve> read_curve(const FbxRecord& record) {
        std::vector<double> times, values, data;
        std::vector<std::int64_t> flags, counts;
        for (const auto& [name, to] : {std::pair("KeyTime", &times), std::pair("KeyValueFloat", &values),
                                       std::pair("KeyAttrDataFloat", &data)})
            if (const FbxRecord* found = record.find(name)) {
                SINEW_TRY_LET(*to, file_.reals(*found));
            }
        for (const auto& [name, to] : {std::pair("KeyAttrFlags", &flags), std::pair("KeyAttrRefCount", &counts)})
            if (const FbxRecord* found = record.find(name)) {
                SINEW_TRY_LET(*to, file_.wholes(*found));
            }
        std::vector<FbxKey> keys(std::min(times.size(), values.size()));
        std::size_t attribute = 0;
        std::int64_t left = counts.empty() ? 0 : counts[0];
        for (std::size_t k = 0; k < keys.size(); ++k, --left) {
            while (left <= 0 && attribute + 1 < counts.size()) left = counts[++attribute];
            FbxKey& key = keys[k];
            key.time = times[k] / kFbxTicks;
            key.value = values[k];
            if (attribute >= flags.size()) continue;
            key.flags = static_cast<std::uint32_t>(flags[attribute]);
            if (4 * attribute + 3 >= data.size()) continue;
            const double* const own = &data[4 * attribute];
            key.slope = own[0];
            key.next_slope = own[1];
            key.bias = own[2];
            // Two lengths of tangents, in units of 0.0001, in the bits of a float.
            const std::uint32_t bits = file_.binary() ? std::bit_cast<std::uint32_t>(static_cast<float>(own[2]))
                                       : own[2] >= 0 && own[2] < 4294967296.0 ? static_cast<std::uint32_t>(own[2])
                                                                              : 0;
            if (key.flags & kWeightedRight) key.weight = (bits & 0xffff) * 1e-4;
            if (key.flags & kWeightedNextLeft) key.next_weight = (bits >> 16) * 1e-4;
        }
        return FbxCurve(std::move(keys));
    }

    // ---- version 6

    Status read_takes() {
        const FbxRecord* const takes = file_.root().find("Takes");
        for (std::size_t t = 0; takes && t < takes->records.size(); ++t) {
            const FbxRecord& record = takes->records[t];
            if (record.name != "Take" || record.values.empty()) continue;
            FbxTake take{file_.text(record.values[0]), 0, 0, {}};
            if (const FbxRecord* span = record.find("LocalTime"); span && span->values.size() == 2) {
                take.start = file_.number(span->values[0]).value_or(0) / kFbxTicks;
                take.stop = file_.number(span->values[1]).value_or(0) / kFbxTicks;
            }
            for (const FbxRecord& model : record.records) {
                if (model.name != "Model" || model.values.empty()) continue;
                const std::size_t object = objects_.by_id(model.values[0]);
                for (const FbxRecord& channel : model.records) SINEW_TRY(read_channel(take, object, channel));
            }
            if (!take.channels.empty()) takes_.push_back(std::move(take));
        }
        return Done{};
    }

    std::string channel_name(const FbxRecord& record) const {
        return record.name == "Channel" && !record.values.empty() ? file_.text(record.values[0]) : "";
    }

    /// Transform { T { X Y Z } R { … } S { … } }, or the channel of a shape.
    Status read_channel(FbxTake& take, std::size_t object, const FbxRecord& record) {
        const std::string name = channel_name(record);
        shapes_ = shapes_ || (record.find("Key") && name.find("Shape") != name.npos);
        if (name != "Transform") return Done{};
        for (const FbxRecord& kind : record.records)
            for (const FbxRecord& axis : kind.records) {
                const std::string which = channel_name(kind), letter = channel_name(axis);
                if (which.size() != 1 || letter.size() != 1) continue;
                const std::size_t number = std::string_view("XYZ").find(letter);
                if (number == std::string_view::npos) continue;
                SINEW_TRY_LET(FbxCurve curve, read_keys(axis));
                add(take, object,
                    which == "T"   ? "Lcl Translation"
                    : which == "R" ? "Lcl Rotation"
                                   : "Lcl Scaling",
                    number, std::move(curve));
            }
        return Done{};
    }

    /// One list of times, values, letters and what each letter takes.
    Result<FbxCurve> read_keys(const FbxRecord& record) {
        std::vector<FbxKey> keys;
        const FbxRecord* const list = record.find("Key");
        if (!list) return FbxCurve();
        const FbxRecord* const version_record = record.find("KeyVer");
        const double version = version_record && !version_record->values.empty()
                                   ? file_.number(version_record->values[0]).value_or(4005)
                                   : 4005;
        const auto& values = list->values;
        std::size_t at = 0;
        bool good = true;
        const auto number = [&] {
            const auto found = at < values.size() ? file_.number(values[at]) : std::nullopt;
            ++at;
            good = good && found;
            return found.value_or(0);
        };
        const auto letter = [&]() -> char {
            if (at < values.size() && values[at].type == 'W' && !values[at].bytes.empty())
                return static_cast<char>(values[at++].bytes[0]);
            const double code = number();
            return code > 0 && code < 128 ? static_cast<char>(code) : '\0';
        };
        while (good && at < values.size()) {
            FbxKey key;
            key.time = number() / kFbxTicks;
            key.value = number();
            const char kind = letter();
            if (kind == 'C') {
                key.flags = kConstant;
                if (version >= 4004 && letter() == 'n') key.flags |= kNext;
            } else if (kind == 'U') {
                const char slopes = letter();
                int weights = 1;
                key.flags = kCubic;
                if (slopes == 's' || slopes == 'b') {
                    key.slope = number();
                    key.next_slope = number();
                    weights = version == 4003 ? 0 : 1;
                } else {
                    key.flags |= kAuto | kTimeIndependent | kClampProgressive;
                    // Parameters whose meaning is not known: their number is.
                    const int parameters = slopes == 'p' || slopes == 'q' ? 2
                                           : slopes == 't'                ? 3
                                           : slopes == 'd'                ? 1
                                                                          : 0;
                    for (int k = 0; k < parameters; ++k) number();
                    if (slopes == 'a') weights = version <= 4004 ? 0 : 1;
                    if (parameters == 2) weights = version <= 4004 ? 1 : 2;
                    if (slopes == 't') weights = 0;
                    good = good && (parameters > 0 || slopes == 'a');
                }
                for (int k = 0; k < weights; ++k) {
                    const char weighted = letter();
                    if (weighted == 'a' || weighted == 'r') key.weight = number();
                    if (weighted == 'a' || weighted == 'l') key.next_weight = number();
                    good = good && std::string_view("nalrc").find(weighted) != std::string_view::npos;
                }
            } else {
                good = good && kind == 'L';
            }
            if (good) keys.push_back(key);
        }
        if (!good)
            return file_.error(*list, "value " + std::to_string(at) + " is not what a key of version " +
                                          std::to_string(static_cast<int>(version)) + " has there");
        return FbxCurve(std::move(keys));
    }

    const FbxObjects& objects_;
    const FbxFile& file_;
    FbxNodes& nodes_;
    ModelFiles& files_;
    std::vector<std::string>& warnings_;
    std::vector<FbxTake> takes_;
    bool shapes_ = false;
};

}  // namespace

Result<std::vector<ForeignClip>> read_fbx_clips(const FbxObjects& objects, FbxNodes& nodes, ModelFiles& files,
                                                std::vector<std::string>& warnings) {
    return FbxClipReader(objects, nodes, files, warnings).read();
}

}  // namespace sinew::io
