// Settings, binding, weights, and output files.
#include <algorithm>

#include "core/try.h"
#include "handles.h"
#include "io/json.h"
#include "report/report.h"
#include "sinew/bind.h"
#include "sinew/deform.h"
#include "sinew/domain.h"

namespace sinew::capi {

namespace {

using json = OrderedJson;

const Words<bool> kSwitch = {{"on", true}, {"off", false}};

template <typename Table, typename T>
Status choose(const Table& table, std::string_view name, std::string_view value, T& out) {
    std::string words;
    for (const auto& [word, meaning] : table) {
        if (word == value) {
            out = meaning;
            return Done{};
        }
        words += (words.empty() ? "" : word == std::rbegin(table)->first ? " or " : ", ") + std::string(word);
    }
    return Error{ErrorCode::usage, std::string(name) + " " + std::string(value) + ": choose " + words};
}

template <typename Table>
std::vector<std::string> words_of(const Table& table) {
    std::vector<std::string> out;
    for (const auto& row : table) out.emplace_back(row.first);
    return out;
}

Status set(snw_settings& s, std::string_view name, std::string_view value) {
    if (name == "deform-from") return choose(deform_from_words, name, value, s.deform.from);
    if (name == "keep-volume") return choose(kSwitch, name, value, s.keep_volume);
    if (name == "strict") return choose(kSwitch, name, value, s.deform.strict);
    if (name == "weight-format") return choose(weight_format_words, name, value, s.save.weight_format);
    if (name == "fbx-unit") return choose(fbx_unit_words, name, value, s.save.fbx_unit);
    if (name == "repair-matrices") return choose(kSwitch, name, value, s.save.repair_matrices);
    if (name == "exclude" || name == "include") {
        auto& list = name == "exclude" ? s.deform.exclude : s.deform.include;
        if (value.empty())
            list.clear();
        else
            list.emplace_back(value);
        return Done{};
    }
    // A method's preset only sets its own options: the map of falloffs stays in the settings.
    return set_option(s.bind, name, value);
}

Result<std::string> get(const snw_settings& s, std::string_view name) {
    if (name == "deform-from") return std::string(name_of(s.deform.from));
    if (name == "weight-format") return std::string(name_of(s.save.weight_format));
    if (name == "fbx-unit") return std::string(s.save.fbx_unit == io::FbxUnit::m ? "m" : "cm");
    if (name == "repair-matrices") return std::string(s.save.repair_matrices ? "on" : "off");
    if (name == "keep-volume") return std::string(s.keep_volume ? "on" : "off");
    if (name == "strict") return std::string(s.deform.strict ? "on" : "off");
    if (name == "exclude") return lines(s.deform.exclude);
    if (name == "include") return lines(s.deform.include);
    std::string text = option_text(s.bind, name);
    if (text.empty()) return Error{ErrorCode::usage, "there is no option '" + std::string(name) + "'"};
    return text;
}

std::string command_of(const snw_settings& s) {
    std::string out;
    const auto add = [&](const std::string& name, const std::string& value) {
        out += (out.empty() ? "--" : " --") + name + (value.empty() ? "" : " " + value);
    };
    const BindOptions of_method = preset(s.bind.method);
    BindOptions usual = of_method;
    for (const BindSetting& setting : bind_settings())
        if (!setting.sets.empty() && option_text(s.bind, setting.name) == "on")
            (void)set_option(usual, setting.name, "on");
    for (const BindSetting& setting : bind_settings()) {
        const std::string name(setting.name), value = option_text(s.bind, name);
        const bool differs = name == "method"
                                 ? s.bind.method != BindOptions{}.method
                                 : value != option_text(setting.sets.empty() ? usual : of_method, name);
        if (differs) add(name, setting.kind == BindSetting::Kind::flag ? "" : value);
    }
    if (s.deform.from != DeformFrom::automatic) add("deform-from", std::string(name_of(s.deform.from)));
    for (const std::string& glob : s.deform.exclude) add("exclude", shell_word(glob));
    for (const std::string& glob : s.deform.include) add("include", shell_word(glob));
    if (s.save.weight_format != io::WeightFormat::f32)
        add("weight-format", std::string(name_of(s.save.weight_format)));
    if (s.save.fbx_unit != io::FbxUnit::cm) add("fbx-unit", "m");
    if (s.save.repair_matrices) add("repair-matrices", "");
    return out;
}

io::PoseClip clip_of(const snw_animation& animation, std::size_t joints) {
    io::PoseClip clip{animation.name ? animation.name : "", animation.step != 0, {}};
    for (std::size_t k = 0; k < animation.keys; ++k)
        clip.keys.push_back({animation.times[k], read_pose(animation.poses + k * joints * kPoseNumbers, joints)});
    return clip;
}

/// Checks that the method and its law read every option whose value is not that of its preset.
Status check_all_read(const BindOptions& options) {
    const BindOptions usual = preset(options.method);
    for (const BindSetting& setting : bind_settings())
        if (option_text(options, setting.name) != option_text(usual, setting.name))
            SINEW_TRY(check_read(options, setting.name));
    return Done{};
}

BindOptions options_of(const snw_settings& settings) {
    BindOptions options = settings.bind;
    options.keep_volume = settings.keep_volume;
    return options;
}

/// Before a bind: checks the options, and gives the skeleton with the joints that deform.
Result<Skeleton> prepared(const snw_model& model, const snw_settings& settings) {
    SINEW_TRY(check_all_read(settings.bind));
    SINEW_TRY(check(settings.bind));
    return selected(model, &settings);
}

/// Sentences about names of the settings that match no joint.
std::vector<std::string> lost_globs(const snw_model& model, const snw_settings& settings) {
    std::vector<std::string> lost = unmatched_globs(model.scene.skeleton, "exclude", settings.deform.exclude);
    for (std::string& more : unmatched_globs(model.scene.skeleton, "include", settings.deform.include))
        lost.push_back(std::move(more));
    return lost;
}

/// The warnings of a bind, to the log.
void tell_of(const snw_binding& binding, const snw_model& model, const snw_settings& settings,
             const snw_context* context) {
    tell(context, binding.binding.report().warnings);
    if (context && context->log) tell(context, lost_globs(model, settings));
}

/// The locks of snw_model_select beside those of an edit list. `own`: the model's weights, empty rows if it has
/// none.
void add_locks(const snw_model& model, const SkinWeights& own, Locks& locks) {
    locks.weights = &own;
    add_flags(locks.vertices, model.kept_vertices);
    add_flags(locks.joints, model.locked_joints);
}

/// The rows of `own` where `kept` says so, with their bits, also empty ones; else those of `fresh`.
Result<SkinWeights> with_kept_rows(const SkinWeights& fresh, const SkinWeights& own,
                                   const std::vector<bool>& kept) {
    std::vector<std::uint32_t> counts(fresh.vertex_count());
    std::vector<Influence> all;
    for (std::size_t v = 0; v < counts.size(); ++v) {
        const auto row = kept[v] ? own[v] : fresh[v];
        counts[v] = static_cast<std::uint32_t>(row.size());
        all.insert(all.end(), row.begin(), row.end());
    }
    return SkinWeights::from_rows(counts, std::move(all));
}

/// Options of some methods or laws only.
template <typename T>
json names_of(std::span<const T> all) {
    json out = json::array();
    for (const T one : all) out.push_back(to_string(one));
    return out;
}

json methods_json() {
    json out = json::object();
    for (const MethodInfo& m : methods()) {
        json presets = json::object();
        for (const BindSetting& setting : bind_settings())
            if (const std::string value = option_text(preset(m.method), setting.name);
                setting.name != "method" && value != option_text(BindOptions{}, setting.name))
                presets[std::string(setting.name)] = value;
        out[std::string(m.name)] = {{"summary", m.summary}, {"presets", std::move(presets)}};
    }
    return out;
}

/// "name value, name value"
json sets_json(std::string_view left) {
    json out = json::object();
    while (!left.empty()) {
        const auto end = std::min(left.find(", "), left.size());
        const std::string_view pair = left.substr(0, end);
        left.remove_prefix(std::min(end + 2, left.size()));
        const auto gap = pair.find(' ');
        out[std::string(pair.substr(0, gap))] = pair.substr(gap + 1);
    }
    return out;
}

json settings_json() {
    json out = json::array();
    const auto add = [&](std::string_view name, const char* kind, std::string_view group,
                         std::vector<std::string> choices, std::string_view help, const std::string& value) {
        out.push_back({{"name", name},
                       {"kind", kind},
                       {"group", group},
                       {"choices", std::move(choices)},
                       {"help", help},
                       {"value", value}});
    };
    for (const BindSetting& s : bind_settings()) {
        static constexpr const char* kinds[] = {"number", "whole", "choice", "flag", "range"};
        std::vector<std::string> choices;
        for (std::string_view rest = s.choices; !rest.empty();) {
            const auto end = std::min(rest.find(' '), rest.size());
            choices.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        add(s.name, kinds[static_cast<int>(s.kind)], s.group, std::move(choices), s.help,
            option_text(BindOptions{}, s.name));
        if (!s.methods.empty()) out.back()["read_by_methods"] = names_of(s.methods);
        if (!s.laws.empty()) out.back()["read_by_laws"] = names_of(s.laws);
        if (s.name == "method") out.back()["methods"] = methods_json();
        if (!s.sets.empty()) out.back()["sets"] = sets_json(s.sets);
    }
    add("deform-from", "choice", "Joints", words_of(deform_from_words), "Which joints deform", "auto");
    add("weight-format", "choice", "Output", words_of(weight_format_words), "f32, u16 or u8; integers sum exactly",
        "f32");
    add("fbx-unit", "choice", "Output", words_of(fbx_unit_words), "cm or m, of a new FBX", "cm");
    add("repair-matrices", "flag", "Output", words_of(kSwitch),
        "Write inverse bind matrices that are missing or zero, as the nodes' rest pose gives them", "off");
    return out;
}

struct Clips {
    const snw_animation* first;
    size_t count;
};

/// Calls write(scene, options, report) with what snw_save_glb saves.
template <typename Write>
snw_status save_with(const snw_model* model, const snw_weights* weights, const snw_settings* settings, Clips clips,
                     snw_bytes** notes, Write&& write) {
    if (notes) *notes = nullptr;
    if (!model || !weights) return missing(!model ? "model" : "weights");
    if (clips.count && !clips.first) return missing("animations");
    return guarded([&]() -> Status {
        SINEW_TRY(io::check_weights(model->scene, weights->weights, "weights"));
        io::SaveOptions options = settings ? settings->save : io::SaveOptions{};
        options.clips = model->scene.skeleton_clips;
        for (const snw_animation& a : std::span(clips.first, clips.count)) {
            if (a.keys && (!a.times || !a.poses))
                return Error{ErrorCode::usage, std::string(a.times ? "poses" : "times") + " must not be null"};
            options.clips.push_back(clip_of(a, model->scene.skeleton.joints.size()));
        }
        io::SaveReport report;
        // A model from arrays has no file to change: a new one is made.
        Result<io::Scene> fresh = Error{};
        if (!model->scene.document) {
            Skeleton skeleton = model->scene.skeleton;
            fresh =
                io::make_scene(model->scene.positions, model->scene.triangles, std::move(skeleton), model->name);
            if (!fresh) return fresh.error();
        }
        SINEW_TRY(write(fresh ? *fresh : model->scene, options, report));
        if (notes) *notes = new_text(lines(report.notes));
        return Done{};
    });
}

snw_status save_bytes(decltype(io::save_glb_bytes)* write, const snw_model* model, const snw_weights* weights,
                      const snw_settings* settings, Clips clips, snw_bytes** notes, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    std::unique_ptr<snw_bytes> file;
    const snw_status status =
        save_with(model, weights, settings, clips, notes,
                  [&](const io::Scene& scene, const io::SaveOptions& options, io::SaveReport& report) -> Status {
                      SINEW_TRY_LET(const auto made, write(scene, weights->weights, options, &report));
                      file.reset(new_text({reinterpret_cast<const char*>(made.data()), made.size()}));
                      return Done{};
                  });
    if (status == SNW_OK) *out = file.release();
    return status;
}

/// The edit list as parse_edits reads it. The model keeps the last one: finding its vertices takes longer than
/// weights.
Result<Adjustments> read_edits(const snw_model& model, std::string_view text, Context* context) {
    {
        const std::lock_guard lock(model.measuring);
        if (model.edits && model.edits_text == text) return Adjustments(*model.edits);
    }
    SINEW_TRY_LET(Adjustments read, io::parse_edits(model.scene, text, "edits", context));
    auto kept = std::make_shared<const Adjustments>(read);
    const std::lock_guard lock(model.measuring);
    model.edits_text = text;
    model.edits = std::move(kept);
    return read;
}

}  // namespace

}  // namespace sinew::capi

using namespace sinew;
using namespace sinew::capi;

extern "C" {

snw_status snw_settings_new(snw_settings** out) {
    if (!out) return missing("out");
    *out = nullptr;
    return guarded([&]() -> Status {
        *out = new snw_settings;
        return Done{};
    });
}
void snw_settings_free(snw_settings* settings) { delete settings; }

snw_status snw_settings_set(snw_settings* settings, const char* name, const char* value) {
    if (!settings || !name || !value) return missing(!settings ? "settings" : !name ? "name" : "value");
    return guarded([&]() -> Status { return set(*settings, name, value); });
}

snw_status snw_settings_get(const snw_settings* settings, const char* name, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!settings || !name) return missing(!settings ? "settings" : "name");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(std::string text, get(*settings, name));
        *out = new_text(std::move(text));
        return Done{};
    });
}

snw_status snw_settings_command(const snw_settings* settings, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!settings) return missing("settings");
    return guarded([&]() -> Status {
        *out = new_text(command_of(*settings));
        return Done{};
    });
}

snw_status snw_settings_json(snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    return guarded([&]() -> Status {
        *out = new_text(compact_text(settings_json()));
        return Done{};
    });
}

snw_status snw_bind(const snw_model* model, const snw_settings* settings, snw_context* context, snw_binding** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !settings) return missing(!model ? "model" : "settings");
    return guarded([&]() -> Status {
        const ModelUse use(*model, ModelUse::reads);
        SINEW_TRY(use.allowed());
        SINEW_TRY_LET(const Skeleton skeleton, prepared(*model, *settings));
        const Progressing progress(context);
        SINEW_TRY_LET(Binding made, sinew::bind(model->scene.mesh(), model->scene.part_of_vertex, skeleton,
                                                options_of(*settings), context_of(context)));
        std::unique_ptr<snw_binding> handle(new snw_binding{std::move(made)});
        tell_of(*handle, *model, *settings, context);
        *out = handle.release();
        return progress.done();
    });
}

snw_status snw_bind_progressive(const snw_model* model, const snw_settings* settings, snw_bind_step on_result,
                                void* user, snw_context* context, snw_binding** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !settings || !on_result) return missing(!model ? "model" : !settings ? "settings" : "on_result");
    return guarded([&]() -> Status {
        const ModelUse use(*model, ModelUse::reads);
        SINEW_TRY(use.allowed());
        SINEW_TRY_LET(const Skeleton skeleton, prepared(*model, *settings));
        bool stopped = false;
        // The last result is moved into its handle, without a copy.
        const BindStep step = [&](const Binding& binding, bool final) {
            if (final) return true;
            const snw_binding handle{binding};
            stopped = on_result(&handle, 0, user) == 0;
            return !stopped;
        };
        const Progressing progress(context, true);
        SINEW_TRY_LET(Binding made,
                      sinew::bind_progressive(model->scene.mesh(), model->scene.part_of_vertex, skeleton,
                                              options_of(*settings), step, context_of(context)));
        std::unique_ptr<snw_binding> handle(new snw_binding{std::move(made)});
        if (!stopped) on_result(handle.get(), 1, user);
        tell_of(*handle, *model, *settings, context);
        *out = handle.release();
        return progress.done();
    });
}

snw_status snw_binding_copy(const snw_binding* binding, snw_binding** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!binding) return missing("binding");
    return guarded([&]() -> Status {
        *out = new snw_binding{binding->binding};
        return Done{};
    });
}

const uint8_t* snw_binding_coverage(const snw_binding* binding) {
    return binding ? reinterpret_cast<const uint8_t*>(binding->binding.coverage().data()) : nullptr;
}

snw_status snw_binding_report(const snw_binding* binding, const snw_model* model, const snw_settings* settings,
                              snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!binding || !model || !settings) return missing(!binding ? "binding" : !model ? "model" : "settings");
    return guarded([&]() -> Status {
        if (!binding->binding.is_of(model->scene.mesh(), model->scene.skeleton))
            return Error{ErrorCode::usage, "binding: it is of another model, or of other skins"};
        BindRun run;
        run.input = model->name;
        run.options = settings->bind;
        run.deform_from = settings->deform.from;
        run.weight_format = settings->save.weight_format;
        run.scene = &model->scene;
        run.binding = &binding->binding;
        run.warnings = lost_globs(*model, *settings);
        const std::shared_ptr<const MeasuredDefects> measured = measured_of(*model);
        if (measured) run.intersections = &measured->intersections;
        run.nonmanifold_vertices = measured ? measured->nonmanifold_vertices : 0;
        *out = new_text(compact_text(make_report(run)));
        return Done{};
    });
}

void snw_binding_free(snw_binding* binding) { delete binding; }

snw_status snw_weights_of(const snw_binding* binding, const snw_model* model, const snw_settings* settings,
                          const char* edits, size_t edits_size, snw_context* context, snw_bytes** report,
                          snw_weights** out) {
    return snw_weights_in_pose(binding, model, settings, edits, edits_size, nullptr, context, report, out);
}

snw_status snw_weights_in_pose(const snw_binding* binding, const snw_model* model, const snw_settings* settings,
                               const char* edits, size_t edits_size, const double* matrices, snw_context* context,
                               snw_bytes** report, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (report) *report = nullptr;
    if (!binding || !model || !settings) return missing(!binding ? "binding" : !model ? "model" : "settings");
    return guarded([&]() -> Status {
        const io::Scene& scene = model->scene;
        const Skeleton& skeleton = binding->binding.skeleton();  // with the joints that deform in this bind
        if (!binding->binding.is_of(scene.mesh(), scene.skeleton))
            return Error{ErrorCode::usage, "binding: it is of another model, or of other skins"};
        SINEW_TRY(check(settings->bind.falloff));
        SINEW_TRY(check(settings->bind.finish));
        Result<Adjustments> adjustments = Adjustments{};
        if (edits && edits_size) {
            adjustments = read_edits(*model, {edits, edits_size}, context_of(context));
            if (!adjustments) return adjustments.error();
            std::vector<Transform> pose;
            if (matrices) pose = transforms_of(matrices, skeleton.joints.size());
            Status ok = complete_edits(*adjustments, scene.mesh(), skeleton,
                                       scene.weights ? &*scene.weights : nullptr, context_of(context), pose);
            if (!ok) return ok.error();
        }
        SkinWeights own;
        if (!model->kept_vertices.empty() || !model->locked_joints.empty()) {
            Result<SkinWeights> unweighted = Error{};
            if (!scene.weights) {
                unweighted = SkinWeights::from_rows(std::vector<std::uint32_t>(scene.positions.size()), {});
                if (!unweighted) return unweighted.error();
            }
            own = scene.weights ? *scene.weights : std::move(*unweighted);
            add_locks(*model, own, adjustments->locks);
        }
        // Hardness of single joints is in the binding's map.
        FalloffOptions falloff = settings->bind.falloff;
        const FalloffOptions& bound = binding->binding.options().falloff;
        falloff.map = map_under(bound.map, bound.law, falloff.law);
        EditReport done;
        Result<SkinWeights> made =
            adjusted_weights(binding->binding, scene.mesh(), skeleton, falloff, settings->bind.finish, *adjustments,
                             &done, context_of(context));
        if (made && !model->kept_vertices.empty()) made = with_kept_rows(*made, own, model->kept_vertices);
        if (!made) return made.error();
        tell(context, done.warnings);
        std::vector<std::string> said = edit_lines(*adjustments, done);
        for (const std::string& warning : done.warnings) said.push_back("warning: " + warning);
        std::unique_ptr<snw_bytes> text(report ? new_text(lines(said)) : nullptr);
        *out = new snw_weights{std::move(*made)};
        if (report) *report = text.release();
        return Done{};
    });
}

size_t snw_weights_width(const snw_weights* weights) { return weights ? weights->weights.max_influences() : 0; }

snw_status snw_weights_rows(const snw_weights* weights, size_t width, uint16_t* joints, float* shares) {
    if (!weights || !joints || !shares) return missing(!weights ? "weights" : !joints ? "joints" : "shares");
    const SkinWeights& w = weights->weights;
    for (std::size_t v = 0; v < w.vertex_count(); ++v)
        for (std::size_t k = 0; k < width; ++k) {
            const bool used = k < w[v].size();
            joints[v * width + k] = used ? static_cast<uint16_t>(w[v][k].joint) : uint16_t{0};
            shares[v * width + k] = used ? w[v][k].weight : 0.f;
        }
    return SNW_OK;
}

snw_status snw_weights_joint(const snw_weights* weights, size_t joint, float* shares) {
    if (!weights || !shares) return missing(!weights ? "weights" : "shares");
    const SkinWeights& w = weights->weights;
    for (std::size_t v = 0; v < w.vertex_count(); ++v) {
        shares[v] = 0;
        for (const Influence& i : w[v])
            if (i.joint == joint) shares[v] = i.weight;
    }
    return SNW_OK;
}

snw_status snw_weights_difference(const snw_weights* a, const snw_weights* b, float* difference) {
    if (!a || !b || !difference) return missing(!a ? "a" : !b ? "b" : "difference");
    return guarded([&]() -> Status {
        const SkinWeights &x = a->weights, &y = b->weights;
        if (x.vertex_count() != y.vertex_count())
            return Error{ErrorCode::usage, "weights of " + std::to_string(x.vertex_count()) + " and of " +
                                               std::to_string(y.vertex_count()) + " vertices cannot be compared"};
        for (std::size_t v = 0; v < x.vertex_count(); ++v) {
            const auto share = [](std::span<const Influence> row, std::uint32_t joint) {
                for (const Influence& i : row)
                    if (i.joint == joint) return i.weight;
                return 0.f;
            };
            double sum = 0;
            for (const Influence& i : x[v]) sum += std::abs(i.weight - share(y[v], i.joint));
            for (const Influence& i : y[v])
                if (share(x[v], i.joint) == 0) sum += i.weight;
            difference[v] = x[v].empty() || y[v].empty() ? 0.f : static_cast<float>(sum);
        }
        return Done{};
    });
}

void snw_weights_free(snw_weights* weights) { delete weights; }

snw_status snw_distances(const snw_model* model, const snw_settings* settings, size_t joint, snw_context* context,
                         float* distances) {
    if (!model || !settings || !distances) return missing(!model ? "model" : !settings ? "settings" : "distances");
    return guarded([&]() -> Status {
        if (joint >= model->scene.skeleton.joints.size())
            return Error{ErrorCode::usage, "joint " + std::to_string(joint) + ": the skeleton has " +
                                               std::to_string(model->scene.skeleton.joints.size()) + " joints"};
        SINEW_TRY_LET(const Skeleton skeleton, selected(*model, settings));
        SINEW_TRY_LET(
            std::vector<float> made,
            joint_distance(model->scene.mesh(), skeleton, static_cast<std::uint32_t>(joint), settings->bind.voxels,
                           GeodesicOptions{settings->bind.penalty}, context_of(context)));
        std::copy(made.begin(), made.end(), distances);
        return Done{};
    });
}

snw_status snw_save_glb(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                        snw_bytes** notes, snw_bytes** out) {
    return snw_save_glb_animated(model, weights, settings, nullptr, 0, notes, out);
}

snw_status snw_save_glb_animated(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                                 const snw_animation* animations, size_t count, snw_bytes** notes,
                                 snw_bytes** out) {
    return save_bytes(io::save_glb_bytes, model, weights, settings, {animations, count}, notes, out);
}

snw_status snw_save_fbx(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                        const snw_animation* animations, size_t count, snw_bytes** notes, snw_bytes** out) {
    return save_bytes(io::save_fbx_bytes, model, weights, settings, {animations, count}, notes, out);
}

snw_status snw_save_file(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                         const snw_animation* animations, size_t count, const char* path, snw_bytes** notes) {
    if (!path) return missing("path");
    return save_with(model, weights, settings, {animations, count}, notes,
                     [&](const io::Scene& scene, const io::SaveOptions& options, io::SaveReport& report) -> Status {
                         SINEW_TRY_LET(report, io::save(scene, weights->weights, path, options));
                         return Done{};
                     });
}

snw_status snw_save_json(const snw_model* model, const snw_weights* weights, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !weights) return missing(!model ? "model" : "weights");
    return guarded([&]() -> Status {
        SINEW_TRY(fits(*model, weights->weights));
        SINEW_TRY_LET(std::string text, io::weights_json(model->scene.skeleton, weights->weights));
        *out = new_text(std::move(text));
        return Done{};
    });
}

}  // extern "C"
