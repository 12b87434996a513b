// The report of a bind as JSON, the same for all interfaces. Its keys are documented in docs/report.md and
// stable.
#pragma once

#include "io/json.h"
#include "sinew/binding.h"
#include "sinew/edits.h"
#include "sinew/io.h"

namespace sinew {

struct BindRun {
    std::string input, output;
    BindOptions options;
    DeformFrom deform_from = DeformFrom::automatic;
    io::WeightFormat weight_format = io::WeightFormat::f32;
    int threads = 0;
    const io::Scene* scene = nullptr;
    const Binding* binding = nullptr;
    std::vector<std::string> notes, edits;
    std::vector<std::string> warnings;             ///< beside those of the scene and the binding
    const Intersections* intersections = nullptr;  ///< null: not computed
    std::size_t nonmanifold_vertices = 0;          ///< with intersections
    double binding_seconds = 0;                    ///< time to read the binding of --reuse
    double intersections_seconds = 0;
    double load_seconds = 0, weights_seconds = 0, save_seconds = 0, total_seconds = 0;
};

OrderedJson make_report(const BindRun& run);

/// The "defects" of the report, without those that are counted on request.
OrderedJson defects_json(const MeshDefects& defects);

/// A report as text: indented for people, and on one line for programs.
std::string text_of(const OrderedJson& report);
std::string compact_text(const OrderedJson& report);

/// "mesh/0" and the number of the vertex within it.
std::pair<std::string, std::uint32_t> place_of(const io::Scene& scene, std::uint32_t vertex);

/// "edit 2 (smooth): 311 vertices changed": one line per edit.
std::vector<std::string> edit_lines(const Adjustments& adjustments, const EditReport& report);

/// For people: of warnings that differ in names and numbers only, the first, and how many more there are. A report
/// has all of them.
std::vector<std::string> one_of_each_kind(const std::vector<std::string>& warnings);

/// Prints 0.1f as 0.1, not as 0.10000000149011612.
double as_given(float value);

/// Largest resident size of this process.
std::size_t peak_memory_bytes();

/// The words for the values of an option, on the command line, in settings and in reports.
template <typename T>
using Words = std::vector<std::pair<std::string, T>>;
extern const Words<DeformFrom> deform_from_words;
extern const Words<io::WeightFormat> weight_format_words;
extern const Words<io::FbxUnit> fbx_unit_words;

/// Quotes a word for a POSIX shell, if need be.
std::string shell_word(const std::string& word);

std::string_view name_of(LimitRule rule);
std::string_view name_of(DeformFrom from);
std::string_view name_of(io::WeightFormat format);

}  // namespace sinew
