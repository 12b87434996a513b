// The result of `sinew compare` as JSON and as a page.
#pragma once

#include <string>
#include <vector>

#include "io/json.h"
#include "report/comparison.h"
#include "sinew/io.h"
#include "sinew/quality.h"

namespace sinew::cli {

/// A picture for the page.
struct ReportPicture {
    std::string caption;
    std::vector<std::byte> png;
};

struct CompareRun {
    std::string reference, other;       ///< files, as given
    const io::Scene* scene = nullptr;   ///< of the reference
    const JointMatch* match = nullptr;  ///< compared on its skeleton
    const SkinWeights *a = nullptr, *b = nullptr;
    CompareOptions options;
    std::vector<std::string> pose_files;
    int threads = 0;
    const Comparison* result = nullptr;
    std::vector<GateResult> gates;
    std::vector<std::string> notes;
    std::vector<ReportPicture> pictures;
    std::string why_no_pictures;  ///< reason if there are none
    double load_seconds = 0, compare_seconds = 0, total_seconds = 0;
};

/// Vertices by L1, in steps of 2 / bins.
std::vector<std::size_t> l1_histogram(const Comparison& result, std::size_t bins);

/// The keys are documented in docs/compare-report.md.
OrderedJson make_compare_report(const CompareRun& run);

/// Whether pictures can be drawn: OpenGL was available at build time and is available now.
Status check_pictures(Context& context);

/// A PNG of A, B and the L1 of every vertex from the front and from the back, and of the standard or given pose
/// in which they differ most. `to_world`: from bind space to a space where y is up.
Result<std::vector<std::byte>> draw_comparison(const CompareRun& run, const Transform& to_world, int width,
                                               int height, Context& context);

/// One self-contained page.
std::string make_compare_page(const CompareRun& run);

}  // namespace sinew::cli
