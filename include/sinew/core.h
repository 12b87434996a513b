// sinew/core.h: the few types that every other header uses.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sinew {

/// A point or direction. Right-handed, y up, in the units of the scene (metres in glTF).
/// An index that is none: of no joint, vertex, triangle or leaf.
inline constexpr std::uint32_t no_index = 0xffffffffu;

struct Vec3 {
    float x = 0, y = 0, z = 0;
    friend bool operator==(const Vec3&, const Vec3&) = default;
};

/// Three vertex indices, counter-clockwise seen from outside.
using Triangle = std::array<std::uint32_t, 3>;

/// The kind of an error. The command line maps a code to an exit status (docs/conventions.md).
enum class ErrorCode {
    usage,      ///< the caller asked for something that does not exist or does not combine
    input,      ///< a file or an array breaks a rule; the message names the rule and the place
    too_large,  ///< the work would need more memory than Context::memory_limit
    io,         ///< the operating system refused to read or write
    cancelled,  ///< Context::cancel was set
    internal,   ///< a bug in sinew
};

/// A failure: a code for programs and one sentence for people that names the rule, the place (mesh,
/// vertex, joint or byte) and what to do.
struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;
};

/// Text from a file as it may stand in a message: control characters, line breaks, invisible marks and bytes that
/// are not UTF-8 become \\xNN, and "…" replaces the text after `max_length` characters. Names of files, joints and
/// meshes are untrusted: they must not control a terminal, forge a line of a log or fill it. O(text).
std::string printable(std::string_view text, std::size_t max_length = 200);

/// " (did you mean 'a', 'b' or 'c'?)": for a word that is not known, at most three known ones that are spelled much
/// like it, the nearest first; empty where none is. Case counts little, and so does a namespace ("rig:") before a
/// known word. In `wanted`, * stands for any letters and ? for one. O(words).
std::string did_you_mean(std::string_view wanted, std::span<const std::string> known);

/// A value or an Error. sinew throws nothing across its public functions but std::bad_alloc.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    bool ok() const { return state_.index() == 0; }

    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

/// A Result without a value: success or an Error.
struct Done {};
using Status = Result<Done>;

/// Settings of a long computation: threads, progress and cancellation. Every entry point takes an optional
/// Context; null means all cores, silent, not cancellable. The same input gives the same bits on any number of
/// threads.
struct Context {
    /// Worker threads; 0 = one per core, in a container as many as its quota pays for.
    int threads = 0;
    /// Bytes that the work may allocate; 0 = no limit. Checked before the work, against a stated estimate.
    std::size_t memory_limit = 0;
    /// Called from the thread that called sinew, with a stage's name and 0..1 within that stage.
    std::function<void(const char* stage, double fraction)> progress;
    /// Set from any thread to stop at the next opportunity with ErrorCode::cancelled.
    std::atomic<bool> cancel{false};
};

/// Where a stage that Context::progress names lies in its call, as fractions of the time of the whole: {begin,
/// end}. A name that is no stage of the library: {0, 1}.
std::array<double, 2> place_of_stage(std::string_view stage);

/// A non-owning view of a triangle mesh: several meshes and primitives of a character, concatenated, in the
/// space of the bind pose. Soup, holes, non-manifold edges, loose parts and unused vertices are allowed.
/// Coordinates must be finite and indices in range (see check_mesh).
struct MeshView {
    std::span<const Vec3> positions;      ///< V
    std::span<const Triangle> triangles;  ///< T; may be empty only if positions is
    /// V or empty: which entry of Skeleton::skins limits the joints of this vertex. Empty = no limits.
    std::span<const std::uint32_t> skin_of_vertex;
};

/// Checks the requirements of all stages: at least one triangle, indices < V, finite coordinates within ±1e18, a
/// bounding box of non-zero size. The error names the first offending vertex or triangle. O(V + T).
Status check_mesh(const MeshView& mesh);

/// Cuts polygons into triangles with their winding. Convex ones become the fan from their first corner, others are
/// clipped ear by ear. Those that cross themselves, have no area or more than 4096 corners end as a fan; they are
/// added to `fanned`. Polygon f has the corners first[f] to first[f + 1] - 1, at least three; corners must be
/// vertices. O(corners), and quadratic in the corners of a polygon that is not convex.
std::vector<Triangle> triangulate(std::span<const Vec3> positions, std::span<const std::uint32_t> first,
                                  std::span<const std::uint32_t> corners, std::size_t* fanned = nullptr);

}  // namespace sinew
