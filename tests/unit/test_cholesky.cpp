// The sparse factorisation against matrices with a known inverse, and against dense elimination.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "solve/cholesky.h"
#include "unit/support.h"

namespace sinew::test_cholesky {
namespace {

using test::eliminate;

TEST(Cholesky, SolvesThePathOfSprings) {
    // A chain of springs, fixed at 0 and 1 at its ends: node i of n is at (i + 1) / (n + 1).
    constexpr std::uint32_t n = 100;
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < n; ++i) entries.push_back({i, i, 2});
    for (std::uint32_t i = 0; i + 1 < n; ++i) entries.push_back({i, i + 1, -1});
    const auto cholesky = Cholesky::factor(n, entries);
    ASSERT_TRUE(cholesky.ok()) << cholesky.error().message;
    std::vector<double> b(n, 0.0);
    b[n - 1] = 1;
    const std::vector<double> x = cholesky->solve(b);
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], (i + 1.0) / (n + 1.0), 1e-13);
}

TEST(Cholesky, AgreesWithEliminationInEveryColumnOfABatch) {
    std::mt19937 random(7);
    constexpr std::uint32_t n = 60;
    std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
    std::vector<MatrixEntry> entries;
    const auto add = [&](std::uint32_t i, std::uint32_t j, double v) {
        entries.push_back({i, j, v});
        dense[i][j] += v;
        if (i != j) dense[j][i] += v;
    };
    for (int k = 0; k < 200; ++k) {  // edges of a graph, in either direction, some of them several times
        const std::uint32_t i = std::uint32_t(random() % n), j = std::uint32_t(random() % n);
        const double v = 0.1 + double(random() % 100) / 10;
        if (i == j) continue;
        add(i, j, -v);
        add(i, i, v);
        add(j, j, v);
    }
    for (std::uint32_t i = 0; i < n; ++i) add(i, i, 0.01);
    const auto cholesky = Cholesky::factor(n, entries);
    ASSERT_TRUE(cholesky.ok()) << cholesky.error().message;
    std::vector<double> rhs(n * Cholesky::kBatch);
    for (double& v : rhs) v = double(random() % 1000) / 100 - 5;
    Cholesky::Batch batch(*cholesky);
    batch.add(n / 2, 3, 7);
    batch.solve();
    batch.clear();
    for (std::size_t i = 0; i < rhs.size(); ++i) batch.add(i / Cholesky::kBatch, i % Cholesky::kBatch, rhs[i]);
    batch.solve();
    for (std::size_t c = 0; c < Cholesky::kBatch; ++c) {
        std::vector<double> b(n);
        auto equations = dense;
        for (std::size_t i = 0; i < n; ++i) equations[i].push_back(b[i] = rhs[i * Cholesky::kBatch + c]);
        const auto expected = eliminate(std::move(equations));
        const std::vector<double> alone = cholesky->solve(b);
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(batch.row(i)[c], expected[i][0], 1e-9 * (1 + std::abs(expected[i][0])));
            EXPECT_EQ(batch.row(i)[c], alone[i]);
        }
    }
}

// Graphs with different fronts: chains of one column, a star, a dense matrix, a surface, many components, a tree.
// Every node is weakly fixed.
struct Graph {
    const char* name;
    std::uint32_t size;
    std::vector<std::array<std::uint32_t, 2>> edges;
};
std::vector<Graph> graphs() {
    std::vector<Graph> out;
    Graph chain{"chain", 500, {}}, star{"star", 400, {}}, dense{"dense", 150, {}}, plane{"plane", 60 * 70, {}},
        parts{"parts", 900, {}}, tree{"tree", 700, {}}, box{"box", 12 * 12 * 12, {}};
    for (std::uint32_t i = 1; i < chain.size; ++i) chain.edges.push_back({i - 1, i});
    for (std::uint32_t i = 1; i < star.size; ++i) star.edges.push_back({0, i});
    for (std::uint32_t i = 0; i < dense.size; ++i)
        for (std::uint32_t j = 0; j < i; ++j) dense.edges.push_back({i, j});
    for (std::uint32_t y = 0; y < 60; ++y)
        for (std::uint32_t x = 0; x < 70; ++x) {
            if (x > 0) plane.edges.push_back({70 * y + x, 70 * y + x - 1});
            if (y > 0) plane.edges.push_back({70 * y + x, 70 * (y - 1) + x});
            if (x > 0 && y > 0) plane.edges.push_back({70 * y + x, 70 * (y - 1) + x - 1});
        }
    for (std::uint32_t i = 0; i < parts.size; ++i)
        if (i % 9) parts.edges.push_back({i, i - 1 - i % 9 / 2});
    std::mt19937 random(3);
    for (std::uint32_t i = 1; i < tree.size; ++i) tree.edges.push_back({i, std::uint32_t(random() % i)});
    for (std::uint32_t i = 0; i < box.size; ++i) {
        if (i % 12) box.edges.push_back({i, i - 1});
        if (i / 12 % 12) box.edges.push_back({i, i - 12});
        if (i >= 144) box.edges.push_back({i, i - 144});
    }
    for (Graph* g : {&chain, &star, &dense, &plane, &parts, &tree, &box}) out.push_back(std::move(*g));
    return out;
}

std::vector<MatrixEntry> matrix_of(const Graph& g) {
    std::mt19937 random(11);
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < g.size; ++i) entries.push_back({i, i, 0.01});
    for (const auto& [i, j] : g.edges) {
        const double w = 0.5 + double(random() % 100) / 50;
        entries.push_back({i, j, -w});
        entries.push_back({i, i, w});
        entries.push_back({j, j, w});
    }
    return entries;
}

TEST(Cholesky, SolvesGraphsOfManyShapes) {
    for (const Graph& g : graphs()) {
        const std::vector<MatrixEntry> entries = matrix_of(g);
        const auto cholesky = Cholesky::factor(g.size, entries);
        ASSERT_TRUE(cholesky.ok()) << g.name << ": " << cholesky.error().message;
        std::vector<double> b(g.size);
        std::mt19937 random(5);
        for (double& v : b) v = double(random() % 1000) / 500 - 1;
        const std::vector<double> x = cholesky->solve(b);
        std::vector<double> rest = b;
        for (const MatrixEntry& e : entries) {
            rest[e.row] -= e.value * x[e.column];
            if (e.row != e.column) rest[e.column] -= e.value * x[e.row];
        }
        for (std::size_t i = 0; i < rest.size(); ++i) ASSERT_NEAR(rest[i], 0, 1e-10) << g.name << " row " << i;
    }
}

TEST(Cholesky, ThreadsChangeNoBit) {
    for (const Graph& g : graphs()) {
        const std::vector<MatrixEntry> entries = matrix_of(g);
        std::vector<double> b(g.size, 1.0), first;
        for (const int threads : {1, 2, 3}) {
            Context context;
            context.threads = threads;
            const auto cholesky = Cholesky::factor(g.size, entries, &context);
            ASSERT_TRUE(cholesky.ok()) << g.name;
            const std::vector<double> x = cholesky->solve(b);
            if (first.empty()) first = x;
            ASSERT_EQ(x, first) << g.name << ", " << threads << " threads";
        }
    }
}

TEST(Cholesky, UsesWhatIsTheSameOfAnEarlierMatrix) {
    std::unique_ptr<Cholesky> last;
    for (const Graph& g : graphs()) {
        std::vector<MatrixEntry> entries = matrix_of(g);
        const std::vector<double> b(g.size, 1.0);
        auto first = Cholesky::factor(g.size, entries, nullptr, {last.get(), true});
        ASSERT_TRUE(first.ok()) << g.name;
        EXPECT_TRUE(!last || first->plan() != last->plan()) << g.name << " has the plan of another graph";
        EXPECT_EQ(first->fronts_taken(), 0u) << g.name;
        EXPECT_EQ(first->solve(b), Cholesky::factor(g.size, entries)->solve(b)) << g.name;
        const auto expect_again = [&](const char* what) {
            for (const int threads : {1, 2}) {
                Context context;
                context.threads = threads;
                const auto again = Cholesky::factor(g.size, entries, &context, {&*first, true});
                ASSERT_TRUE(again.ok()) << g.name << what;
                EXPECT_EQ(again->plan(), first->plan()) << g.name << what;
                EXPECT_EQ(again->solve(b), Cholesky::factor(g.size, entries)->solve(b)) << g.name << what;
                const auto after = Cholesky::factor(g.size, entries, &context, {&*again, true});
                EXPECT_EQ(after->solve(b), again->solve(b)) << g.name << what;
                EXPECT_GT(after->fronts_taken(), 0u) << g.name << what;
            }
        };
        expect_again(", the same");
        entries.push_back({0, 0, 0.5});
        expect_again(", one entry more");
        for (MatrixEntry& e : entries)
            if (e.row == e.column && e.row >= g.size / 2) e.value *= 1.5;
        expect_again(", half of the diagonal");
        // Other values, and a diagonal that comes before the other entries.
        for (MatrixEntry& e : entries) e.value *= 3;
        std::rotate(entries.begin(), entries.end() - 1, entries.end());
        expect_again(", all other");
        last = std::make_unique<Cholesky>(std::move(*first));
    }
}

// With several bad rows the error names the same row on any number of threads.
// A grid whose nodes are held, with one right hand side that is 0 but at a corner; in the others nothing is 0.
TEST(Cholesky, SkipsWhatIsZero) {
    constexpr std::uint32_t side = 40, n = side * side;
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 5});
        if (i % side) entries.push_back({i - 1, i, -1});
        if (i >= side) entries.push_back({i - side, i, -1});
    }
    const Cholesky cholesky = test::must(Cholesky::factor(n, entries));
    Cholesky::Batch full(cholesky), local(cholesky), rough(cholesky);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 1; c < Cholesky::kBatch; ++c) full.add(i, c, 1);
    for (Cholesky::Batch* each : {&full, &local, &rough}) each->add(0, 0, 1);
    full.solve();
    local.solve();
    rough.solve(1e-6);
    std::size_t zeros = 0;
    const auto value = [](const Cholesky::Batch& of, std::size_t i, std::size_t c) {
        return of.row(i) ? of.row(i)[c] : 0;
    };
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(value(local, i, 0), value(full, i, 0)) << i;
        EXPECT_NEAR(value(rough, i, 0), value(full, i, 0), 1e-6) << i;
        EXPECT_EQ(value(local, i, 1), 0);
        zeros += value(rough, i, 0) == 0;
    }
    EXPECT_GT(zeros, n / 2);
}

TEST(Cholesky, ErrorsNameTheSameRowOnAnyNumberOfThreads) {
    for (const Graph& g : graphs())
        for (const std::uint32_t bad : {0u, g.size / 2, g.size - 1}) {
            std::vector<MatrixEntry> entries = matrix_of(g);
            entries.push_back({bad, bad, -1000});
            const auto cholesky = Cholesky::factor(g.size, entries);
            ASSERT_FALSE(cholesky.ok()) << g.name;
            EXPECT_EQ(cholesky.error().code, ErrorCode::internal);
            entries.back().value = NAN;
            EXPECT_FALSE(Cholesky::factor(g.size, entries).ok()) << g.name;
            entries.back().value = -1000;
            entries.push_back({(bad + 7) % g.size, (bad + 7) % g.size, -1000});
            entries.push_back({(bad + 70) % g.size, (bad + 70) % g.size, -1000});
            std::string named;
            for (const int threads : {1, 2, 3}) {
                Context context;
                context.threads = threads;
                const std::string message = Cholesky::factor(g.size, entries, &context).error().message;
                EXPECT_TRUE(named.empty() || named == message) << g.name << ": " << named << ", " << message;
                named = message;
            }
        }
}

TEST(Cholesky, ErrorsNameAnUnconstrainedRow) {
    // Two pairs of nodes; the second pair is not fixed.
    const std::vector<MatrixEntry> entries = {{0, 0, 2}, {0, 1, -1}, {1, 1, 1}, {2, 2, 1}, {2, 3, -1}, {3, 3, 1}};
    const auto cholesky = Cholesky::factor(4, entries);
    ASSERT_FALSE(cholesky.ok());
    EXPECT_EQ(cholesky.error().code, ErrorCode::internal);
    EXPECT_TRUE(cholesky.error().message.find("row 2") != std::string::npos ||
                cholesky.error().message.find("row 3") != std::string::npos)
        << cholesky.error().message;
}

TEST(Cholesky, ChecksTheFactorsAgainstTheMemoryLimit) {
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < 300; ++i)
        for (std::uint32_t j = 0; j <= i; ++j) entries.push_back({i, j, i == j ? 400.0 : -1.0});
    Context context;
    context.memory_limit = 100'000;
    const auto refused = Cholesky::factor(300, entries, &context);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
    context.memory_limit = 10'000'000;
    EXPECT_TRUE(Cholesky::factor(300, entries, &context).ok());
    context.cancel = true;
    EXPECT_EQ(Cholesky::factor(300, entries, &context).error().code, ErrorCode::cancelled);
}

TEST(Cholesky, CountsWhatIsKeptOfTheFactors) {
    std::vector<MatrixEntry> chain;
    for (std::uint32_t i = 0; i < 4096; ++i) {
        chain.push_back({i, i, 3});
        if (i > 0) chain.push_back({i, i - 1, -1});
    }
    Context context;
    std::size_t refused = 0, enough = 10'000'000;  // limits, if nothing is kept
    while (enough - refused > 1) {
        context.memory_limit = (refused + enough) / 2;
        (Cholesky::factor(4096, chain, &context).ok() ? enough : refused) = context.memory_limit;
    }
    context.memory_limit = enough;
    EXPECT_TRUE(Cholesky::factor(4096, chain, &context).ok());
    EXPECT_FALSE(Cholesky::factor(4096, chain, &context, {nullptr, true}).ok());
    context.memory_limit = 2 * enough;
    EXPECT_TRUE(Cholesky::factor(4096, chain, &context, {nullptr, true}).ok());
}

TEST(Cholesky, AcceptsAnEmptyMatrix) {
    const auto cholesky = Cholesky::factor(0, {});
    ASSERT_TRUE(cholesky.ok());
    EXPECT_TRUE(cholesky->solve({}).empty());
}

}  // namespace
}  // namespace sinew::test_cholesky
