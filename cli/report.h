// The report of a bind as JSON. Its keys are documented in docs/report.md and stable.
#pragma once

#include <nlohmann/json.hpp>

#include "sinew/bind.h"
#include "sinew/io.h"

namespace sinew::cli {

struct BindRun {
    std::string input, output;
    BindOptions options;
    DeformFrom deform_from = DeformFrom::automatic;
    io::WeightFormat weight_format = io::WeightFormat::f32;
    int threads = 0;
    const io::Scene* scene = nullptr;
    const Binding* binding = nullptr;
    std::vector<std::string> notes, edits;
    double binding_seconds = 0;  ///< to read the binding of --reuse
    double load_seconds = 0, weights_seconds = 0, save_seconds = 0, total_seconds = 0;
};

nlohmann::ordered_json make_report(const BindRun& run);

/// A report as text.
std::string text_of(const nlohmann::ordered_json& report);

/// 0.1f as 0.1, not as 0.10000000149011612.
double as_given(float value);

/// Largest resident size of this process so far.
std::size_t peak_memory_bytes();

/// The laws by the names of the command line.
std::span<const std::pair<std::string_view, FalloffLaw>> falloff_laws();
std::string_view name_of(FalloffLaw law);
std::string_view name_of(LimitRule rule);
std::string_view name_of(Voxelizer voxelizer);
std::string_view name_of(DomainKind kind);
std::string_view name_of(RingPlacement rings);
std::string_view name_of(DeformFrom from);
std::string_view name_of(io::WeightFormat format);

}  // namespace sinew::cli
