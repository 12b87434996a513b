// The options of bind by word: one table for the command line, the C interface and the studio.
#include <algorithm>
#include <iterator>

#include "core/numbers.h"
#include "sinew/bind.h"

namespace sinew {

namespace {

using Kind = BindSetting::Kind;

Error wrong(std::string_view name, std::string_view value, const std::string& rule) {
    return {ErrorCode::usage, std::string(name) + " " + std::string(value) + ": " + rule};
}

/// "a, b or c"
std::string listed(std::string_view words) {
    std::string out;
    while (!words.empty()) {
        const auto end = std::min(words.find(' '), words.size());
        const std::string_view word = words.substr(0, end);
        words.remove_prefix(std::min(end + 1, words.size()));
        out += (out.empty() ? "" : words.empty() ? " or " : ", ") + std::string(word);
    }
    return out;
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

/// A row of the table: how an option is read into its field, and told from it.
struct Row {
    BindSetting info;
    Status (*set)(const BindSetting&, BindOptions&, std::string_view);
    std::string (*get)(const BindSetting&, const BindOptions&);
};

// Field: a function from the options to a reference to what is set.
template <auto Field>
constexpr Row number(std::string_view name, std::string_view group, std::string_view help) {
    return {
        {name, Kind::number, group, "", help, {}, {}},
        [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
            const auto read = number_of<float>(value);
            if (!read) return wrong(s.name, value, "a number is needed");
            Field(o) = *read;
            return Done{};
        },
        [](const BindSetting&, const BindOptions& o) { return shortest_text(Field(const_cast<BindOptions&>(o))); }};
}

/// A whole number; `choices` is one word that stands for 0, or empty.
template <auto Field>
constexpr Row whole(std::string_view name, std::string_view group, std::string_view choices,
                    std::string_view help) {
    return {{name, Kind::whole, group, choices, help, {}, {}},
            [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
                const bool word = !s.choices.empty() && value == s.choices;
                const auto read = word ? 0 : number_of<int>(value);
                // 0 has a word of its own where it has a meaning of its own.
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
            }};
}

/// `choices` in the order of the enumeration's values, which begin at 0 and leave none out.
template <auto Field>
constexpr Row choice(std::string_view name, std::string_view group, std::string_view choices,
                     std::string_view help) {
    return {{name, Kind::choice, group, choices, help},
            [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
                const auto place = place_in(s.choices, value);
                if (!place) return wrong(s.name, value, "choose " + listed(s.choices));
                auto& field = Field(o);
                field = static_cast<std::remove_reference_t<decltype(field)>>(*place);
                return Done{};
            },
            [](const BindSetting& s, const BindOptions& o) {
                return word_at(s.choices, static_cast<int>(Field(const_cast<BindOptions&>(o))));
            }};
}

template <auto Field>
constexpr Row on_or_off(std::string_view name, Kind kind, std::string_view help) {
    return {{name, kind, "Method", "on off", help},
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
    return wrong(s.name, value, "choose " + listed(s.choices));
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

const std::string& method_names() {
    static const std::string names = [] {
        std::string out;
        for (const MethodInfo& m : methods()) out += (out.empty() ? "" : " ") + std::string(m.name);
        return out;
    }();
    return names;
}

const std::vector<Row>& rows() {
    static const std::vector<Row> table{
        {{"method", Kind::choice, "Method", method_names(),
          "How to bind (docs/methods). A method comes with its own falloff"},
         set_method,
         [](const BindSetting&, const BindOptions& o) { return std::string(to_string(o.method)); }},
        whole<[](O& o) -> int& { return o.voxels.resolution; }>(
            "resolution", "Method", "auto",
            "Voxels along the longest side: 32, 64, … 1024, or auto: by the thinnest limb and the narrowest gap; "
            "pixel-geodesic: pixels, up to 4096"),
        on_or_off<[](O& o) -> bool& { return o.local_resolution; }>(
            "local-resolution", Kind::flag,
            "geodesic-voxel, surface-heat: twice the resolution for fingers and limbs beside each other"),
        number<[](O& o) -> float& { return o.penalty; }>("penalty", "Method",
                                                         "Cost factor of a step into a boundary voxel; 1 = none"),
        number<[](O& o) -> float& { return o.overshoot; }>(
            "overshoot", "Method", "Share of the length beyond a bone's end added to its distance; 0 = paper"),
        choice<[](O& o) -> DomainKind& { return o.domain; }>("domain", "Method", "sparse uniform",
                                                             "sparse or uniform voxels"),
        {{"neighbours", Kind::choice, "Method", "8 4",
          "pixel-geodesic: 4 (its default: breadth-first) or 8 ways from a pixel"},
         [](const BindSetting& s, BindOptions& o, std::string_view value) -> Status {
             if (value != "8" && value != "4") return wrong(s.name, value, "choose 8 or 4");
             o.neighbours = value == "8" ? Neighbours::all : Neighbours::faces;
             return Done{};
         },
         [](const BindSetting&, const BindOptions& o) -> std::string {
             return o.neighbours == Neighbours::faces ? "4" : "8";
         }},
        on_or_off<[](O& o) -> bool& { return o.voxels.winding_numbers; }>("winding-numbers", Kind::choice,
                                                                          "on or off: settle ambiguous voxels"),
        choice<[](O& o) -> Voxelizer& { return o.voxels.voxelizer; }>(
            "voxelizer", "Method", "cpu hardware",
            "cpu, or hardware: the same voxels by z-buffer slices through OpenGL"),
        {{"hard-range", Kind::range, "Method", "",
          "connectivity: FROM TO along a bone, 0..1, where vertices follow it alone"},
         set_hard_range,
         [](const BindSetting&, const BindOptions& o) {
             return shortest_text(o.hard_range[0]) + " " + shortest_text(o.hard_range[1]);
         }},
        choice<[](O& o) -> RingPlacement& { return o.rings; }>(
            "rings", "Method", "joint bone", "mesh-geodesic: rings at the joint or along its bones"),
        on_or_off<[](O& o) -> bool& { return o.all_pairs; }>(
            "all-pairs", Kind::flag, "mesh-geodesic: the same distances by the matrix of all pairs (small meshes)"),
        number<[](O& o) -> float& { return o.cooling; }>(
            "cooling", "Method", "voxel-heat: heat lost through the skin, per longest side; more falls faster"),
        whole<[](O& o) -> int& { return o.iterations; }>(
            "iterations", "Method", "", "voxel-heat: sweeps of plain averaging instead of solving; 0 solves"),
        number<[](O& o) -> float& { return o.heat_transfer; }>(
            "heat-transfer", "Method",
            "bone-heat, surface-heat: c in the heat c / d² of a bone at distance d; larger = harder joints"),

        number<[](O& o) -> float& { return o.falloff.alpha; }>("falloff", "Weights",
                                                               "Hardness α of the joints, 0 (soft) to 1 (hard)"),
        number<[](O& o) -> float& { return o.falloff.lambda_min; }>("lambda-min", "Weights", "Exponent at α = 0"),
        number<[](O& o) -> float& { return o.falloff.lambda_max; }>("lambda-max", "Weights", "Exponent at α = 1"),
        choice<[](O& o) -> FalloffLaw& { return o.falloff.law; }>(
            "falloff-law", "Weights", "inverse-power inverse-quadratic exponential cubic-hermite linear power",
            "How distance becomes weight; power is for methods of heat"),
        number<[](O& o) -> float& { return o.falloff.smoothness; }>(
            "smoothness", "Weights", "exponential: share of the longest side on which influence falls to 1/e"),
        number<[](O& o) -> float& { return o.falloff.threshold; }>(
            "threshold", "Weights",
            "cubic-hermite, linear: share of the longest side beyond which nothing reaches"),
        number<[](O& o) -> float& { return o.falloff.power; }>(
            "power", "Weights", "power: exponent of heat or weights; above 1 is harder"),
        whole<[](O& o) -> int& { return o.finish.max_influences; }>("max-influences", "Weights", "all",
                                                                    "Joints per vertex: 1..8 or all"),
        choice<[](O& o) -> LimitRule& { return o.finish.limit_rule; }>(
            "limit-rule", "Weights", "fade cut", "fade: no creases where influences swap; or cut"),
    };
    return table;
}

const Row* row_of(std::string_view name) {
    const auto found =
        std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.info.name == name; });
    return found == rows().end() ? nullptr : &*found;
}

}  // namespace

std::span<const BindSetting> bind_settings() {
    static const std::vector<BindSetting> all = [] {
        std::vector<BindSetting> out;
        for (const Row& row : rows()) out.push_back(row.info);
        return out;
    }();
    return all;
}

Status set_option(BindOptions& options, std::string_view name, std::string_view value) {
    if (const Row* row = row_of(name)) return row->set(row->info, options, value);
    std::string known;
    for (const Row& row : rows()) known += (known.empty() ? "" : ", ") + std::string(row.info.name);
    return Error{ErrorCode::usage, "there is no option '" + std::string(name) + "' (options: " + known + ")"};
}

std::string option_text(const BindOptions& options, std::string_view name) {
    const Row* row = row_of(name);
    return row ? row->get(row->info, options) : std::string();
}

}  // namespace sinew
