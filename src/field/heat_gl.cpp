// Heat at rest by compute shaders: conjugate gradients, preconditioned by one V-cycle of multigrid.
//
// All levels of HeatLevels lie in the same buffers, the finest first. So a node has one number, and a level is a
// range of nodes. Eight columns are solved at once; one shader invocation computes four columns of a node.
//
// One iteration is a sequence of dispatches:
//
//   scale, restrict    per level, downwards: one relaxation from 0; the sum of the residuals of each group
//   relax              several times on the coarsest level
//   prolong, relax     per level, upwards: add the correction of the coarser level; one relaxation
//   direct             the next search direction p
//   multiply           q = A p
//   advance            the solution u and the residual r
//
// The dot products of conjugate gradients: `dot` gives one sum per workgroup, `settle` adds these in a fixed order
// and keeps the step lengths on the device. The residual is read back after every iteration.

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "field/heat_hardware.h"
#include "gl/context.h"

namespace sinew {
namespace {

constexpr std::size_t kColumns = HeatSolver::kColumns;
static_assert(kColumns == 8 && sizeof(HeatSolver::Row) == 32, "shaders see a row as two vec4");
constexpr std::size_t kGroupSize = 256;  // invocations of a workgroup
// Damping of the Jacobi relaxation. The eigenvalues of D⁻¹ A lie between 0 and 2, those of errors that a coarser
// level cannot represent between 1/3 and 2. This value is the best for the latter: 2 / (1/3 + 2).
constexpr float kDamping = 6.0f / 7;
constexpr int kCoarsestJacobiSweeps = 16;  // even: the result must be in y
constexpr int kSweepsPerCheck = 64;        // of Context::cancel
constexpr int kMostStarts = 3;             // with the residual computed anew
constexpr double kRounding = 1e-5;         // a residual in float is not reliable below

constexpr std::string_view kCommon = R"(#version 450 core
layout(local_size_x = 256) in;
struct Link { uint to; float conductance; };
struct Node { float diagonal, inverse; uint parent, child; };
layout(location = 0) uniform uvec2 range;  // first node, nodes
layout(location = 1) uniform float damping;

uint node_of() { return range.x + (gl_GlobalInvocationID.x >> 1); }
bool in_range() { return gl_GlobalInvocationID.x >> 1 < range.y; }
uint row_of(uint node) { return 2u * node + (gl_GlobalInvocationID.x & 1u); }
)";

constexpr std::string_view kGraph = R"(
layout(std430, binding = 0) readonly buffer First { uint first[]; };
layout(std430, binding = 1) readonly buffer Links { Link link[]; };
layout(std430, binding = 2) readonly buffer Nodes { Node node[]; };
layout(std430, binding = 4) readonly buffer X { vec4 x[]; };

vec4 from_neighbours(uint i) {
    vec4 sum = vec4(0);
    for (uint k = first[i]; k < first[i + 1u]; ++k) sum += link[k].conductance * x[row_of(link[k].to)];
    return sum;
}
)";

// Which columns hold the leaf: one bit per column.
constexpr std::string_view kHeld = R"(
layout(std430, binding = 3) readonly buffer Held { uint held[]; };
bvec4 held_of(uint i) {
    uint bits = held[i] >> (4u * (gl_GlobalInvocationID.x & 1u));
    return bvec4((bits & 1u) != 0u, (bits & 2u) != 0u, (bits & 4u) != 0u, (bits & 8u) != 0u);
}
)";

// The sum over a workgroup of even invocations for invocation 0, of odd ones for invocation 1.
constexpr std::string_view kGroup = R"(
shared vec4 part[256];
vec4 sum_of_group(vec4 mine) {
    uint i = gl_LocalInvocationIndex;
    part[i] = mine;
    memoryBarrierShared();
    barrier();
    vec4 sum = vec4(0);
    if (i < 2u)
        for (uint k = i; k < 256u; k += 2u) sum += part[k];
    return sum;
}
)";

// One sum of products for each workgroup.
constexpr std::string_view kDot = R"(
layout(std430, binding = 4) readonly buffer A { vec4 a[]; };
layout(std430, binding = 5) readonly buffer B { vec4 b[]; };
layout(std430, binding = 7) writeonly buffer Partial { vec4 partial[]; };
void main() {
    uint row = row_of(node_of());
    vec4 sum = sum_of_group(in_range() ? a[row] * b[row] : vec4(0));
    if (gl_LocalInvocationIndex < 2u) partial[2u * gl_WorkGroupID.x + gl_LocalInvocationIndex] = sum;
}
)";

constexpr std::string_view kState = R"(
struct State { vec4 whole[2], rest[2], rz[2], keep[2], step[2]; uvec4 open[2]; };
)";

constexpr std::string_view kScale = R"(
layout(std430, binding = 2) readonly buffer Nodes { Node node[]; };
layout(std430, binding = 5) writeonly buffer Y { vec4 y[]; };
layout(std430, binding = 6) readonly buffer B { vec4 b[]; };
void main() {
    if (!in_range()) return;
    uint i = node_of();
    y[row_of(i)] = damping * node[i].inverse * b[row_of(i)];
}
)";

constexpr std::string_view kRelax = R"(
layout(std430, binding = 5) writeonly buffer Y { vec4 y[]; };
layout(std430, binding = 6) readonly buffer B { vec4 b[]; };
void main() {
    if (!in_range()) return;
    uint i = node_of(), row = row_of(i);
    vec4 rest = b[row] - node[i].diagonal * x[row] + from_neighbours(i);
    y[row] = x[row] + damping * node[i].inverse * rest;
}
)";

// The range is that of the coarser level.
constexpr std::string_view kRestrict = R"(
layout(std430, binding = 3) readonly buffer Children { uint child[]; };
layout(std430, binding = 6) buffer B { vec4 b[]; };
void main() {
    if (!in_range()) return;
    uint group = node_of();
    vec4 sum = vec4(0);
    for (uint c = node[group].child; c < node[group + 1u].child; ++c) {
        uint i = child[c], row = row_of(i);
        sum += b[row] - node[i].diagonal * x[row] + from_neighbours(i);
    }
    b[row_of(group)] = sum;
}
)";

constexpr std::string_view kProlong = R"(
layout(std430, binding = 2) readonly buffer Nodes { Node node[]; };
layout(std430, binding = 4) readonly buffer Correction { vec4 correction[]; };
layout(std430, binding = 5) buffer Y { vec4 y[]; };
void main() {
    if (!in_range()) return;
    uint i = node_of();
    y[row_of(i)] += correction[row_of(node[i].parent)];
}
)";

constexpr std::string_view kDirect = R"(
layout(std430, binding = 0) readonly buffer Steps { State state; };
layout(std430, binding = 4) readonly buffer Z { vec4 z[]; };
layout(std430, binding = 5) buffer P { vec4 p[]; };
void main() {
    if (!in_range()) return;
    uint i = node_of(), row = row_of(i);
    vec4 next = z[row] + state.keep[gl_GlobalInvocationID.x & 1u] * p[row];
    p[row] = mix(next, vec4(0), held_of(i));
}
)";

constexpr std::string_view kMultiply = R"(
layout(std430, binding = 5) writeonly buffer Q { vec4 q[]; };
void main() {
    if (!in_range()) return;
    uint i = node_of(), row = row_of(i);
    q[row] = mix(node[i].diagonal * x[row] - from_neighbours(i), vec4(0), held_of(i));
}
)";

// The residual from q = A u.
constexpr std::string_view kBegin = R"(
layout(std430, binding = 4) readonly buffer Q { vec4 q[]; };
layout(std430, binding = 5) writeonly buffer P { vec4 p[]; };
layout(std430, binding = 6) writeonly buffer R { vec4 r[]; };
void main() {
    if (!in_range()) return;
    uint row = row_of(node_of());
    p[row] = vec4(0);
    r[row] = -q[row];
}
)";

constexpr std::string_view kAdvance = R"(
layout(std430, binding = 0) readonly buffer Steps { State state; };
layout(std430, binding = 3) readonly buffer P { vec4 p[]; };
layout(std430, binding = 4) readonly buffer Q { vec4 q[]; };
layout(std430, binding = 5) buffer U { vec4 u[]; };
layout(std430, binding = 6) buffer R { vec4 r[]; };
void main() {
    if (!in_range()) return;
    uint row = row_of(node_of());
    vec4 step = state.step[gl_GlobalInvocationID.x & 1u];
    u[row] += step * p[row];
    r[row] -= step * q[row];
}
)";

// Runs as one workgroup. `what` is a SumKind. Columns that have converged no longer change: their steps are 0.
constexpr std::string_view kSettle = R"(
layout(location = 2) uniform uint groups;
layout(location = 3) uniform uint what;
layout(location = 4) uniform float tolerance;  // squared
layout(std430, binding = 0) buffer Steps { State state; };
layout(std430, binding = 7) readonly buffer Partial { vec4 partial[]; };
void main() {
    uint i = gl_LocalInvocationIndex, mine = i & 1u;
    vec4 sum = vec4(0);
    for (uint g = i >> 1; g < groups; g += 128u) sum += partial[2u * g + mine];
    sum = sum_of_group(sum);
    if (i > 1u) return;
    if (what == 0u) state.whole[mine] = sum;
    if (what <= 1u) state.rz[mine] = vec4(0);
    if (what <= 1u || what == 4u) {
        state.rest[mine] = sum;
        state.open[mine] = uvec4(greaterThan(sum, tolerance * state.whole[mine]));
    }
    if (what == 2u) {
        bvec4 goes_on = bvec4(state.open[mine] & uvec4(greaterThan(state.rz[mine], vec4(0))));
        state.keep[mine] = mix(vec4(0), sum / state.rz[mine], goes_on);
        state.rz[mine] = sum;
    }
    if (what == 3u) {
        bvec4 goes_on = bvec4(state.open[mine] & uvec4(greaterThan(sum, vec4(0))));
        state.step[mine] = mix(vec4(0), state.rz[mine] / sum, goes_on);
    }
}
)";

// One sweep of plain averaging.
constexpr std::string_view kAverage = R"(
layout(std430, binding = 5) writeonly buffer Y { vec4 y[]; };
void main() {
    if (!in_range()) return;
    uint i = node_of(), row = row_of(i);
    y[row] = mix(node[i].inverse * from_neighbours(i), x[row], held_of(i));
}
)";

struct Link {
    std::uint32_t to;
    float conductance;
};
struct Node {
    float diagonal = 0, inverse = 0;
    std::uint32_t parent = 0, child = 0;
};
struct State {
    std::array<float, kColumns> whole, rest, rz, keep, step;
    std::array<GLuint, kColumns> open;
};
// What `settle` adds up.
enum SumKind : GLuint { r_r_of_first_start, r_r_of_restart, r_z, p_q, r_r };

std::size_t groups_of(std::size_t nodes) { return (2 * nodes + kGroupSize - 1) / kGroupSize; }

class Relaxation final : public HeatHardware {
public:
    Relaxation(std::unique_ptr<gl::GlContext> context) : context_(std::move(context)) {}
    ~Relaxation() override { (void)context_->use().ok(); }  // its objects are deleted in it

    Status prepare() {
        const std::string common(kCommon), graph = common + std::string(kGraph), held(kHeld), state(kState);
        const std::string group(kGroup);
        struct Source {
            gl::Program& program;
            std::string_view name;
            std::string text;
        };
        for (const Source& s : {Source{scale_, "scale", common + std::string(kScale)},
                                {relax_, "relax", graph + std::string(kRelax)},
                                {restrict_, "restrict", graph + std::string(kRestrict)},
                                {prolong_, "prolong", common + std::string(kProlong)},
                                {direct_, "direct", common + held + state + std::string(kDirect)},
                                {multiply_, "multiply", graph + held + std::string(kMultiply)},
                                {begin_, "begin", common + std::string(kBegin)},
                                {advance_, "advance", common + state + std::string(kAdvance)},
                                {dot_, "dot", common + group + std::string(kDot)},
                                {settle_, "settle", common + group + state + std::string(kSettle)},
                                {average_, "average", graph + held + std::string(kAverage)}}) {
            SINEW_TRY_LET(s.program, gl::make_program(s.name, s.text));
        }
        for (const GLuint program : {GLuint{scale_}, GLuint{relax_}}) glProgramUniform1f(program, 1, kDamping);
        GLint64 block = 0;
        glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &block);
        GLint groups = 0;
        glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups);
        limits_ = {static_cast<std::size_t>(block), static_cast<std::size_t>(groups)};
        state_ = gl::make_storage(sizeof(State));
        return gl::check_gl("preparing for heat");
    }

    const std::string& renderer() const override { return context_->renderer(); }
    bool software() const override { return context_->software(); }

    Status load(const HeatLevels& levels) override {
        SINEW_TRY(context_->use());
        begin_of_.assign(1, 0);
        std::size_t links = 0;
        for (std::size_t level = 0; level < levels.count(); ++level) {
            begin_of_.push_back(begin_of_.back() + levels[level].size());
            links += levels.graph(level).first[levels[level].size()];
        }
        const std::size_t nodes = begin_of_.back(), n = levels[0].size();
        SINEW_TRY(check_heat_size({nodes, links}, limits_));

        std::vector<std::uint32_t> first, children;
        std::vector<Link> link;
        std::vector<Node> node(nodes + 1);
        first.reserve(nodes + 1);
        link.reserve(links);
        children.resize(nodes);
        first.push_back(0);
        std::uint32_t child = 0;
        for (std::size_t level = 0; level < levels.count(); ++level) {
            const HeatLevels::Graph g = levels.graph(level);
            const auto base = static_cast<std::uint32_t>(begin_of_[level]),
                       size = std::uint32_t(levels[level].size());
            for (std::uint32_t i = 0; i < size; ++i) {
                for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k)
                    link.push_back({base + g.to[k], g.conductance[k]});
                first.push_back(static_cast<std::uint32_t>(link.size()));
                node[base + i].diagonal = levels[level].diagonal[i];
                node[base + i].inverse = levels[level].inverse[i];
            }
            if (level == 0) continue;
            // The children of this level's nodes, in order.
            const std::vector<std::uint32_t>& parent = levels[level - 1].parent;
            const std::uint32_t fine = static_cast<std::uint32_t>(begin_of_[level - 1]);
            std::vector<std::uint32_t> next(size + 1, 0);
            for (const std::uint32_t p : parent) ++next[p + 1];
            for (std::uint32_t i = 0; i < size; ++i) next[i + 1] += next[i];
            for (std::uint32_t i = 0; i < size; ++i) node[base + i].child = child + next[i];
            for (std::uint32_t i = 0; i < parent.size(); ++i) {
                node[fine + i].parent = base + parent[i];
                children[child + next[parent[i]]++] = fine + i;
            }
            child += static_cast<std::uint32_t>(parent.size());
        }
        node[nodes].child = child;
        first_ = gl::make_buffer(first.data(), first.size() * sizeof first[0]);
        links_ = gl::make_buffer(link.data(), link.size() * sizeof link[0]);
        children_ = gl::make_buffer(children.data(), children.size() * sizeof children[0]);
        nodes_ = gl::make_buffer(node.data(), node.size() * sizeof node[0]);
        held_ = gl::make_storage(n * sizeof(GLuint));
        constexpr std::size_t row = sizeof(HeatSolver::Row);
        b_ = gl::make_storage(nodes * row);
        x_ = gl::make_storage(nodes * row);
        y_ = gl::make_storage(nodes * row);
        p_ = gl::make_storage(n * row);
        u_ = gl::make_storage(n * row);
        partial_ = gl::make_storage(groups_of(n) * 2 * 4 * sizeof(float));
        return gl::check_gl("loading heat");
    }

    Result<HeatSolver::Outcome> solve(std::span<const std::vector<HeatSolver::FixedValues>> columns,
                                      std::vector<HeatSolver::Row>& u, double tolerance,
                                      Context* context) override {
        SINEW_TRY(upload(columns, u));
        glProgramUniform1f(settle_, 4, static_cast<float>(tolerance * tolerance));
        HeatSolver::Outcome outcome;
        const auto failed = [&](const std::string& what) {
            return Error{ErrorCode::internal, "OpenGL: heat " + what + " on " + renderer() + " (residual " +
                                                  shortest_text(static_cast<float>(outcome.residual)) + " after " +
                                                  std::to_string(outcome.iterations) +
                                                  " iterations); use heat cpu"};
        };
        for (int start = 0;; ++start) {
            multiply(u_);
            run(begin_, 0, {{4, x_}, {5, p_}, {6, b_}});
            settle(b_, b_, start == 0 ? r_r_of_first_start : r_r_of_restart);
            SINEW_TRY(read(outcome));
            // This is the residual of u; the iterations only update it.
            if (start > 0 && outcome.residual <= std::max(10 * tolerance, kRounding)) break;
            if (start == kMostStarts) return failed("ended with a wrong result");
            while (open_) {
                if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while heating"};
                if (outcome.iterations >= HeatSolver::kMostIterations) return failed("does not converge");
                iterate();
                ++outcome.iterations;
                SINEW_TRY(read(outcome));
            }
        }
        SINEW_TRY(download(u_, u));
        return outcome;
    }

    Status diffuse(std::span<const std::vector<HeatSolver::FixedValues>> columns, std::vector<HeatSolver::Row>& u,
                   int sweeps, Context* context) override {
        SINEW_TRY(upload(columns, u));
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            const bool there = sweep % 2 == 0;
            run(average_, 0,
                {{0, first_}, {1, links_}, {2, nodes_}, {3, held_}, {4, there ? u_ : p_}, {5, there ? p_ : u_}});
            if ((sweep + 1) % kSweepsPerCheck != 0) continue;
            glFinish();
            if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while heating"};
        }
        return download(sweeps % 2 == 0 ? u_ : p_, u);
    }

private:
    struct Binding {
        GLuint point, buffer;
    };
    // Dispatches over the nodes of a level, after everything before.
    void run(GLuint program, std::size_t level, std::initializer_list<Binding> bindings) {
        for (const Binding& b : bindings) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, b.point, b.buffer);
        const std::size_t nodes = begin_of_[level + 1] - begin_of_[level];
        glUseProgram(program);
        glUniform2ui(0, static_cast<GLuint>(begin_of_[level]), static_cast<GLuint>(nodes));
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 7, partial_);
        glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
        glDispatchCompute(static_cast<GLuint>(groups_of(nodes)), 1, 1);
    }
    // The sums of the products of two vectors, and what follows from them.
    void settle(GLuint a, GLuint b, SumKind what) {
        run(dot_, 0, {{4, a}, {5, b}});
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, state_);
        glUseProgram(settle_);
        glUniform1ui(2, static_cast<GLuint>(groups_of(begin_of_[1])));
        glUniform1ui(3, what);
        glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
        glDispatchCompute(1, 1, 1);
    }
    void multiply(GLuint from) {
        run(multiply_, 0, {{0, first_}, {1, links_}, {2, nodes_}, {3, held_}, {4, from}, {5, x_}});
    }
    void relax(std::size_t level, GLuint from, GLuint to) {
        run(relax_, level, {{0, first_}, {1, links_}, {2, nodes_}, {4, from}, {5, to}, {6, b_}});
    }

    // One V-cycle: y ≈ A⁻¹ r on the finest level.
    void cycle() {
        const std::size_t coarsest = begin_of_.size() - 2;
        for (std::size_t level = 0; level < coarsest; ++level) {
            run(scale_, level, {{2, nodes_}, {5, x_}, {6, b_}});
            run(restrict_, level + 1, {{0, first_}, {1, links_}, {2, nodes_}, {3, children_}, {4, x_}, {6, b_}});
        }
        run(scale_, coarsest, {{2, nodes_}, {5, x_}, {6, b_}});
        for (int sweep = 1; sweep < kCoarsestJacobiSweeps; ++sweep)
            relax(coarsest, sweep % 2 ? x_ : y_, sweep % 2 ? y_ : x_);
        for (std::size_t level = coarsest; level-- > 0;) {
            run(prolong_, level, {{2, nodes_}, {4, y_}, {5, x_}});
            relax(level, x_, y_);
        }
    }
    void iterate() {
        cycle();
        settle(b_, y_, r_z);
        run(direct_, 0, {{0, state_}, {3, held_}, {4, y_}, {5, p_}});
        multiply(p_);
        settle(p_, x_, p_q);
        run(advance_, 0, {{0, state_}, {3, p_}, {4, x_}, {5, u_}, {6, b_}});
        settle(b_, b_, r_r);
    }

    Status upload(std::span<const std::vector<HeatSolver::FixedValues>> columns, std::vector<HeatSolver::Row>& u) {
        SINEW_TRY(context_->use());
        const std::size_t n = begin_of_[1];
        std::vector<GLuint> held(n, 0);
        u.assign(n, HeatSolver::Row{});
        for (std::size_t c = 0; c < columns.size(); ++c)
            for (const HeatSolver::FixedValues& h : columns[c]) {
                held[h.leaf] |= 1u << c;
                u[h.leaf][c] = h.value;
            }
        glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
        glNamedBufferSubData(held_, 0, static_cast<GLsizeiptr>(n * sizeof held[0]), held.data());
        glNamedBufferSubData(u_, 0, static_cast<GLsizeiptr>(n * sizeof u[0]), u.data());
        return gl::check_gl("loading heat");
    }
    Status download(GLuint from, std::vector<HeatSolver::Row>& u) {
        glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
        glGetNamedBufferSubData(from, 0, static_cast<GLsizeiptr>(u.size() * sizeof u[0]), u.data());
        return gl::check_gl("reading heat");
    }
    Status read(HeatSolver::Outcome& outcome) {
        State state{};
        glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
        glGetNamedBufferSubData(state_, 0, sizeof state, &state);
        SINEW_TRY(gl::check_gl("heating"));
        open_ = std::any_of(state.open.begin(), state.open.end(), [](GLuint open) { return open != 0; });
        outcome.residual = 0;
        for (std::size_t c = 0; c < kColumns; ++c) {
            if (!std::isfinite(state.rest[c]) || !std::isfinite(state.whole[c]))
                return Error{ErrorCode::internal,
                             "OpenGL: heat on " + renderer() + " gave numbers that are not finite; use heat cpu"};
            if (state.whole[c] > 0)
                outcome.residual = std::max(outcome.residual, std::sqrt(double{state.rest[c]} / state.whole[c]));
        }
        return Done{};
    }

    std::unique_ptr<gl::GlContext> context_;  // before what lives in it
    HeatLimits limits_{};
    gl::Program scale_, relax_, restrict_, prolong_, direct_, multiply_, begin_, advance_, dot_, settle_, average_;
    gl::Buffer state_;
    bool open_ = false;                  // any column, when the state was read last
    std::vector<std::size_t> begin_of_;  // levels + 1
    gl::Buffer first_, links_, nodes_, children_, held_;
    gl::Buffer b_, x_, y_, p_, u_, partial_;
};

}  // namespace

Status check_heat_size(const HeatSize& size, const HeatLimits& limits) {
    const std::size_t most = std::max({size.nodes * sizeof(HeatSolver::Row), size.links * sizeof(Link)});
    const std::string remedy = "; use a smaller resolution, or heat cpu";
    if (most > limits.block_bytes)
        return Error{ErrorCode::too_large, "OpenGL: heat takes buffers of " + std::to_string(most >> 20) +
                                               " MB, the driver has at most " +
                                               std::to_string(limits.block_bytes >> 20) + remedy};
    if (groups_of(size.nodes) > limits.groups)
        return Error{ErrorCode::too_large, "OpenGL: heat takes " + std::to_string(groups_of(size.nodes)) +
                                               " workgroups, the driver starts at most " +
                                               std::to_string(limits.groups) + remedy};
    return Done{};
}

Result<std::unique_ptr<HeatHardware>> HeatHardware::open() {
    Result<std::unique_ptr<gl::GlContext>> context = gl::GlContext::create();
    if (!context) return Error{context.error().code, context.error().message + "; or use heat cpu"};
    auto made = std::make_unique<Relaxation>(std::move(*context));
    SINEW_TRY(made->prepare());
    return std::unique_ptr<HeatHardware>(std::move(made));
}

}  // namespace sinew
