// Falloff and finish in one pass, for kept distances and heat while a slider moves.
#include "core/parallel.h"
#include "core/try.h"
#include "weights/finish_row.h"
#include "weights/law.h"
#include "weights/weigh_batch.h"

namespace sinew {
namespace {

Result<SkinWeights> weigh_rows(const TableRows& table, const FalloffOptions& falloff, const FinishOptions& finish,
                               Context* context) {
    WeightRows rows(table.vertices);
    parallel_chunks(
        context, table.vertices, WeightRows::per_chunk, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            if (!cancelled(context))
                rows.part[chunk] = weigh_batch(table, falloff, finish, begin, end, rows.first.data() + begin + 1);
        });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while weighing"};
    return rows.assemble(context);
}

}  // namespace

Result<SkinWeights> weigh(const DistanceTable& distances, const FalloffOptions& falloff,
                          const FinishOptions& finish, Context* context) {
    SINEW_TRY(check(finish));
    SINEW_TRY(check_distances(distances, falloff));
    return weigh_rows(TableRows(distances), falloff, finish, context);
}

Result<SkinWeights> weigh(const InfluenceTable& strengths, const FalloffOptions& falloff,
                          const FinishOptions& finish, Context* context) {
    SINEW_TRY(check(finish));
    SINEW_TRY(check_strengths(strengths, falloff));
    return weigh_rows(TableRows(strengths), falloff, finish, context);
}

}  // namespace sinew
