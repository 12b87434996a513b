// Binding: what callers read of its state, and weights from its rows.
#include "sinew/binding.h"

#include <cmath>
#include <numeric>

#include "bind/binding_state.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/try.h"

namespace sinew {

std::string_view to_string(Coverage coverage) {
    switch (coverage) {
        case Coverage::weighted:
            return "weighted";
        case Coverage::bridged:
            return "bridged";
        case Coverage::outside:
            return "outside";
        case Coverage::euclidean:
            return "euclidean";
        case Coverage::unused:
            return "unused";
        case Coverage::none:
            return "none";
    }
    return "";
}

std::string_view to_string(Reuse reuse) {
    switch (reuse) {
        case Reuse::none:
            return "no";
        case Reuse::table:
            return "table";
        case Reuse::volume:
            return "volume";
    }
    return "";
}

std::size_t BindReport::vertices() const {
    return std::accumulate(coverage.begin(), coverage.end(), std::size_t{0});
}

double BindReport::covered() const {
    auto count = [&](Coverage how) { return coverage[static_cast<std::size_t>(how)]; };
    const std::size_t matter = vertices() - count(Coverage::unused);
    if (matter == 0) return 0;
    const std::size_t reached = count(Coverage::weighted) + count(Coverage::bridged) + count(Coverage::outside);
    return static_cast<double>(reached) / static_cast<double>(matter);
}

std::uint64_t hash_mesh(const MeshView& mesh, const Skeleton& skeleton) {
    std::uint64_t hash = hash_bytes(std::as_bytes(mesh.positions));
    hash = hash_bytes(std::as_bytes(mesh.triangles), hash);
    if (mesh.skin_of_vertex.empty() || skeleton.skins.empty()) return hash;
    hash = hash_bytes(std::as_bytes(mesh.skin_of_vertex), hash);
    for (const std::vector<std::uint32_t>& skin : skeleton.skins)
        hash = hash_bytes(std::as_bytes(std::span(skin)), hash);
    return hash;
}

const std::vector<std::uint32_t>& KeptWeld::of(const MeshView& mesh, Context* context) const {
    const std::lock_guard lock(finding_);
    if (weld_.empty()) {
        std::vector<std::uint32_t> found = analyse_mesh(mesh, context).weld;
        if (!cancelled(context)) weld_ = std::move(found);
    }
    return weld_;
}

void BindingState::take_hardness() {
    FalloffOptions& falloff = options.falloff;
    if (map_is_hardness) falloff.map.hardness_of_joint.clear();
    map_is_hardness = false;
    const std::vector<float>& given = falloff.map.of_joint;
    const bool given_is_alpha = shape_of(falloff.law) == &FalloffOptions::alpha;
    std::vector<float> alpha(skeleton.joints.size(), NAN);
    std::size_t count = 0, unused = 0;
    for (std::size_t j = 0; j < alpha.size(); ++j) {
        if (!skeleton.joints[j].hardness) continue;
        alpha[j] = *skeleton.joints[j].hardness;
        ++count;
        if (given_is_alpha && j < given.size() && !std::isnan(given[j])) ++unused;
    }
    if (count == 0) return;
    if (falloff.map.hardness_of_joint.empty()) {
        falloff.map.hardness_of_joint = std::move(alpha);
        map_is_hardness = true;
    } else {
        unused = count;
    }
    if (unused > 0)
        report.warnings.push_back("the hardness of " + std::to_string(unused) +
                                  " joints is not used: the options have a falloff map by joint");
}

void BindingState::take_rows(const RowPlan& plan, MethodRows rows) {
    share_rows(plan, rows, report);
    if (auto* table = std::get_if<DistanceTable>(&rows.table))
        distances = std::move(*table);
    else
        influences = std::move(std::get<InfluenceTable>(rows.table));
    coverage = std::move(rows.coverage);
}

Status check_limit(const Binding& binding, const FinishOptions& finish) {
    const FinishOptions& bound = binding.options().finish;
    if (bound.max_influences == all_influences) return Done{};
    if (finish.max_influences != all_influences &&
        static_cast<std::size_t>(finish.max_influences) <= kept_joints(bound))
        return Done{};
    return Error{ErrorCode::usage,
                 "only the " + std::to_string(std::max(binding.distances().width, binding.influences().width)) +
                     " nearest joints were kept: bind again with a larger limit"};
}

Binding::Binding() {
    static const auto empty = std::make_shared<const BindingState>();
    state_ = empty;
}

Binding::Binding(std::shared_ptr<const BindingState> state) : state_(std::move(state)) {}

const BindReport& Binding::report() const { return state_->report; }
const BindOptions& Binding::options() const { return state_->options; }
const Skeleton& Binding::skeleton() const { return state_->skeleton; }
const DistanceTable& Binding::distances() const { return state_->distances; }
const InfluenceTable& Binding::influences() const { return state_->influences; }
const std::vector<Bone>& Binding::bones() const { return state_->bones; }
const std::vector<Coverage>& Binding::coverage() const { return state_->coverage; }
bool Binding::keeps_volume() const { return state_->volume != nullptr; }

bool Binding::is_of(const MeshView& mesh, const Skeleton& skeleton) const {
    return mesh.positions.size() == state_->coverage.size() && hash_mesh(mesh, skeleton) == state_->mesh_hash;
}

Result<SkinWeights> Binding::weights(const FalloffOptions& falloff, const FinishOptions& finish_options,
                                     Context* context) const {
    SINEW_TRY(check(finish_options));
    SINEW_TRY(check_limit(*this, finish_options));
    return state_->influences.width == 0 ? weigh(state_->distances, falloff, finish_options, context)
                                         : weigh(state_->influences, falloff, finish_options, context);
}

}  // namespace sinew
