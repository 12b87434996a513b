// The stages of long calls, and where each lies in its call.
#pragma once

#include <string_view>

namespace sinew {

struct StageRow {
    const char* name;   ///< as progress reports it
    double begin, end;  ///< fractions of the time of the whole call
};

/// About as long as with characters of 5,000 to 200,000 vertices. A call runs some of its stages, in this order.
inline constexpr StageRow kStages[] = {
    // a bind
    {"topology", 0, 0.05},
    {"resolution", 0.05, 0.08},
    {"edges", 0.08, 0.12},
    {"rasterise", 0.08, 0.12},
    {"voxelize", 0.08, 0.2},
    {"octree", 0.2, 0.3},
    {"outside", 0.3, 0.35},
    {"distances", 0.35, 0.6},
    {"energy", 0.35, 1},
    {"surface", 0.6, 0.68},
    {"heat", 0.68, 1},
    // a skeleton from a template
    {"volume", 0, 0.5},
    {"limbs", 0.5, 0.8},
    {"fingers", 0.8, 1},
    // a transfer
    {"match", 0, 0.5},
    {"inpaint", 0.5, 1},
    // a comparison
    {"weights", 0, 0.05},
    {"symmetry", 0.05, 0.1},
    {"bleed", 0.1, 0.4},
    {"poses", 0.4, 1},
    // calls of one stage; pictures of defects look for intersections first
    {"check", 0, 1},
    {"outline", 0, 1},
    {"intersections", 0, 0.5},
    {"drawing", 0, 1},
};

/// A row of kStages by its name, as in report_progress(context, "heat", 0.5). A name that has no row does not
/// compile.
class Stage {
public:
    consteval Stage(const char* name) : row_(find(name)) {}
    const char* name() const { return row_->name; }

private:
    static consteval const StageRow* find(std::string_view name) {
        for (const StageRow& row : kStages)
            if (name == row.name) return &row;
        throw "a stage needs a row in kStages";
    }
    const StageRow* row_;
};

}  // namespace sinew
