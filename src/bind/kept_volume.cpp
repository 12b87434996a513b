#include "bind/kept_volume.h"

#include <algorithm>

#include "core/large_pages.h"

namespace sinew {

const KeptField* KeptVolume::find(const std::vector<std::uint32_t>& joints) const {
    const KeptField* best = nullptr;
    for (const KeptField& field : fields)
        if (std::includes(field.joints.begin(), field.joints.end(), joints.begin(), joints.end()) &&
            (!best || field.joints.size() < best->joints.size()))
            best = &field;
    return best;
}

Result<const KeptField*> KeptVolume::field_of(const std::vector<std::uint32_t>& joints,
                                              const Skeleton& skeleton) const {
    if (const KeptField* const field = find(joints)) return field;
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(joints.size(), 3); ++k)
        names += (k ? ", '" : "'") + printable(skeleton.joints[joints[k]].name) + "'";
    if (joints.size() > 3) names += " and " + std::to_string(joints.size() - 3) + " more";
    return Error{
        ErrorCode::input,
        "a skin of the mesh lists joints (" + names +
            ") that no single skin of the kept binding has: bind this mesh anew instead of reusing the binding"};
}

std::shared_ptr<const KeptVolume> keep_volume(Domain domain, std::vector<KeptField> fields) {
    domain.graph = nullptr;
    return std::make_shared<const KeptVolume>(KeptVolume{std::move(domain), std::move(fields)});
}

}  // namespace sinew
