// Contexts: threads, progress over all stages of a call, cancellation.
#include <algorithm>

#include "handles.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

/// Moves the fraction of the call forward.
void advance(snw_context& c, const char* stage, double fraction) {
    const auto [begin, end] = place_of_stage(stage);
    if (begin < c.reached) c.pass = c.next_pass;  // the stages begin again
    c.reached = begin;
    const double of_pass = begin + std::clamp(fraction, 0.0, 1.0) * (end - begin);
    c.fraction = std::max(c.fraction.load(), c.pass[0] + of_pass * (c.pass[1] - c.pass[0]));
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
