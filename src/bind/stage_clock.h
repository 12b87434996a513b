// Times the stages of a bind.
#pragma once

#include <chrono>

#include "core/parallel.h"
#include "sinew/binding.h"

namespace sinew {

/// Runs stages one after the other: measures their time for the report, and reports progress to the context.
class StageClock {
public:
    StageClock(BindReport& report, Context* context) : report_(report), context_(context) {}

    template <typename Work>
    auto run(Stage stage, Work&& work) {
        report_progress(context_, stage, 0);
        const auto start = std::chrono::steady_clock::now();
        auto result = work();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        report_.seconds.push_back({stage.name(), passed.count()});
        report_progress(context_, stage, 1);
        return result;
    }
    Context* context() const { return context_; }
    BindReport& report() const { return report_; }

private:
    BindReport& report_;
    Context* context_;
};

}  // namespace sinew
