// Edit lists: the user's corrections of computed weights (docs/edits.md).
#include <algorithm>
#include <cmath>

#include "core/joint_names.h"
#include "core/numbers.h"
#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

using json = Json;

class EditsReader {
public:
    EditsReader(const Scene& scene, std::string name) : scene_(scene), name_(std::move(name)) {}

    Result<Adjustments> read(const json& document) {
        if (!document.is_object())
            return input_error(name_,
                               "an edit list must be an object with \"falloff\", \"rigid\", \"lock\" or \"edits\"");
        SINEW_TRY(known_keys(document, "the edit list", {"sinew", "falloff", "rigid", "lock", "edits"}));
        if (const auto kind = document.find("sinew");
            kind != document.end() &&
            (!kind->is_string() || kind->get_ref<const std::string&>() != "edits"))  // != may throw, and must not
            return input_error(name_, "\"sinew\" must be \"edits\": this file is not an edit list");
        const auto each = [&](const char* key, auto&& entry) -> Status {
            const auto list = document.find(key);
            if (list == document.end()) return Done{};
            if (!list->is_array()) return input_error(name_, "\"" + std::string(key) + "\" must be an array");
            for (std::size_t i = 0; i < list->size(); ++i) {
                const std::string place = std::string(key) + " " + std::to_string(i + 1);
                if (!(*list)[i].is_object()) return input_error(name_, place + " must be an object");
                SINEW_TRY(entry((*list)[i], place));
            }
            return Done{};
        };
        Status ok = each("falloff", [&](const json& e, const std::string& p) { return falloff(e, p); });
        if (ok) ok = each("rigid", [&](const json& e, const std::string& p) { return rigid(e, p); });
        if (ok) ok = each("edits", [&](const json& e, const std::string& p) { return edit(e, p); });
        if (ok)
            if (const auto lock = document.find("lock"); lock != document.end()) ok = locks(*lock);
        if (!ok) return ok.error();
        return std::move(out_);
    }

    Result<WeightEdit> read_edit(const json& entry) {
        if (!entry.is_object()) return input_error(name_, "an edit must be an object");
        SINEW_TRY(edit(entry, "the edit"));
        return std::move(out_.edits.front());
    }

private:
    Error wrong(const std::string& place, const std::string& what) const {
        return input_error(name_, place + what);
    }

    Status known_keys(const json& object, const std::string& place, std::vector<std::string_view> known) const {
        for (const auto& [key, unused] : object.items()) {
            if (std::find(known.begin(), known.end(), key) != known.end()) continue;
            std::string all;
            for (const std::string_view k : known) all += (all.empty() ? "" : ", ") + std::string(k);
            return wrong(place, ": \"" + printable(key) + "\" is not known: " + all + " are");
        }
        return Done{};
    }

    Result<float> number(const json& value, const std::string& place, double low, double high) const {
        const double x = value.is_number() ? value.get<double>() : NAN;
        if (x >= low && x <= high) return static_cast<float>(x);
        if (high >= 1e30 && x > high) return wrong(place, " is too large");
        const std::string range = high < 1e30 ? "from " + shortest_text(low) + " to " + shortest_text(high)
                                  : low > 0 && low < 1e-20 ? "above 0"
                                                           : "from " + shortest_text(low) + " up";
        return wrong(place, " must be a number " + range);
    }

    Result<Vec3> point(const json& value, const std::string& place) const {
        float xyz[3] = {NAN, NAN, NAN};
        if (value.is_array() && value.size() == 3)
            for (std::size_t i = 0; i < 3; ++i)
                if (value[i].is_number()) xyz[i] = value[i].get<float>();
        if (std::isfinite(xyz[0]) && std::isfinite(xyz[1]) && std::isfinite(xyz[2]))
            return Vec3{xyz[0], xyz[1], xyz[2]};
        return wrong(place, " must be three numbers [x, y, z]");
    }

    // A name or a list of names, with * and ? as in --exclude.
    Result<std::vector<std::string>> names(const json& value, const std::string& place) const {
        std::vector<std::string> out;
        const json list = value.is_string() ? json::array({value}) : value;
        if (!list.is_array() || list.empty()) return wrong(place, " must be a name or a list of names");
        for (const json& n : list) {
            if (!n.is_string()) return wrong(place, " must be a name or a list of names");
            out.push_back(n.get<std::string>());
        }
        return out;
    }

    Result<std::vector<std::uint32_t>> joints(const json& value, const std::string& place) const {
        SINEW_TRY_LET(const auto globs, names(value, place));
        const Skeleton& skeleton = scene_.skeleton;
        std::vector<std::uint32_t> out;
        for (const std::string& glob : globs) {
            const std::vector<std::uint32_t> found = joints_called(skeleton, glob);
            out.insert(out.end(), found.begin(), found.end());
            if (found.empty())
                return wrong(place, ": there is no joint '" + printable(glob) + "'" +
                                        did_you_mean(glob, names_of(skeleton)));
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    Result<std::uint32_t> joint(const json& value, const std::string& place) const {
        SINEW_TRY_LET(const auto found, joints(value, place));
        if (found.size() != 1)
            return wrong(place, " must be one joint, and " + std::to_string(found.size()) + " are called so");
        return found.front();
    }

    // ---- selections

    struct Selected {
        std::vector<float> share;  // V
        std::vector<std::uint32_t> region;
        float above = 0;
        bool everything = false;
        std::vector<BrushSelection> brushes;  // beside `share`
    };

    /// of_edit: an entry of "edits", which alone may select by weight and by brush.
    Result<Selected> select(const json& entry, const std::string& place, bool of_edit) {
        Selected out;
        const auto value = entry.find("select");
        if (value == entry.end()) {
            out.everything = true;
            out.share.assign(scene_.positions.size(), 1);
            return out;
        }
        const json list = value->is_array() ? *value : json::array({*value});
        if (list.empty()) return wrong(place, ": \"select\" is empty");
        out.share.assign(scene_.positions.size(), 0);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string where = place + ": select" + (list.size() > 1 ? " " + std::to_string(i + 1) : "");
            std::vector<float> one(out.share.size(), 1);
            SINEW_TRY(narrow(list[i], where, one));
            if (const auto strokes = list[i].find("brush"); strokes != list[i].end()) {
                if (!of_edit) return wrong(where, ": \"brush\" is possible for \"edits\" only");
                SINEW_TRY_LET(auto made, brush(*strokes, where + ": \"brush\""));
                if (std::all_of(one.begin(), one.end(), [](float s) { return s == 1; })) one.clear();
                out.brushes.push_back({std::move(made), std::move(one)});
                one.clear();
            }
            if (const auto region = list[i].find("joints"); region != list[i].end()) {
                if (!of_edit || list.size() > 1)
                    return wrong(where,
                                 ": \"joints\" selects by weight, which is possible for \"edits\" only, and in a "
                                 "selection of one object");
                SINEW_TRY_LET(out.region, joints(*region, where + ": \"joints\""));
                if (const auto above = list[i].find("above"); above != list[i].end()) {
                    SINEW_TRY_LET(out.above, number(*above, where + ": \"above\"", 0, 1));
                }
            }
            for (std::size_t v = 0; v < one.size(); ++v) out.share[v] = std::max(out.share[v], one[v]);
        }
        if (out.brushes.empty() && std::all_of(out.share.begin(), out.share.end(), [](float s) { return s == 0; }))
            return wrong(place, ": \"select\" selects no vertex");
        return out;
    }

    /// Multiplies `share` by the selection of every key of the object.
    Status narrow(const json& value, const std::string& place, std::vector<float>& share) {
        if (!value.is_object()) return wrong(place, " must be an object or a list of objects");
        SINEW_TRY(known_keys(
            value, place,
            {"vertices", "box", "sphere", "brush", "mesh", "material", "paint", "joints", "above", "not"}));
        if (value.contains("above") && !value.contains("joints"))
            return wrong(place, ": \"above\" goes with \"joints\"");
        for (const auto& [key, x] : value.items()) {
            const std::string where = place + ": \"" + key + "\"";
            Status ok = Done{};
            if (key == "vertices") ok = vertices(x, where, share);
            if (key == "box") ok = box(x, where, share);
            if (key == "sphere") ok = sphere(x, where, share);
            if (key == "mesh" || key == "material") ok = surfaces(x, where, key == "mesh", share);
            if (key == "paint") {
                SINEW_TRY_LET(const auto paint, painted(x, where));
                for (std::size_t v = 0; v < share.size(); ++v) share[v] *= paint[v];
            }
            if (key == "not") {
                std::vector<float> other(share.size(), 1);
                ok = narrow(x, where, other);
                for (const char* no : {"joints", "brush"})
                    if (ok && x.contains(no)) return wrong(where, " cannot hold \"" + std::string(no) + "\"");
                for (std::size_t v = 0; v < share.size(); ++v) share[v] *= 1 - other[v];
            }
            if (!ok) return ok;
        }
        return Done{};
    }

    template <typename Inside>
    void keep(std::vector<float>& share, Inside&& inside) const {
        for (std::size_t v = 0; v < share.size(); ++v)
            if (!inside(v)) share[v] = 0;
    }

    Status vertices(const json& value, const std::string& place, std::vector<float>& share) const {
        const std::string rule = " must be a list of vertex numbers and of ranges such as \"10-20\"";
        if (!value.is_array()) return wrong(place, rule);
        std::vector<bool> in(share.size(), false);
        for (const json& entry : value) {
            std::uint64_t from = 0, to = 0;
            if (entry.is_number_unsigned()) {
                from = to = entry.get<std::uint64_t>();
            } else if (entry.is_string()) {
                const auto text = entry.get<std::string>();
                const char *at = text.data(), *end = at + text.size();
                const auto first = std::from_chars(at, end, from);
                if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return wrong(place, rule);
                const auto second = std::from_chars(first.ptr + 1, end, to);
                if (second.ec != std::errc{} || second.ptr != end || to < from) return wrong(place, rule);
            } else {
                return wrong(place, rule);
            }
            if (to >= in.size())
                return wrong(place, ": there is no vertex " + std::to_string(to) + ", only " +
                                        std::to_string(in.size()) + " in all meshes together");
            for (std::uint64_t v = from; v <= to; ++v) in[static_cast<std::size_t>(v)] = true;
        }
        keep(share, [&](std::size_t v) { return in[v]; });
        return Done{};
    }

    Status box(const json& value, const std::string& place, std::vector<float>& share) const {
        if (!value.is_array() || value.size() != 2)
            return wrong(place, " must be two corners [[x, y, z], [x, y, z]]");
        SINEW_TRY_LET(const auto a, point(value[0], place));
        SINEW_TRY_LET(const auto b, point(value[1], place));
        const auto within = [](float x, float p, float q) { return x >= std::min(p, q) && x <= std::max(p, q); };
        keep(share, [&](std::size_t v) {
            const Vec3& p = scene_.positions[v];
            return within(p.x, a.x, b.x) && within(p.y, a.y, b.y) && within(p.z, a.z, b.z);
        });
        return Done{};
    }

    Status sphere(const json& value, const std::string& place, std::vector<float>& share) const {
        if (!value.is_object() || !value.contains("center") || !value.contains("radius"))
            return wrong(place, " must be {\"center\": [x, y, z], \"radius\": r}");
        SINEW_TRY(known_keys(value, place, {"center", "radius"}));
        SINEW_TRY_LET(const auto centre, point(value["center"], place + ": \"center\""));
        SINEW_TRY_LET(const auto radius, number(value["radius"], place + ": \"radius\"", 0, 1e38));
        keep(share, [&](std::size_t v) {
            const Vec3& p = scene_.positions[v];
            return std::hypot(double{p.x} - centre.x, double{p.y} - centre.y, double{p.z} - centre.z) <= radius;
        });
        return Done{};
    }

    Result<Brush> brush(const json& value, const std::string& place) const {
        if (!value.is_object() || !value.contains("points") || !value.contains("radius"))
            return wrong(place, " must be {\"points\": [[x, y, z], …], \"radius\": r, …}");
        SINEW_TRY(
            known_keys(value, place, {"points", "radius", "strength", "strengths", "facing", "curve", "through"}));
        Brush out;
        SINEW_TRY_LET(out.radius, number(value["radius"], place + ": \"radius\"", 1e-30, 1e38));
        double strength = 1;
        if (const auto all = value.find("strength"); all != value.end()) {
            SINEW_TRY_LET(const auto x, number(*all, place + ": \"strength\"", 0, 1));
            strength = x;
        }
        const json& points = value["points"];
        if (!points.is_array() || points.empty()) return wrong(place, ": \"points\" must be a list of [x, y, z]");
        // One entry for each point.
        const auto beside = [&](const char* key) -> Result<const json*> {
            const auto list = value.find(key);
            if (list == value.end()) return nullptr;
            if (!list->is_array() || list->size() != points.size())
                return wrong(place, ": \"" + std::string(key) + "\" must be a list of " +
                                        std::to_string(points.size()) + ", one for each point");
            return &*list;
        };
        const auto strengths = beside("strengths"), facing = beside("facing");
        if (!strengths) return strengths.error();
        if (!facing) return facing.error();
        for (std::size_t i = 0; i < points.size(); ++i) {
            Brush::Dab dab;
            const auto at = [&](const char* key) { return place + ": \"" + key + "\" " + std::to_string(i + 1); };
            SINEW_TRY_LET(dab.place, point(points[i], at("points")));
            if (*facing) {
                SINEW_TRY_LET(dab.facing, point((**facing)[i], at("facing")));
            }
            double own = 1;
            if (*strengths) {
                SINEW_TRY_LET(own, number((**strengths)[i], at("strengths"), 0, 1));
            }
            dab.strength = static_cast<float>(strength * own);
            out.dabs.push_back(dab);
        }
        if (const auto curve = value.find("curve"); curve != value.end()) {
            static constexpr std::pair<std::string_view, BrushCurve> curves[] = {
                {"smooth", BrushCurve::smooth},
                {"linear", BrushCurve::linear},
                {"sharp", BrushCurve::sharp},
                {"dome", BrushCurve::dome},
                {"constant", BrushCurve::constant}};
            const std::string word = curve->is_string() ? curve->get<std::string>() : "";
            const auto found =
                std::find_if(std::begin(curves), std::end(curves), [&](const auto& c) { return c.first == word; });
            if (found == std::end(curves))
                return wrong(place, ": \"curve\" must be smooth, linear, sharp, dome or constant");
            out.curve = found->second;
        }
        SINEW_TRY_LET(out.through, flag(value, "through", place));
        return out;
    }

    Result<bool> flag(const json& object, const char* key, const std::string& place) const {
        const auto found = object.find(key);
        if (found == object.end()) return false;
        if (!found->is_boolean()) return wrong(place, ": \"" + std::string(key) + "\" must be true or false");
        return found->get<bool>();
    }

    Status surfaces(const json& value, const std::string& place, bool by_mesh, std::vector<float>& share) const {
        SINEW_TRY_LET(const auto globs, names(value, place));
        std::vector<bool> in(share.size(), false);
        for (const std::string& glob : globs) {
            bool found = false;
            for (const Primitive& p : scene_.primitives) {
                const std::string& name = by_mesh ? p.mesh : p.material;
                if (name != glob && !matches_glob(glob, name)) continue;
                found = true;
                // Primitives may share vertices, so the triangles decide.
                for (std::uint32_t t = p.first_triangle; t < p.first_triangle + p.triangle_count; ++t)
                    for (const std::uint32_t v : scene_.triangles[t]) in[v] = true;
            }
            if (found) continue;
            std::string known;
            for (const Primitive& p : scene_.primitives) {
                const std::string shown = "'" + printable(by_mesh ? p.mesh : p.material, 60) + "'";
                if (known.find(shown) == std::string::npos && known.size() < 400)
                    known += (known.empty() ? "" : ", ") + shown;
            }
            return wrong(place, ": nothing is called '" + printable(glob) + "' (there are " + known + ")");
        }
        keep(share, [&](std::size_t v) { return in[v]; });
        return Done{};
    }

    /// A channel of the vertex colours, 0..1.
    Result<std::vector<float>> painted(const json& value, const std::string& place) {
        const std::string channels = "rgba";
        const std::string word = value.is_string() ? value.get<std::string>() : "";
        const std::size_t channel = word.size() == 1 ? channels.find(word[0]) : std::string::npos;
        if (channel == std::string::npos)
            return wrong(place, " must be a channel of the vertex colours: r, g, b or a");
        if (!frames_) {
            SINEW_TRY_LET(frames_, shading_frames(scene_));
        }
        if (frames_->colours.empty()) return wrong(place, ": the file has no vertex colours (COLOR_0)");
        std::vector<float> out(scene_.positions.size());
        for (std::size_t v = 0; v < out.size(); ++v) {
            const float c = frames_->colours[v][channel];
            out[v] = std::isfinite(c) ? std::clamp(c, 0.0f, 1.0f) : 0.0f;
        }
        return out;
    }

    // ---- entries

    std::vector<float>& falloff_of_vertices() {
        out_.falloff.of_vertex.resize(scene_.positions.size(), NAN);
        return out_.falloff.of_vertex;
    }

    // Ranges depend on the law and are checked where the map is used.
    Status falloff(const json& entry, const std::string& place) {
        SINEW_TRY(known_keys(entry, place,
                             {"value", "values", "hardness", "joints", "select", "paint", "from", "to", "angles"}));
        if (entry.contains("value") + entry.contains("values") + entry.contains("paint") +
                entry.contains("angles") + entry.contains("hardness") !=
            1)
            return wrong(place, " needs one of \"value\", \"values\", \"hardness\", \"paint\" and \"angles\"");
        const bool by_joint = entry.contains("joints");
        if (const auto angles = entry.find("angles"); angles != entry.end()) {
            if (!by_joint) return wrong(place, ": \"angles\" needs \"joints\", whose angle counts");
            return by_angle(*angles, entry, place);
        }
        if (const auto hardness = entry.find("hardness"); hardness != entry.end()) {
            if (!by_joint || entry.contains("select"))
                return wrong(place,
                             ": \"hardness\" goes with \"joints\", and without \"select\": for vertices give "
                             "\"value\"");
            SINEW_TRY_LET(const auto value, number(*hardness, place + ": \"hardness\"", 0, 1));
            return of_joints(value, entry, place, out_.falloff.hardness_of_joint);
        }
        if (by_joint && (entry.contains("select") || !entry.contains("value")))
            return wrong(place,
                         ": \"joints\" go with \"value\", \"hardness\" or \"angles\", and with \"select\" only "
                         "beside \"angles\"");
        if (by_joint) {
            SINEW_TRY_LET(const auto value, number(entry["value"], place + ": \"value\"", 0, 1e38));
            return of_joints(value, entry, place, out_.falloff.of_joint);
        }
        SINEW_TRY_LET(const auto selected, select(entry, place, false));
        std::vector<float> value(scene_.positions.size());
        if (const auto one = entry.find("value"); one != entry.end()) {
            SINEW_TRY_LET(const auto x, number(*one, place + ": \"value\"", 0, 1e38));
            value.assign(value.size(), x);
        } else if (const auto list = entry.find("values"); list != entry.end()) {
            if (!list->is_array() || list->size() != value.size())
                return wrong(place, ": \"values\" must be a list of " + std::to_string(value.size()) +
                                        " numbers (or null), one for each vertex");
            for (std::size_t v = 0; v < value.size(); ++v) {
                if ((*list)[v].is_null()) {
                    value[v] = NAN;
                    continue;
                }
                SINEW_TRY_LET(value[v], number((*list)[v], place + ": \"values\" " + std::to_string(v), 0, 1e38));
            }
        } else {
            SINEW_TRY_LET(const auto paint, painted(entry["paint"], place + ": \"paint\""));
            float ends[2] = {0, 1};
            for (const int k : {0, 1})
                if (const auto end = entry.find(k ? "to" : "from"); end != entry.end()) {
                    SINEW_TRY_LET(ends[k], number(*end, place + (k ? ": \"to\"" : ": \"from\""), 0, 1e38));
                }
            for (std::size_t v = 0; v < value.size(); ++v) value[v] = ends[0] + paint[v] * (ends[1] - ends[0]);
        }
        std::vector<float>& map = falloff_of_vertices();
        for (std::size_t v = 0; v < map.size(); ++v)
            if (selected.share[v] >= 0.5f && !std::isnan(value[v])) map[v] = value[v];
        return Done{};
    }

    // The value for the named joints.
    Status of_joints(float value, const json& entry, const std::string& place, std::vector<float>& map) const {
        SINEW_TRY_LET(const auto list, joints(entry["joints"], place + ": \"joints\""));
        map.resize(scene_.skeleton.joints.size(), NAN);
        for (const std::uint32_t j : list) map[j] = value;
        return Done{};
    }

    Status by_angle(const json& angles, const json& entry, const std::string& place) {
        const std::string rule = ": \"angles\" must be pairs [degrees, value], degrees rising from 0 to 180";
        AngleFalloff made;
        if (!angles.is_array() || angles.empty()) return wrong(place, rule);
        for (const json& key : angles) {
            if (!key.is_array() || key.size() != 2 || !key[0].is_number() || !key[1].is_number())
                return wrong(place, rule);
            const std::array<float, 2> pair{key[0].get<float>(), key[1].get<float>()};
            if (!(pair[0] >= 0 && pair[0] <= 180 && pair[1] >= 0 && std::isfinite(pair[1])) ||
                (!made.keys.empty() && !(pair[0] > made.keys.back()[0])))
                return wrong(place, rule);
            made.keys.push_back(pair);
        }
        SINEW_TRY_LET(const auto list, joints(entry["joints"], place + ": \"joints\""));
        if (entry.contains("select")) {
            // With several joints, only the last would count.
            if (list.size() != 1)
                return wrong(place, ": with \"select\", \"joints\" must be one joint, and " +
                                        std::to_string(list.size()) + " are called so");
            SINEW_TRY_LET(auto selected, select(entry, place, false));
            made.selection = std::move(selected.share);
        }
        for (const std::uint32_t j : list) {
            made.joint = j;
            out_.angles.push_back(made);
        }
        return Done{};
    }

    Status rigid(const json& entry, const std::string& place) {
        SINEW_TRY(known_keys(entry, place, {"joints", "select"}));
        if (!entry.contains("joints") || !entry.contains("select"))
            return wrong(place, " needs \"select\" (which vertices) and \"joints\" (what drives them)");
        SINEW_TRY_LET(auto list, joints(entry["joints"], place + ": \"joints\""));
        SINEW_TRY_LET(const auto selected, select(entry, place, false));
        RigidRegion region;
        region.joints = std::move(list);
        for (const float s : selected.share) region.vertices.push_back(s >= 0.5f);
        out_.rigid.push_back(std::move(region));
        return Done{};
    }

    Status locks(const json& entry) {
        if (!entry.is_object()) return wrong("lock", " must be an object with \"joints\", \"select\" or both");
        SINEW_TRY(known_keys(entry, "lock", {"joints", "select"}));
        if (const auto which = entry.find("joints"); which != entry.end()) {
            SINEW_TRY_LET(const auto list, joints(*which, "lock: \"joints\""));
            out_.locks.joints.assign(scene_.skeleton.joints.size(), false);
            for (const std::uint32_t j : list) out_.locks.joints[j] = true;
        }
        if (entry.contains("select")) {
            SINEW_TRY_LET(const auto selected, select(entry, "lock", false));
            for (const float s : selected.share) out_.locks.vertices.push_back(s >= 0.5f);
        }
        return Done{};
    }

    /// Reads a key of an edit into the member that it sets.
    Status edit_key(const EditKey& key, const json& entry, const std::string& place, WeightEdit& e) const {
        const auto found = entry.find(key.name);
        if (found == entry.end())
            if (const auto* to = std::get_if<float WeightEdit::*>(&key.member)) e.*(*to) = key.otherwise;
        if (found == entry.end())
            return key.optional ? Status(Done{})
                                : wrong(place, ": " + std::string(info_of(e.kind).name) + " needs \"" +
                                                   std::string(key.name) + "\"");
        const std::string where = place + ": \"" + std::string(key.name) + "\"";
        if (const auto* to = std::get_if<float WeightEdit::*>(&key.member)) {
            SINEW_TRY_LET(e.*(*to), number(*found, where, key.low, key.high));
            if (key.whole && e.*(*to) != std::floor(e.*(*to))) return wrong(where, " must be a whole number");
        } else if (const auto* list = std::get_if<std::vector<std::uint32_t> EditPart::*>(&key.member)) {
            if (key.joints > 0) {
                const json each = key.joints == 1 ? json::array({*found}) : *found;
                if (!each.is_array() || each.size() != key.joints)
                    return wrong(where, " must be a list of " + std::to_string(key.joints) + " joints");
                for (const json& name : each) {
                    SINEW_TRY_LET(const std::uint32_t one, joint(name, where));
                    (e.*(*list)).push_back(one);
                }
                return Done{};
            }
            SINEW_TRY_LET(e.*(*list), joints(*found, where));
        } else if (const auto* one = std::get_if<std::uint32_t EditPart::*>(&key.member)) {
            SINEW_TRY_LET(e.*(*one), joint(*found, where));
        } else if (const auto* yes = std::get_if<bool WeightEdit::*>(&key.member)) {
            SINEW_TRY_LET(e.*(*yes), flag(entry, std::string(key.name).c_str(), place));
        } else if (!key.words.empty()) {
            const std::string word = found->is_string() ? found->get<std::string>() : "";
            if (std::string known; !one_of(key.words, word, known)) return wrong(where, " must be " + known);
            const auto* of_mirror = std::get_if<std::string Mirror::*>(&key.member);
            (of_mirror ? e.mirror.*(*of_mirror) : e.*std::get<std::string WeightEdit::*>(key.member)) = word;
        } else if (const auto* pins = std::get_if<std::vector<Pin> WeightEdit::*>(&key.member)) {
            if (!found->is_array() || found->empty()) return wrong(where, " must be a list of pins");
            for (std::size_t i = 0; i < found->size(); ++i) {
                SINEW_TRY_LET(Pin read, pin((*found)[i], where + " " + std::to_string(i + 1)));
                (e.*(*pins)).push_back(std::move(read));
            }
        }
        return Done{};
    }

    Result<Pin> pin(const json& value, const std::string& place) const {
        if (!value.is_object() || value.contains("vertex") == value.contains("point") || !value.contains("weights"))
            return wrong(place,
                         " must be {\"vertex\": number or \"point\": [x, y, z], \"weights\": {joint: weight}, …}");
        SINEW_TRY(known_keys(value, place, {"vertex", "point", "weights", "strongest"}));
        Pin out;
        if (const auto vertex = value.find("vertex"); vertex != value.end()) {
            if (!vertex->is_number_unsigned() || vertex->get<std::uint64_t>() >= scene_.positions.size())
                return wrong(place, ": \"vertex\" must be a number from 0 to " +
                                        std::to_string(scene_.positions.size() - 1));
            out.vertex = vertex->get<std::uint32_t>();
        } else {
            SINEW_TRY_LET(out.point, point(value["point"], place + ": \"point\""));
        }
        const json& weights = value["weights"];
        if (!weights.is_object()) return wrong(place, ": \"weights\" must be an object of joints and weights");
        for (const auto& [name, x] : weights.items()) {
            const std::string where = place + ": \"weights\"";
            SINEW_TRY_LET(const std::uint32_t j, joint(name, where));
            SINEW_TRY_LET(const float share, number(x, where + " of '" + printable(name) + "'", 0, 1));
            if (share > 0) out.weights.push_back({j, share});
        }
        SINEW_TRY_LET(out.strongest, flag(value, "strongest", place));
        return out;
    }

    /// Whether the words, with a space between, have this one. `listed`: "a, b or c".
    static bool one_of(std::string_view words, std::string_view word, std::string& listed) {
        bool found = false;
        while (!words.empty()) {
            const std::size_t end = std::min(words.find(' '), words.size());
            found = found || words.substr(0, end) == word;
            listed += (listed.empty()        ? ""
                       : end == words.size() ? " or "
                                             : ", ") +
                      std::string(words.substr(0, end));
            words.remove_prefix(std::min(end + 1, words.size()));
        }
        return found;
    }

    Status edit(const json& entry, const std::string& place) {
        const auto op = entry.find("op");
        const std::string word = op != entry.end() && op->is_string() ? op->get<std::string>() : "";
        const std::span<const EditKindInfo> kinds = edit_kinds();
        const auto kind =
            std::find_if(kinds.begin(), kinds.end(), [&](const EditKindInfo& k) { return k.name == word; });
        if (kind == kinds.end()) {
            std::string words, listed;
            for (const EditKindInfo& k : kinds) words += (words.empty() ? "" : " ") + std::string(k.name);
            one_of(words, word, listed);
            return wrong(place, ": \"op\" must be " + listed);
        }
        WeightEdit e;
        e.kind = kind->kind;
        std::vector<std::string_view> known{"op"};
        for (const EditKey& key : kind->keys) known.push_back(key.name);
        known.insert(known.end(), {"select", "locked"});
        if (kind->sides != EditKindInfo::Sides::one) known.push_back("symmetric");
        SINEW_TRY(known_keys(entry, place, known));
        for (const EditKey& key : kind->keys) SINEW_TRY(edit_key(key, entry, place, e));
        auto selected = select(entry, place, true);
        if (!selected) return selected.error();
        if (const auto locked = entry.find("locked"); locked != entry.end()) {
            SINEW_TRY_LET(e.locked, joints(*locked, place + ": \"locked\""));
        }
        const auto symmetric = flag(entry, "symmetric", place);
        if (!symmetric) return symmetric.error();
        e.symmetric = *symmetric;
        e.brushes = std::move(selected->brushes);
        if (e.symmetric && e.brushes.empty() && kind->sides == EditKindInfo::Sides::by_brush)
            return wrong(
                place,
                ": \"symmetric\" goes with a selection by \"brush\" (\"mirror\" copies one side to the other)");
        if (!selected->everything) e.selection = std::move(selected->share);
        e.region = std::move(selected->region);
        e.region_above = selected->above;
        out_.edits.push_back(std::move(e));
        return Done{};
    }

    const Scene& scene_;
    const std::string name_;
    Adjustments out_;
    std::optional<ShadingFrames> frames_;
};

}  // namespace

Result<Adjustments> parse_edits(const Scene& scene, std::string_view text, const std::string& name,
                                const Context* context) {
    SINEW_TRY_LET(const json document, parse_json(text, name, context));
    return EditsReader(scene, name).read(document);
}

Result<WeightEdit> parse_edit(const Scene& scene, std::string_view text, const std::string& name) {
    SINEW_TRY_LET(const json document, parse_json(text, name));
    return EditsReader(scene, name).read_edit(document);
}

Result<Adjustments> load_edits(const Scene& scene, const std::filesystem::path& path, const Context* context) {
    SINEW_TRY_LET(const auto bytes, read_file(path, context));
    return parse_edits(scene, as_text(bytes), path.string(), context);
}

}  // namespace sinew::io
