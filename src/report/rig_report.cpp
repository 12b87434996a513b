#include "report/rig_report.h"

namespace sinew {

OrderedJson rig_json(const Rig& rig, const RigOptions& options) {
    return {
        {"template", options.model}, {"joints", rig.skeleton.joints.size()}, {"confidence", rig.confidence},
        {"symmetry", rig.symmetry},  {"limbs_found", rig.limbs_found},       {"limbs_expected", rig.limbs_expected},
        {"notes", rig.notes}};
}

}  // namespace sinew
