// The page of `sinew check --html`.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "check_report.h"
#include "page.h"
#include "painter.h"

namespace sinew::cli {
namespace {

/// The character from the front and from the back, coloured by how bad each vertex is.
Result<std::vector<std::byte>> picture_of(const CheckRun& run, const SkinFinding& f, const Transform& to_world,
                                          Context& context) {
    const float maximum = *std::max_element(f.of_vertex.begin(), f.of_vertex.end());
    const Paint paint = paint_values(f.of_vertex, std::string(skin_rules()[f.rule].word), Ramp::heat, 0, maximum);
    Picture picture;
    picture.width = 900;
    picture.height = 520;
    picture.columns = 2;
    for (const char* from : {"front", "back"}) {
        Panel panel;
        panel.title = from;
        panel.positions = run.scene->positions;
        panel.triangles = run.scene->triangles;
        panel.paint = &paint;
        panel.transform = to_world;
        panel.from = *viewpoint(from);
        picture.panels.push_back(std::move(panel));
    }
    return draw_apart(picture, context);
}

}  // namespace

std::string make_check_page(const CheckRun& run, Context& context) {
    Page page(escaped(run.input) + ": skin");
    page.put(
        "<h1>Skin of {}</h1>\n<p><b class=\"{}\">{}</b>: {} errors, {} warnings; {} vertices, {} joints{}</p>\n",
        escaped(run.input), run.passed ? "good" : "bad", run.passed ? "passed" : "failed",
        run.count(SkinRuleLevel::error), run.count(SkinRuleLevel::warning), run.scene->positions.size(),
        run.scene->skeleton.joints.size(), run.profile.empty() ? "" : "; profile " + escaped(run.profile));
    page.open_table("rules",
                    "<th>Rule</th><th class=\"text\">Level</th><th>Value</th><th>At most</th><th "
                    "class=\"text\">What</th><th class=\"text\">Where</th>");
    for (const SkinFinding& f : run.findings) {
        const SkinRule& rule = skin_rules()[f.rule];
        page.put(
            "<tr><td>{}</td><td class=\"text{}\">{}</td><td>{:.4g} {}</td><td>{}</td><td class=\"text\">{}{}</td>"
            "<td class=\"text\">{}</td></tr>\n",
            rule.word, f.alarm ? " bad" : " good", f.alarm ? to_string(rule.level) : "passed", f.value, rule.unit,
            std::isinf(f.threshold) ? "none" : fmt::format("{:g}", f.threshold), rule.what,
            f.alarm ? "<br>" + escaped(in_words(rule.help)) : "", escaped(f.detail));
    }
    page.close_table();
    Transform to_world;
    if (const Result<io::ScenePose> rest = io::pose_at(*run.scene, std::nullopt, 0)) to_world = rest->to_world;
    for (const SkinFinding& f : run.findings) {
        if (!f.alarm || std::none_of(f.of_vertex.begin(), f.of_vertex.end(), [](float v) { return v > 0; }))
            continue;
        const Result<std::vector<std::byte>> png = picture_of(run, f, to_world, context);
        if (!png) {
            page.put("<p>No pictures: {}.</p>\n", escaped(in_words(png.error().message)));
            break;
        }
        const SkinRule& rule = skin_rules()[f.rule];
        page.figure(*png, rule.word, fmt::format("{}: {}", rule.word, rule.what));
    }
    return page.finish();
}

}  // namespace sinew::cli
