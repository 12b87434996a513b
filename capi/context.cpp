// Contexts: threads, progress over all stages of a call, cancellation.
#include <algorithm>
#include <cstring>

#include "handles.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

/// Where a stage begins on the scale of a whole call, 0..1; it ends where the next one begins. Measured shares of
/// characters of 5,000 to 200,000 vertices. A method runs some of the stages of a bind, in this order.
struct Stage {
    const char* name;
    double begin;
};
constexpr Stage kBind[] = {{"topology", 0},
                           {"resolution", 0.05},
                           {"surface", 0.08},
                           {"edges", 0.1},
                           {"rasterise", 0.1},
                           {"voxelize", 0.12},
                           {"octree", 0.2},
                           {"outside", 0.3},
                           {"distances", 0.35},
                           {"heat", 0.75},
                           {"", 1}};
constexpr Stage kRig[] = {{"volume", 0}, {"limbs", 0.5}, {"", 1}};
constexpr Stage kTransfer[] = {{"match", 0}, {"inpaint", 0.5}, {"", 1}};
constexpr Stage kCompare[] = {{"weights", 0}, {"symmetry", 0.05}, {"bleed", 0.1}, {"poses", 0.4}, {"", 1}};
constexpr Stage kCheck[] = {{"check", 0}, {"", 1}};
constexpr Stage kPicture[] = {{"drawing", 0}, {"", 1}};
constexpr std::span<const Stage> kCalls[] = {kBind, kRig, kTransfer, kCompare, kCheck, kPicture};

/// Where `fraction` of a stage lies; nothing for a stage of no table.
std::optional<std::array<double, 2>> place_of(const char* stage, double fraction) {
    for (const std::span<const Stage> table : kCalls)
        for (std::size_t i = 0; i + 1 < table.size(); ++i)
            if (std::strcmp(table[i].name, stage) == 0) {
                std::size_t next = i + 1;
                while (table[next].begin == table[i].begin) ++next;
                const double begin = table[i].begin;
                return std::array{begin, begin + fraction * (table[next].begin - begin)};
            }
    return std::nullopt;
}

/// Moves the fraction of the call forward.
void advance(snw_context& c, const char* stage, double fraction) {
    const auto place = place_of(stage, std::clamp(fraction, 0.0, 1.0));
    if (!place) return;
    if ((*place)[0] < c.reached) c.pass = c.next_pass;  // the stages begin again
    c.reached = (*place)[0];
    const double whole = c.pass[0] + (*place)[1] * (c.pass[1] - c.pass[0]);
    c.fraction = std::max(c.fraction.load(), whole);
}

}  // namespace

snw_context::snw_context() {
    context.progress = [this](const char* stage, double f) {
        advance(*this, stage, f);
        if (progress) progress(stage, f, user);
    };
}

Progressing::Progressing(snw_context* context, bool passes) : context_(context) {
    if (!context) return;
    context->fraction = context->reached = 0;
    context->pass = {0, passes ? 0.2 : 1};
    context->next_pass = {passes ? 0.2 : 0, 1};
}

extern "C" {

snw_status snw_context_new(snw_context** out) {
    if (!out) return missing("out");
    *out = nullptr;
    return guarded([&]() -> Status {
        *out = new snw_context;
        return Done{};
    });
}
void snw_context_threads(snw_context* context, int threads) {
    if (context) context->context.threads = threads;
}
void snw_context_memory_limit(snw_context* context, size_t bytes) {
    if (context) context->context.memory_limit = bytes;
}
void snw_context_follow_links(snw_context* context, int follow) {
    if (context) context->follow_links = follow != 0;
}
void snw_context_progress(snw_context* context, snw_progress progress, void* user) {
    if (context) context->progress = progress, context->user = user;
}
void snw_context_log(snw_context* context, snw_log log, void* user) {
    if (context) context->log = log, context->log_user = user;
}
double snw_context_fraction(const snw_context* context) { return context ? context->fraction.load() : 0; }
void snw_cancel(snw_context* context) {
    if (context) context->context.cancel = true;
}
void snw_uncancel(snw_context* context) {
    if (context) context->context.cancel = false;
}
void snw_context_free(snw_context* context) { delete context; }

}  // extern "C"
