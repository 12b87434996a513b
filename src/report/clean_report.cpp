#include "report/clean_report.h"

#include "report/report.h"

namespace sinew {

OrderedJson cleaned_json(const SkinCleanReport& cleaned) {
    return {{"pulled", cleaned.pulled},
            {"filled", cleaned.filled},
            {"welded", cleaned.welded},
            {"noise", cleaned.noise},
            {"change", cleaned.change}};
}

OrderedJson make_clean_report(const CleanRun& run) {
    const int limit = run.options.max_influences;
    return {{"sinew", SINEW_VERSION},
            {"input", run.input},
            {"weights_from", run.weights_from},
            {"output", run.output},
            {"options",
             {{"strength", run.options.strength},
              {"max_influences", limit == all_influences ? OrderedJson("all") : OrderedJson(limit)}}},
            {"counts",
             {{"vertices", run.scene->positions.size()},
              {"triangles", run.scene->triangles.size()},
              {"joints", run.scene->skeleton.joints.size()}}},
            {"cleaned", cleaned_json(run.cleaned)},
            {"bleed", {{"before", run.bleed[0].share}, {"after", run.bleed[1].share}}},
            {"seconds", nullptr},  // the caller sets it, at this place
            {"peak_memory_bytes", peak_memory_bytes()},
            {"notes", run.notes},
            {"warnings", run.warnings}};
}

}  // namespace sinew
