// The options of bind by word: one table for the command line, the C interface, the page, the report and kept
// bindings. A row says how an option reads and prints, its range, and which methods and falloff laws read it.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "bind/method_table.h"
#include "core/numbers.h"
#include "core/try.h"
#include "sinew/voxels.h"
#include "weights/law_table.h"

namespace sinew {

namespace {

using Kind = BindSetting::Kind;

Error wrong(std::string_view name, std::string_view value, const std::string& rule) {
    return {ErrorCode::usage, "`" + std::string(name) + " " + printable(value) + "`: " + rule};
}

/// The words of a list that is separated by spaces.
std::vector<std::string> words_of(std::string_view list) {
    std::vector<std::string> out;
    while (!list.empty()) {
        const auto end = std::min(list.find(' '), list.size());
        out.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return out;
}

/// "a, b or c"
std::string listed(std::string_view list) {
    std::string out;
    const std::vector<std::string> words = words_of(list);
    for (std::size_t i = 0; i < words.size(); ++i)
        out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return out;
}

/// "choose a, b or c (did you mean 'c'?)"
std::string choose(std::string_view words, std::string_view value) {
    return "choose " + listed(words) + did_you_mean(value, words_of(words));
}

/// Which of the words it is, counted from 0.
std::optional<int> place_in(std::string_view words, std::string_view word) {
    for (int place = 0; !words.empty(); ++place) {
        const auto end = std::min(words.find(' '), words.size());
        if (words.substr(0, end) == word) return place;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return std::nullopt;
}
std::string word_at(std::string_view words, int place) {
    for (; place > 0; --place) words.remove_prefix(std::min(words.find(' ') + 1, words.size()));
    return std::string(words.substr(0, words.find(' ')));
}

/// Range of an option; none if the member's type (FalloffOptions, VoxelizeOptions …) has a check of its own.
struct Range {
    double least = -INFINITY, most = INFINITY;
    bool above_least = false;  ///< the lower limit itself is not allowed
};

/// A row of the table.
struct Row {
    BindSetting info;
    Status (*set)(const BindSetting&, BindOptions&, std::string_view);
    std::string (*get)(const BindSetting&, const BindOptions&);
    Range range = {};
    bool refuse_unread = false;  ///< check refuses another value than the default where the method does not read it
};

/// Which methods and which falloff laws read an option; empty: all.
struct Readers {
    std::span<const Method> methods = {};
    std::span<const FalloffLaw> laws = {};
};

/// For Readers: these methods, or these laws.
template <auto first, auto... rest>
constexpr decltype(first) only[] = {first, rest...};

// Field: a function from the options to a reference to the member that is set.
template <auto Field>
constexpr Row number(std::string_view name, std::string_view group, Readers readers, std::string_view help,
                     Range range = {}) {
    return {
        {name, Kind::number, group, "", help, readers.methods, readers.laws},
        [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
            const auto read = number_of<float>(value);
            if (!read) return wrong(s.name, value, "a number is needed");
            Field(o) = *read;
            return Done{};
        },
        [](const BindSetting&, const BindOptions& o) { return shortest_text(Field(const_cast<BindOptions&>(o))); },
        range};
}

/// A whole number; `choices` is one word that stands for 0, or empty.
template <auto Field>
constexpr Row whole(std::string_view name, std::string_view group, std::string_view choices, Readers readers,
                    std::string_view help, Range range = {}) {
    return {{name, Kind::whole, group, choices, help, readers.methods, readers.laws},
            [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
                const bool word = !s.choices.empty() && value == s.choices;
                const auto read = word ? 0 : number_of<int>(value);
                // If 0 has a special meaning, it has a word.
                if (!read || (!word && !s.choices.empty() && *read < 1))
                    return wrong(s.name, value,
                                 "a whole number" +
                                     (s.choices.empty() ? "" : " from 1, or '" + std::string(s.choices) + "',") +
                                     " is needed");
                Field(o) = *read;
                return Done{};
            },
            [](const BindSetting& s, const BindOptions& o) {
                const int value = Field(const_cast<BindOptions&>(o));
                return value == 0 && !s.choices.empty() ? std::string(s.choices) : shortest_text(value);
            },
            range};
}

/// `choices` in the order of the enumeration's values, which are 0, 1, 2 …
template <auto Field>
constexpr Row choice(std::string_view name, std::string_view group, std::string_view choices, Readers readers,
                     std::string_view help) {
    return {{name, Kind::choice, group, choices, help, readers.methods, readers.laws},
            [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
                const auto place = place_in(s.choices, value);
                if (!place) return wrong(s.name, value, choose(s.choices, value));
                auto& field = Field(o);
                field = static_cast<std::remove_reference_t<decltype(field)>>(*place);
                return Done{};
            },
            [](const BindSetting& s, const BindOptions& o) {
                return word_at(s.choices, static_cast<int>(Field(const_cast<BindOptions&>(o))));
            }};
}

template <auto Field>
constexpr Row on_or_off(std::string_view name, Kind kind, Readers readers, std::string_view help) {
    return {{name, kind, "Method", "on off", help, readers.methods, readers.laws},
            [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
                const auto place = place_in("on off", value);
                if (!place) return wrong(s.name, value, "choose on or off");
                Field(o) = *place == 0;
                return Done{};
            },
            [](const BindSetting&, const BindOptions& o) -> std::string {
                return Field(const_cast<BindOptions&>(o)) ? "on" : "off";
            }};
}

Status set_method(const BindSetting& s, BindOptions& options, std::string_view value) {
    for (const MethodInfo& m : methods())
        if (m.name == value) {
            options = preset(m.method);
            return Done{};
        }
    return wrong(s.name, value, choose(s.choices, value));
}

/// The values of Dionne and de Lasa (2014), "unless noted, examples use", and of eq. 8.
constexpr std::string_view kAsPublished =
    "resolution 256, local-resolution off, view-pairs either, winding-numbers on, domain sparse, penalty 4, "
    "overshoot 0, "
    "falloff-law inverse-power, falloff 0.1, lambda-min 5, lambda-max 30, max-influences 4, limit-rule cut";

Status set_as_published(const BindSetting& s, BindOptions& options, std::string_view value) {
    const auto place = place_in("on off", value);
    if (!place) return wrong(s.name, value, "choose on or off");
    options.as_published = *place == 0;
    if (!options.as_published) return Done{};
    options.finish.prune = 0;
    for (std::string_view left = s.sets; !left.empty();) {
        const auto end = std::min(left.find(", "), left.size());
        const std::string_view pair = left.substr(0, end);
        left.remove_prefix(std::min(end + 2, left.size()));
        const auto gap = pair.find(' ');
        SINEW_TRY(set_option(options, pair.substr(0, gap), pair.substr(gap + 1)));
    }
    return Done{};
}

Status set_hard_range(const BindSetting& s, BindOptions& options, std::string_view value) {
    const auto gap = value.find(' ');
    const auto from = number_of<float>(value.substr(0, gap));
    const auto to = gap == value.npos ? std::nullopt : number_of<float>(value.substr(gap + 1));
    if (!from || !to) return wrong(s.name, value, "two numbers are needed");
    options.hard_range = {*from, *to};
    return Done{};
}

using O = BindOptions;

const std::string& law_names() {
    static const std::string names = [] {
        std::string out;
        for (const LawTableRow& row : kLaws) out += (out.empty() ? "" : " ") + std::string(row.name);
        return out;
    }();
    return names;
}

/// In the order of the table of laws.
template <typename Predicate>
std::vector<FalloffLaw> laws_where(Predicate&& predicate) {
    std::vector<FalloffLaw> out;
    for (const LawTableRow& row : kLaws)
        if (predicate(row)) out.push_back(row.law);
    return out;
}

const std::string& method_names() {
    static const std::string names = [] {
        std::string out;
        for (const MethodInfo& m : methods()) out += (out.empty() ? "" : " ") + std::string(m.name);
        return out;
    }();
    return names;
}

/// In the order of the table of methods.
template <typename Predicate>
std::vector<Method> methods_where(Predicate&& predicate) {
    std::vector<Method> out;
    for (const MethodInfo& m : methods())
        if (predicate(*find_method(m.method))) out.push_back(m.method);
    return out;
}

/// For an option that most users need.
Row everyday(Row row) {
    row.info.everyday = true;
    return row;
}

/// For an option that no preset changes: another value is an error if the method does not read it.
Row refuse_unread(Row row) {
    row.refuse_unread = true;
    return row;
}

// Longer than 80 lines: a table, one row per option.
const std::vector<Row>& rows() {
    using MethodRow = MethodTableRow;
    static const auto in_volume = methods_where([](const MethodRow& m) { return m.has_volume(); });
    static const auto in_voxels_or_pixels = [] {
        std::vector<Method> out = in_volume;
        const auto flat = methods_where([](const MethodRow& m) { return m.is_flat(); });
        out.insert(out.end(), flat.begin(), flat.end());
        return out;
    }();
    static const auto with_local = methods_where([](const MethodRow& m) { return m.local_resolution; });
    static const auto with_distances =
        methods_where([](const MethodRow& m) { return m.has_volume() && m.volume_field == FieldKind::distance; });
    static const auto of_strengths = laws_where([](const LawTableRow& l) { return l.of_strengths; });
    static const auto with_lambda = laws_where([](const LawTableRow& l) { return l.reads_lambda; });
    static const auto with_smoothness =
        laws_where([](const LawTableRow& l) { return l.shape == &FalloffOptions::smoothness; });
    static const auto with_threshold =
        laws_where([](const LawTableRow& l) { return l.shape == &FalloffOptions::threshold; });
    static const auto with_overshoot = methods_where([](const MethodRow& m) { return m.overshoot; });
    static const std::vector<Row> table{
        everyday({{"method", Kind::choice, "Method", method_names(),
                   "Binding method (docs/methods). Each method has defaults of its own for other options"},
                  set_method,
                  [](const BindSetting&, const BindOptions& o) { return std::string(to_string(o.method)); }}),
        refuse_unread(
            {{"as-published",
              Kind::flag,
              "Method",
              "on off",
              "The method exactly as published by Dionne and de Lasa (2014); other options change single settings",
              only<Method::geodesic_voxel>,
              {},
              kAsPublished},
             set_as_published,
             [](const BindSetting&, const BindOptions& o) -> std::string {
                 return o.as_published ? "on" : "off";
             }}),
        everyday(whole<[](O& o) -> int& { return o.voxels.resolution; }>(
            "resolution", "Method", "auto", {in_voxels_or_pixels},
            "Voxels along the longest side: 32, 64, … 1024, or auto: by the thinnest limb and the narrowest gap; "
            "pixel-geodesic: pixels, up to 4096")),
        on_or_off<[](O& o) -> bool& { return o.local_resolution; }>(
            "local-resolution", Kind::flag, {with_local},
            "Twice the resolution at fingers and at limbs close to each other"),
        number<[](O& o) -> float& { return o.penalty; }>("penalty", "Method", {with_distances},
                                                         "Cost factor of a step into a boundary voxel; 1 = none"),
        number<[](O& o) -> float& { return o.overshoot; }>(
            "overshoot", "Method", {with_overshoot},
            "Fraction of the length past a bone's end that is added to its distance; 0 = none", {0, 100}),
        choice<[](O& o) -> DomainKind& { return o.domain; }>(
            "domain", "Method", "sparse uniform sparse-boundary", {in_volume},
            "sparse: fine at the surface and at bones; uniform; sparse-boundary: fine at the surface only, for "
            "geodesic-voxel"),
        {{"neighbours", Kind::choice, "Method", "8 4", "Neighbours of a pixel: 8, or 4 (breadth-first search)",
          only<Method::pixel_geodesic>},
         [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
             if (value != "8" && value != "4") return wrong(s.name, value, "choose 8 or 4");
             o.neighbours = value == "8" ? Neighbours::all : Neighbours::faces;
             return Done{};
         },
         [](const BindSetting&, const BindOptions& o) -> std::string {
             return o.neighbours == Neighbours::faces ? "4" : "8";
         }},
        refuse_unread(on_or_off<[](O& o) -> bool& { return o.one_pixel; }>(
            "one-pixel", Kind::flag, {only<Method::pixel_geodesic>},
            "A vertex reads the pixel that contains it, as in the source, not the four around it")),
        on_or_off<[](O& o) -> bool& { return o.voxels.winding_numbers; }>(
            "winding-numbers", Kind::choice, {in_volume},
            "Decide by winding numbers whether ambiguous voxels are inside"),
        choice<[](O& o) -> ViewPairs& { return o.voxels.view_pairs; }>(
            "view-pairs", "Method", "both either", {in_volume},
            "A voxel has the vote of an axis if both views along it see a back face first, or either of them"),
        choice<[](O& o) -> Voxelizer& { return o.voxels.voxelizer; }>(
            "voxelizer", "Method", "cpu hardware", {in_volume},
            "hardware: the same voxels, from z-buffer slices drawn by OpenGL"),
        {{"hard-range", Kind::range, "Method", "",
          "FROM TO, 0 a bone's head and 1 its tail: vertices between follow only this bone",
          only<Method::connectivity>},
         set_hard_range,
         [](const BindSetting&, const BindOptions& o) {
             return shortest_text(o.hard_range[0]) + " " + shortest_text(o.hard_range[1]);
         }},
        refuse_unread(choice<[](O& o) -> RingPlacement& { return o.rings; }>(
            "rings", "Method", "joint bone axes", {only<Method::mesh_geodesic>},
            "joint: ring at the joint; bone: at the middle of its bones; axes: at the joint, across one of its "
            "axes")),
        refuse_unread(choice<[](O& o) -> RingStart& { return o.ring_start; }>(
            "ring-start", "Method", "late zero", {only<Method::mesh_geodesic>},
            "late: places of a ring far from the joint start at a distance; zero: all of it at 0, as published")),
        refuse_unread(on_or_off<[](O& o) -> bool& { return o.all_pairs; }>(
            "all-pairs", Kind::flag, {only<Method::mesh_geodesic>},
            "Compute the same distances by a matrix of all pairs (for small meshes)")),
        number<[](O& o) -> float& { return o.cooling; }>(
            "cooling", "Method", {only<Method::voxel_heat>},
            "Heat loss at the surface, per longest side; larger = steeper falloff; 0 = none, with iterations",
            {0, 1e5}),
        refuse_unread(whole<[](O& o) -> int& { return o.iterations; }>(
            "iterations", "Method", "", {only<Method::voxel_heat>},
            "Number of averaging sweeps instead of the solver; 0 = solver", {0, 1e6})),
        refuse_unread(choice<[](O& o) -> HeatBy& { return o.heat; }>(
            "heat", "Method", "cpu hardware", {only<Method::voxel_heat>},
            "hardware: heat by OpenGL, with the same weights within 0.001")),
        number<[](O& o) -> float& { return o.heat_transfer; }>(
            "heat-transfer", "Method", {only<Method::surface_heat, Method::bone_heat>},
            "c in the heat c / d² of a bone at distance d; larger = harder joints", {0, 1e6, true}),
        number<[](O& o) -> float& { return o.learned; }>(
            "learned", "Method", {only<Method::surface_heat>},
            "Strength of the correction that was learned from artists; 0 = none", {0, 1}),

        on_or_off<[](O& o) -> bool& { return o.fit_check; }>(
            "fit-check", Kind::choice, {}, "Refuse a skeleton in another place or unit than the mesh"),

        everyday(number<[](O& o) -> float& { return o.falloff.alpha; }>(
            "falloff", "Weights", {}, "Hardness α of the joints, 0 (soft) to 1 (hard)")),
        number<[](O& o) -> float& { return o.falloff.lambda_min; }>("lambda-min", "Weights", {{}, with_lambda},
                                                                    "Exponent at α = 0"),
        number<[](O& o) -> float& { return o.falloff.lambda_max; }>("lambda-max", "Weights", {{}, with_lambda},
                                                                    "Exponent at α = 1"),
        choice<[](O& o) -> FalloffLaw& { return o.falloff.law; }>(
            "falloff-law", "Weights", law_names(), {},
            "Function from distance to weight; power is for heat methods"),
        number<[](O& o) -> float& { return o.falloff.smoothness; }>(
            "smoothness", "Weights", {{}, with_smoothness},
            "Distance at which influence falls to 1/e, as a fraction of the longest side"),
        number<[](O& o) -> float& { return o.falloff.threshold; }>(
            "threshold", "Weights", {{}, with_threshold},
            "Maximum distance of influence, as a fraction of the longest side"),
        number<[](O& o) -> float& { return o.falloff.power; }>(
            "power", "Weights", {{}, of_strengths}, "Exponent of heat or weights; above 1 = harder joints"),
        everyday(whole<[](O& o) -> int& { return o.finish.max_influences; }>("max-influences", "Weights", "all", {},
                                                                             "Joints per vertex: 1..8 or all")),
        choice<[](O& o) -> LimitRule& { return o.finish.limit_rule; }>(
            "limit-rule", "Weights", "fade cut", {},
            "fade: smooth where the strongest joints change; cut: drop the weakest"),
    };
    return table;
}

const Row* row_of(std::string_view name) {
    const auto found =
        std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.info.name == name; });
    return found == rows().end() ? nullptr : &*found;
}

Error no_option(std::string_view name) {
    std::string listed;
    std::vector<std::string> known;
    for (const Row& row : rows()) {
        listed += (listed.empty() ? "" : ", ") + std::string(row.info.name);
        known.emplace_back(row.info.name);
    }
    const std::string near = did_you_mean(name, known);
    return {ErrorCode::usage,
            "there is no option '" + printable(name) + "'" + (near.empty() ? " (options: " + listed + ")" : near)};
}

Status check_range(const Row& row, const BindOptions& options) {
    const Range& range = row.range;
    if (row.info.kind != Kind::number && row.info.kind != Kind::whole) return Done{};
    const std::string text = row.get(row.info, options);
    if (range.least == -INFINITY && range.most == INFINITY) return Done{};
    const auto value = number_of<double>(text);  // NaN fails
    if (value && *value <= range.most && (range.above_least ? *value > range.least : *value >= range.least))
        return Done{};
    const auto whole_text = [](double limit) { return std::to_string(static_cast<long long>(limit)); };
    const auto least = whole_text(range.least), most = whole_text(range.most);
    return Error{ErrorCode::usage, "`" + std::string(row.info.name) + " " + text + "`" +
                                       (range.above_least ? " must be above " + least + " and at most " + most
                                                          : " is not within " + least + ".." + most)};
}

/// The methods or laws that read an option: "a, b or c".
template <typename T>
std::string named(std::span<const T> all) {
    std::string words;
    for (const T one : all) words += (words.empty() ? "" : " ") + std::string(to_string(one));
    return listed(words);
}

}  // namespace

bool BindSetting::read_by(Method method) const {
    return methods.empty() || std::find(methods.begin(), methods.end(), method) != methods.end();
}
bool BindSetting::read_by(FalloffLaw law) const {
    return laws.empty() || std::find(laws.begin(), laws.end(), law) != laws.end();
}

std::span<const BindSetting> bind_settings() {
    static const std::vector<BindSetting> all = [] {
        std::vector<BindSetting> out;
        for (const Row& row : rows()) out.push_back(row.info);
        return out;
    }();
    return all;
}

namespace {
// Made when the library is loaded. A child of fork would wait for ever for a table that another thread was making.
[[maybe_unused]] const bool settings_are_made = !bind_settings().empty();
}  // namespace

Status set_option(BindOptions& options, std::string_view name, std::string_view value) {
    const Row* const row = row_of(name);
    return row ? row->set(row->info, options, value) : no_option(name);
}

std::string option_text(const BindOptions& options, std::string_view name) {
    const Row* row = row_of(name);
    return row ? row->get(row->info, options) : std::string();
}

Status check_read(const BindOptions& options, std::string_view name) {
    const Row* const row = row_of(name);
    if (!row) return no_option(name);
    const BindSetting& s = row->info;
    if (!s.read_by(options.method))
        return Error{ErrorCode::usage, "method " + std::string(to_string(options.method)) + " does not read `" +
                                           std::string(name) + "`: leave it out, or choose " + named(s.methods)};
    if (!s.read_by(options.falloff.law))
        return Error{ErrorCode::usage, "falloff law " + std::string(to_string(options.falloff.law)) +
                                           " does not read `" + std::string(name) + "`: leave it out, or choose " +
                                           named(s.laws)};
    return Done{};
}

Status check(const BindOptions& options) {
    const MethodTableRow* const method = find_method(options.method);
    if (!method) return Error{ErrorCode::usage, "there is no such method"};
    const std::string method_name(method->info.name);
    VoxelizeOptions voxels = options.voxels;
    if (voxels.resolution == 0) {
        if (method->is_flat())
            return Error{ErrorCode::usage, method_name + " has no `resolution auto`: give one, or a picture"};
        voxels.resolution = 256;  // a chosen resolution is in range
    }
    if (method->is_flat() && voxels.resolution <= max_pixels)
        while (voxels.resolution > 1024) voxels.resolution /= 2;  // one layer may be finer
    SINEW_TRY(check(voxels));
    SINEW_TRY(check(GeodesicOptions{options.penalty}));
    SINEW_TRY(check(options.falloff));
    SINEW_TRY(check(options.finish));
    for (const Row& row : rows()) SINEW_TRY(check_range(row, options));
    if (const auto [lower, upper] = options.hard_range; !(std::isfinite(upper - lower) && lower <= upper))
        return Error{ErrorCode::usage, "`hard-range " + shortest_text(lower) + " " + shortest_text(upper) +
                                           "` must be two finite numbers, lower end first"};
    if (options.as_published && options.overshoot != 0)
        return Error{ErrorCode::usage, "`as-published`: the paper adds no `overshoot`; it must be 0"};
    if (options.as_published && options.local_resolution)
        return Error{ErrorCode::usage,
                     "`as-published`: the paper has voxels of one size; leave out `local-resolution`"};
    if (options.method == Method::voxel_heat && options.cooling < 1 &&
        (options.cooling != 0 || options.iterations == 0))
        return Error{ErrorCode::usage,
                     options.cooling == 0
                         ? "`cooling`: without loss all heat at rest is equal; 0 needs `iterations`"
                         : "`cooling` must lie within [1, 100000], or be 0 with `iterations`"};
    if (options.domain == DomainKind::sparse_boundary && !method->coarse_bones)
        return Error{ErrorCode::usage, "method " + method_name +
                                           " needs leaves that are fine where bones lie: `domain sparse-boundary` "
                                           "is for geodesic-voxel"};
    if (options.local_resolution) {
        if (!method->local_resolution || options.domain != DomainKind::sparse)
            return Error{ErrorCode::usage,
                         "`local-resolution` is for the sparse voxels of geodesic-voxel and surface-heat"};
        if (voxels.resolution > 512)
            return Error{
                ErrorCode::usage,
                "`local-resolution` doubles the `resolution` in places, and 1024 is the finest: 512 is its "
                "maximum"};
    }
    for (const Row& row : rows())
        if (row.refuse_unread && row.get(row.info, options) != row.get(row.info, BindOptions{}))
            SINEW_TRY(check_read(options, row.info.name));
    const LawTableRow* const law = find_law(options.falloff.law);
    if (law && law->of_strengths && method->info.field == FieldKind::distance)
        return Error{ErrorCode::usage, "falloff law " + std::string(law->name) +
                                           " is for heat and weights, and method " + method_name +
                                           " measures distances: choose another law"};
    if (law && !law->of_strengths && method->info.field == FieldKind::strength)
        return Error{ErrorCode::usage, "method " + method_name +
                                           " does not measure distances: its only falloff law is power "
                                           "(geodesic-voxel measures them)"};
    return Done{};
}

}  // namespace sinew
