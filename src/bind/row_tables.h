// Tables that methods fill, row by row and in parallel: distances, or strengths.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "bind/method.h"
#include "core/branchless.h"
#include "core/large_pages.h"

namespace sinew {

/// Rows of distances, filled in parallel.
struct DistanceRows {
    using Entry = std::pair<float, std::uint32_t>;  ///< distance, joint

    DistanceTable table;
    std::vector<Coverage> coverage;

    explicit DistanceRows(const RowShape& shape) : coverage(shape.vertices, Coverage::none) {
        table.vertices = shape.vertices;
        table.width = shape.width;
        table.unit = shape.unit;
        const std::size_t slots = table.vertices * table.width;
        assign_large(table.joint, slots, no_index, shape.context);
        assign_large(table.distance, slots, std::numeric_limits<float>::infinity(), shape.context);
    }

    /// A distance (≥ 0) and its joint as one number, which sorts by distance, then by joint.
    static std::uint64_t key(float distance, std::uint32_t joint) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32 | joint;
    }
    /// Sorts the row and keeps the first entries, as many as fit. An empty row is Coverage::none.
    void store(std::uint32_t vertex, std::span<std::uint64_t> keys, Coverage how) {
        sort_keys(keys);
        const std::size_t n = std::min(keys.size(), table.width);
        float* const distance = table.distance.data() + vertex * table.width;
        std::uint32_t* const joint = table.joint.data() + vertex * table.width;
        for (std::size_t k = 0; k < n; ++k) {
            distance[k] = std::bit_cast<float>(static_cast<std::uint32_t>(keys[k] >> 32));
            joint[k] = static_cast<std::uint32_t>(keys[k]);
        }
        // After joints moved, the old row may have been longer.
        std::fill(distance + n, distance + table.width, std::numeric_limits<float>::infinity());
        std::fill(joint + n, joint + table.width, no_index);
        coverage[vertex] = keys.empty() ? Coverage::none : how;
    }
    void store(std::uint32_t vertex, std::span<const Entry> row, Coverage how) {
        std::array<std::uint64_t, 32> few;
        std::vector<std::uint64_t> many(row.size() > few.size() ? row.size() : 0);
        const std::span<std::uint64_t> keys = many.empty() ? std::span(few).first(row.size()) : std::span(many);
        for (std::size_t k = 0; k < row.size(); ++k) keys[k] = key(row[k].first, row[k].second);
        store(vertex, keys, how);
    }

    operator MethodRows() && { return {std::move(table), std::move(coverage), nullptr}; }
};

/// Rows of strengths, filled in parallel.
struct InfluenceRows {
    using Entry = std::pair<float, std::uint32_t>;  ///< strength ≥ 0, joint

    InfluenceTable table;
    std::vector<Coverage> coverage;

    explicit InfluenceRows(const RowShape& shape) : coverage(shape.vertices, Coverage::none) {
        table.vertices = shape.vertices;
        table.width = shape.width;
        const std::size_t slots = table.vertices * table.width;
        assign_large(table.joint, slots, no_index, shape.context);
        assign_large(table.strength, slots, 0.0f, shape.context);
    }

    /// Sorts the row, strongest first, and keeps as many entries as fit. A row without a positive strength is
    /// Coverage::none.
    void store(std::uint32_t vertex, std::span<Entry> row, Coverage how) {
        std::sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        std::size_t n = 0;
        for (; n < std::min(row.size(), table.width) && row[n].first > 0; ++n) {
            table.strength[vertex * table.width + n] = row[n].first;
            table.joint[vertex * table.width + n] = row[n].second;
        }
        coverage[vertex] = n == 0 ? Coverage::none : how;
    }

    operator MethodRows() && { return {std::move(table), std::move(coverage), nullptr}; }
};

}  // namespace sinew
