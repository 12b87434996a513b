// The page of `sinew compare --html`: one file without scripts or external resources.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "compare_report.h"
#include "page.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

class ComparePage : Page {
public:
    explicit ComparePage(const CompareRun& run)
        : Page(escaped(run.other) + " against " + escaped(run.reference)), run_(run), c_(*run.result) {}

    std::string make() {
        head();
        headline();
        pictures();
        histogram();
        limb();
        poses();
        joints();
        worst_vertices();
        return finish();
    }

private:
    std::string name(std::uint32_t joint) const { return escaped(run_.match->skeleton.joints[joint].name); }

    void head() {
        put("<h1>Skin weights compared</h1>\n<p><b class=\"a\">A</b>, the reference: <code>{}</code><br>"
            "<b class=\"b\">B</b>: <code>{}</code><br>{} vertices, {} triangles, {} joints. sinew {}. "
            "docs/quality.md defines every number.</p>\n",
            escaped(run_.reference), escaped(run_.other), run_.scene->positions.size(),
            run_.scene->triangles.size(), run_.match->skeleton.joints.size(), SINEW_VERSION);
        if (!run_.notes.empty()) {
            add("<ul>\n");
            for (const std::string& note : run_.notes) put("<li>{}</li>\n", escaped(note));
            add("</ul>\n");
        }
        for (const GateResult& gate : run_.gates)
            put("<p class=\"{}\">--{} {:g}: {} ({:g})</p>\n", gate.passed ? "good" : "bad", escaped(gate.option),
                gate.limit, gate.passed ? "passed" : "not passed", gate.value);
    }

    void fact(std::string_view what, const std::string& value) {
        put("<tr><th scope=\"row\">{}</th><td class=\"text\" colspan=\"3\">{}</td></tr>\n", what, value);
    }

    void headline() {
        add("<h2>Headline</h2>\n<div class=\"scroll\"><table id=\"headline\">\n<thead><tr><th></th>"
            "<th class=\"a\">A</th><th class=\"b\">B</th><th></th></tr></thead>\n<tbody>\n");
        fact("L1 per vertex, 0 to 2",
             fmt::format("mean {:.4f}, median {:.4f}, 95th percentile {:.4f}, maximum {:.4f}", c_.l1.mean,
                         c_.l1.median, c_.l1.p95, c_.l1.max));
        fact("Influences of B", fmt::format("precision {:.4f}, recall {:.4f}", c_.precision, c_.recall));
        fact("Strongest joint", fmt::format("agrees for {:.2f} % of the vertices", 100 * c_.strongest_agreement));
        for (const PoseKind kind : {PoseKind::standard, PoseKind::random, PoseKind::given})
            if (const PoseSummary s = summarise(c_.poses, kind); s.poses)
                fact(fmt::format("Distance in {} {} poses", s.poses, to_string(kind)),
                     fmt::format("mean {:.4f} %, maximum {:.4f} % (mean over poses), {:.4f} % in the worst", s.mean,
                                 s.mean_max, s.max));
        for (const MeasureRow& row : measure_rows(c_, run_.options.bleed))
            put("<tr><th scope=\"row\">{}</th><td>{:.{}f}</td><td>{:.{}f}</td><td class=\"text\">{}</td></tr>\n",
                row.what, row.a, row.digits, row.b, row.digits, escaped(row.note));
        if (!c_.symmetry) fact("Symmetry", "the skeleton has no mirror plane");
        close_table();
    }

    void pictures() {
        if (run_.pictures.empty()) {
            if (!run_.why_no_pictures.empty())
                put("<h2>Pictures</h2>\n<p>None: {}.</p>\n", escaped(run_.why_no_pictures));
            return;
        }
        add("<h2>Pictures</h2>\n");
        for (const ReportPicture& p : run_.pictures) figure(p.png, escaped(p.caption), escaped(p.caption));
    }

    /// Opens a plot of 800 × 300 with a frame from (x0, y0) to (x1, y1).
    static constexpr double x0 = 60, x1 = 780, y0 = 15, y1 = 250;
    void open_plot(std::string_view label) {
        put("<svg viewBox=\"0 0 800 300\" role=\"img\" aria-label=\"{}\">\n"
            "<path class=\"axis\" fill=\"none\" d=\"M{},{}V{}H{}\"/>\n",
            label, x0, y0, y1, x1);
    }
    void label(double x, double y, std::string_view anchor, const std::string& text) {
        put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
    }

    void histogram() {
        const std::vector<std::size_t> bins = l1_histogram(c_, 40);
        const std::size_t highest = std::max<std::size_t>(1, *std::max_element(bins.begin(), bins.end()));
        add("<h2>L1 over the vertices</h2>\n<figure>");
        open_plot("Histogram of the L1 distance per vertex");
        // Heights by square root: a few bad vertices remain visible next to many good ones.
        const double wide = (x1 - x0) / static_cast<double>(bins.size());
        auto height = [&](double n) { return (y1 - y0) * std::sqrt(n / static_cast<double>(highest)); };
        for (const double part : {0.01, 0.1, 0.25, 0.5, 1.0}) {
            const double n = std::round(part * static_cast<double>(highest)), y = y1 - height(n);
            put("<path class=\"axis\" d=\"M{},{:.1f}H{}\"/>\n", x0, y, x1);
            label(x0 - 6, y + 4, "end", fmt::format("{}", n));
        }
        for (std::size_t i = 0; i < bins.size(); ++i) {
            const double h = height(static_cast<double>(bins[i]));
            put("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{:.2f} to "
                "{:.2f}: "
                "{} vertices</title></rect>\n",
                x0 + wide * static_cast<double>(i) + 1, y1 - h, wide - 2, h, 0.05 * static_cast<double>(i),
                0.05 * static_cast<double>(i + 1), bins[i]);
        }
        for (int i = 0; i <= 4; ++i)
            label(x0 + (x1 - x0) * i / 4, y1 + 18, "middle", fmt::format("{:.1f}", 0.5 * i));
        label((x0 + x1) / 2, y1 + 38, "middle", "L1 distance of a vertex's weights");
        add("</svg><figcaption>Vertices in steps of 0.05; heights grow with the square "
            "root.</figcaption></figure>\n");
    }

    /// The bins that have vertices, as one line.
    void curve(const std::vector<double>& values, std::size_t colour, bool dashed) {
        std::string path;
        const auto bins = static_cast<double>(values.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (!c_.limb.vertices[k]) continue;
            const double x = x0 + (x1 - x0) * (static_cast<double>(k) + 0.5) / bins, y = y1 - (y1 - y0) * values[k];
            path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : " L", x, y);
        }
        put("<path class=\"curve c{}{}\" d=\"{}\"/>\n", colour, dashed ? " dashed" : "", path);
    }

    void limb() {
        const LimbProfile& limb = c_.limb;
        if (limb.joints.empty()) return;
        add("<h2>Weights along the chain that differs most</h2>\n<figure>");
        open_plot("Weight profile along a limb");
        for (const double w : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            const double y = y1 - (y1 - y0) * w;
            put("<path class=\"axis\" d=\"M{},{:.1f}H{}\"/>\n", x0, y, x1);
            label(x0 - 6, y + 4, "end", fmt::format("{:.2f}", w));
        }
        for (std::size_t j = 0; j < limb.joints.size(); ++j) {
            const double x = x0 + (x1 - x0) * limb.joint_at[j] / limb.length;
            put("<path class=\"axis\" d=\"M{:.1f},{}V{}\"/>\n", x, y0, y1 + 5);
            if (limb.joints.size() <= 12)
                label(x, y1 + (j % 2 ? 32 : 18), j ? "middle" : "start", name(limb.joints[j]));
        }
        for (std::size_t j = 0; j < limb.joints.size(); ++j) {
            curve(limb.a[j], j % 8, false);
            curve(limb.b[j], j % 8, true);
        }
        put("</svg><figcaption>Mean weight of each joint against the length along the chain ({:.4g} scene units). "
            "<b>Solid: A; dashed: B.</b> ",
            limb.length);
        for (std::size_t j = 0; j < limb.joints.size(); ++j)
            put("{}<svg viewBox=\"0 0 20 8\" style=\"width:1.4em;display:inline\"><path class=\"curve c{}\" "
                "d=\"M0,4H20\"/></svg> {}",
                j ? ", " : "", j % 8, name(limb.joints[j]));
        add("</figcaption></figure>\n");
    }

    void poses() {
        if (c_.poses.empty()) return;
        add("<h2>Poses</h2>\n<p>Distance between the two deformed meshes in percent of the diagonal at rest; "
            "volume "
            "against rest; the most stretched side of a triangle.</p>\n<div class=\"scroll\"><table id=\"poses\">\n"
            "<thead><tr><th>Pose</th><th class=\"text\">Kind</th><th>Mean</th><th>Max</th><th>At vertex</th><th "
            "class=\"a\">Volume A</th>"
            "<th class=\"b\">Volume B</th><th class=\"a\">Stretch A</th><th class=\"b\">Stretch "
            "B</th></tr></thead>\n"
            "<tbody>\n");
        auto volume = [](const PoseShape& s) {
            return s.volume_change ? fmt::format("{:+.2f} %", 100 * *s.volume_change) : std::string("none");
        };
        for (const PoseComparison& p : c_.poses)
            put("<tr><td>{}</td><td "
                "class=\"text\">{}</td><td>{:.4f}</td><td>{:.4f}</td><td>{}</td><td>{}</td><td>{}</td>"
                "<td>{:.3f}</td><td>{:.3f}</td></tr>\n",
                escaped(p.name), to_string(p.kind), p.mean, p.max, p.worst_vertex, volume(p.a), volume(p.b),
                p.a.stretch_max, p.b.stretch_max);
        close_table();
    }

    void joints() {
        add("<h2>Joints, worst first</h2>\n<p>Part of the whole difference; sum of weights; vertices on which the "
            "joint "
            "is the strongest; precision and recall of its influences; Dirichlet energy; bleed.</p>\n"
            "<div class=\"scroll\"><table id=\"joints\">\n<thead><tr><th>Joint</th><th>Part of L1</th>"
            "<th class=\"a\">Weight A</th><th class=\"b\">Weight B</th><th class=\"a\">Strongest A</th>"
            "<th class=\"b\">Strongest B</th><th>Both</th><th>Precision</th><th>Recall</th><th class=\"a\">Energy "
            "A</th>"
            "<th class=\"b\">Energy B</th><th class=\"a\">Bleed A</th><th class=\"b\">Bleed "
            "B</th></tr></thead>\n<tbody>\n");
        auto share = [](double part, double whole, bool known) {
            return known && whole > 0 ? fmt::format("{:.3f}", part / whole) : std::string("none");
        };
        for (const JointComparison& j : c_.joints) {
            auto far = [&](const WeightsQuality& q, double mass) {
                return share(run_.options.bleed ? q.bleed.far_weight[j.joint] : 0, mass, run_.options.bleed);
            };
            const auto both = static_cast<double>(j.influences_both);
            put("<tr><td>{}</td><td>{:.2f} "
                "%</td><td>{:.1f}</td><td>{:.1f}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                "<td>{}</td><td>{:.3f}</td><td>{:.3f}</td><td>{}</td><td>{}</td></tr>\n",
                name(j.joint), 100 * j.l1_share, j.mass_a, j.mass_b, j.strongest_a, j.strongest_b, j.strongest_both,
                share(both, static_cast<double>(j.influences_b), true),
                share(both, static_cast<double>(j.influences_a), true), c_.a.smoothness.energy[j.joint],
                c_.b.smoothness.energy[j.joint], far(c_.a, j.mass_a), far(c_.b, j.mass_b));
        }
        close_table();
        list("Joints that only A has", run_.match->only_reference);
        list("Joints that only B has", run_.match->only_other);
    }

    void list(std::string_view what, const std::vector<std::uint32_t>& joints) {
        if (joints.empty()) return;
        put("<p>{}: ", what);
        for (std::size_t i = 0; i < joints.size(); ++i) put("{}{}", i ? ", " : "", name(joints[i]));
        add(".</p>\n");
    }

    std::string weights(std::span<const Influence> row) const {
        std::string out;
        for (const Influence& i : row)
            out += fmt::format("{}{} {:.3f}", out.empty() ? "" : ", ", name(i.joint), i.weight);
        return out.empty() ? "none" : out;
    }

    void worst_vertices() {
        if (c_.worst_vertices.empty()) return;
        add("<h2>Worst vertices</h2>\n<div class=\"scroll\"><table id=\"worst\">\n<thead><tr><th>Vertex</th>"
            "<th class=\"text\">Mesh and vertex in it</th><th>L1</th><th class=\"text\">Position</th>"
            "<th class=\"text a\">Weights A</th><th class=\"text b\">Weights B</th></tr></thead>\n<tbody>\n");
        for (const std::uint32_t v : c_.worst_vertices) {
            const std::pair<std::string, std::uint32_t> place = place_of(*run_.scene, v);
            const Vec3& p = run_.scene->positions[v];
            put("<tr><td>{}</td><td class=\"text\">{} {}</td><td>{:.4f}</td><td class=\"text\">{:.4g}, {:.4g}, "
                "{:.4g}</td>"
                "<td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
                v, escaped(place.first), place.second, c_.vertex_l1[v], p.x, p.y, p.z, weights((*run_.a)[v]),
                weights((*run_.b)[v]));
        }
        close_table();
    }

    const CompareRun& run_;
    const Comparison& c_;
};

}  // namespace

std::string make_compare_page(const CompareRun& run) { return ComparePage(run).make(); }

}  // namespace sinew::cli
