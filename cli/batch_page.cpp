#include "batch_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "page.h"
#include "sinew/core.h"

namespace sinew::cli {
namespace {

using Line = OrderedJson;

constexpr const char* batch_style = R"css(
input { font: inherit; padding: .3rem .6rem; width: 24rem; max-width: 100%; }
#rows th, [data-find] { cursor: pointer; } #rows td.text { overflow-wrap: anywhere; min-width: 5rem; }
#rows td:first-child { min-width: 11rem; } #rows td:last-child { min-width: 22rem; } body { max-width: none; } .more { margin-top: .5rem; }
.pictures { display: flex; flex-wrap: wrap; gap: .8rem; } .pictures figure { width: 240px; overflow-wrap: anywhere; }
.pictures figure:has([open]) { width: 100%; } .pictures summary { cursor: zoom-in; list-style: none; }
.pictures [open] summary { cursor: zoom-out; } .pictures details img { max-width: 100%; }
)css";

// Columns: those of row_of. A column without a value is hidden.
constexpr const char* batch_script = R"js(
const rows = JSON.parse(document.getElementById("data").textContent), shown = 200;
let column = -1, down = true;
const head = document.querySelectorAll("#rows th"), body = document.querySelector("#rows tbody");
const find = document.getElementById("find"), more = document.getElementById("more");
// Decimals of numbers that are not whole.
const decimals = {Seconds: 2, MB: 0, Coverage: 6, L1: 4, Agreement: 4, Changed: 6};
const message = head.length - 1, small_is_bad = ["Coverage", "Agreement"];
const empty = [...head].map((_, k) => rows.length > 0 && rows.every(r => r[k] === null));
head.forEach((cell, k) => cell.hidden = empty[k]);
function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(w => w);
  let list = rows.filter(r => { const t = (r[0] + " " + r[1] + " " + (r[message] ?? "")).toLowerCase();
    return words.every(w => t.includes(w)); });
  if (column >= 0) list = list.slice().sort((a, b) => { const x = a[column], y = b[column];
    if (x === null || y === null) return (x === null) - (y === null);
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1); });
  body.textContent = "";
  for (const r of list.slice(0, shown)) {
    const line = body.insertRow();
    r.forEach((value, k) => { const cell = line.insertCell();
      cell.textContent = value === null ? "" : 
        typeof value === "number" ? +value.toFixed(decimals[head[k].textContent] ?? 0) : value;
      cell.hidden = empty[k];
      if (k === 0 || k === 1 || k === message) cell.className = "text";
      if (k === 1) cell.classList.add(value === "done" ? "good" : "bad"); });
  }
  more.textContent = `${list.length} of ${rows.length} characters` +
    (list.length > shown ? `; the first ${shown} are shown` : "");
}
head.forEach((cell, k) => cell.onclick = () => { 
  down = column === k ? !down : k >= 2 && k < message && !small_is_bad.includes(cell.textContent);
  column = k; show(); });
find.oninput = show;
document.querySelectorAll("[data-find]").forEach(a => a.onclick = () => { find.value = a.dataset.find; show(); });
show();
)js";

bool is_text(std::string_view column) { return column == "Outcome" || column == "Message"; }

Line number_at(const Line& line, const char* key, double scale = 1) {
    const auto at = line.find(key);
    return at != line.end() && at->is_number() ? Line(at->get<double>() * scale) : Line(nullptr);
}

/// Messages that differ in their numbers only, such as the bytes of several files, are one cause.
class Cause {
public:
    /// The same for all messages of a cause.
    static std::string key(const std::string& message) {
        std::string out;
        for (const std::string& piece : pieces(message)) out += is_digit(piece[0]) ? std::string(1, '\0') : piece;
        return out;
    }
    void add(const std::string& message) {
        const std::vector<std::string> now = pieces(message);
        if (count_++ == 0) pieces_ = now;
        for (std::size_t k = 0; k < std::min(pieces_.size(), now.size()); ++k)
            if (pieces_[k] != now[k]) pieces_[k] = "N";
    }
    std::size_t count() const { return count_; }
    /// Numbers that differ are N.
    std::string text() const {
        std::string out;
        for (const std::string& piece : pieces_) out += piece;
        return out;
    }
    /// The words that every message has.
    std::string search() const {
        std::string out, word;
        bool same = true;
        const auto flush = [&] {
            if (same && !word.empty()) out += (out.empty() ? "" : " ") + word;
            word.clear(), same = true;
        };
        for (const std::string& piece : pieces_) {
            if (piece == "N") same = false;
            for (const char c : piece) c == ' ' ? flush() : word.push_back(c);
        }
        flush();
        return out;
    }

private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    /// Numbers, and what is between them.
    static std::vector<std::string> pieces(const std::string& message) {
        std::vector<std::string> out;
        for (const char c : message) {
            if (out.empty() || is_digit(out.back()[0]) != is_digit(c)) out.emplace_back();
            out.back() += c;
        }
        return out;
    }

    std::size_t count_ = 0;
    std::vector<std::string> pieces_;
};

/// What a message says, without the file that it begins with.
std::string cause_of(const Line& line) {
    std::string text = line.value("message", "");
    const std::string input = line.value("input", "");
    if (!input.empty() && text.starts_with(input + ": ")) text.erase(0, input.size() + 2);
    return text;
}

// As the headings of make_batch_page; null: there is none.
Line row_of(const Line& line) {
    const auto warnings = line.find("warnings"), compared = line.find("compare"), checked = line.find("check");
    const bool has_compare = compared != line.end() && compared->is_object();
    const bool has_check = checked != line.end() && checked->is_object();
    return Line::array({line.value("input", ""), line.value("outcome", ""), number_at(line, "seconds"),
                        number_at(line, "peak_memory_bytes", 1e-6), number_at(line, "vertices"),
                        number_at(line, "coverage"),
                        warnings != line.end() && warnings->is_array() ? Line(warnings->size()) : Line(nullptr),
                        has_compare ? number_at(*compared, "l1") : Line(nullptr),
                        has_compare ? number_at(*compared, "strongest_agreement") : Line(nullptr),
                        number_at(line, "changed"), has_check ? number_at(*checked, "errors") : Line(nullptr),
                        has_check ? number_at(*checked, "warnings") : Line(nullptr),
                        line.contains("message") ? Line(cause_of(line)) : Line(nullptr)});
}

/// JSON in a script element: no "</script" may end it.
std::string embedded(const Line& data) {
    std::string out;
    for (const char c : data.dump(-1, ' ', false, Line::error_handler_t::replace))
        out += c == '<' ? std::string("\\u003c") : std::string(1, c);
    return out;
}

/// The picture; a click on it opens the contact sheet.
std::string figure_of(const BatchPicture& p) {
    const std::string picture = p.png.empty() ? "" : image(p.png, "");
    if (p.sheet.empty()) return picture;
    return fmt::format("<details><summary title=\"all standard poses\">{}</summary>{}</details>",
                       picture.empty() ? "all standard poses" : picture, image(p.sheet, "standard poses"));
}

}  // namespace

std::vector<BatchPicture> worst_of(const std::vector<Line>& lines, std::size_t count) {
    struct Measure {
        const char* title;
        double (*badness)(const Line&);  // 0: nothing to see
    };
    static constexpr auto at = [](const Line& value) { return value.is_number() ? value.get<double>() : 0.0; };
    constexpr Measure measures[] = {
        {"L1 to the reference", [](const Line& line) { return at(row_of(line)[7]); }},
        {"changed since the last run, L1", [](const Line& line) { return at(number_at(line, "changed")); }},
        {"fraction of vertices that bind did not reach",
         [](const Line& line) {
             const Line coverage = number_at(line, "coverage");
             return coverage.is_number() ? 1 - coverage.get<double>() : 0.0;
         }},
        {"seconds", [](const Line& line) { return at(number_at(line, "seconds")); }},
    };
    std::vector<BatchPicture> out;
    for (const Measure& measure : measures) {
        std::vector<std::pair<double, const Line*>> list;
        for (const Line& line : lines)
            if (const std::string outcome = line.value("outcome", "");
                outcome == "done" || outcome == "gate failed")
                if (const double bad = measure.badness(line); bad > 0) list.emplace_back(bad, &line);
        std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        for (std::size_t k = 0; k < list.size() && k < count; ++k)
            out.push_back({fmt::format("{} {:.3g}", measure.title, list[k].first),
                           list[k].second->value("input", ""),
                           list[k].second->value("output", ""),
                           {},
                           {}});
    }
    return out;
}

std::string make_batch_page(const std::vector<Line>& lines, const std::vector<BatchPicture>& pictures,
                            double seconds) {
    std::map<std::string, std::size_t> outcomes;
    std::map<std::pair<std::string, std::string>, Cause> causes;  // by outcome and key
    double work = 0;
    std::size_t compared = 0, changed = 0;
    Line rows = Line::array();
    for (const Line& line : lines) {
        const std::string outcome = line.value("outcome", "");
        ++outcomes[outcome];
        if (outcome != "done") causes[{outcome, Cause::key(cause_of(line))}].add(cause_of(line));
        if (const Line s = number_at(line, "seconds"); s.is_number()) work += s.get<double>();
        if (const Line l1 = number_at(line, "changed"); l1.is_number()) {
            ++compared;
            changed += l1.get<double>() > 1e-3;
        }
        rows.push_back(row_of(line));
    }
    Page page("sinew batch", batch_style);
    page.put("<h1>{} characters</h1>\n<p>{:.1f} s for this run, {:.1f} s of work in binds. ", lines.size(), seconds,
             work);
    for (const auto& [outcome, count] : outcomes)
        page.put("<b class=\"{}\">{} {}</b> ", outcome == "done" ? "good" : "bad", count, escaped(outcome));
    page.add("</p>\n");
    if (compared > 0)
        page.put(
            "<p>Of {} characters that an earlier run had bound, {} changed by a mean L1 above 0.001: sort by "
            "Changed.</p>\n",
            compared, changed);
    if (!causes.empty()) {
        std::vector<std::pair<std::string, const Cause*>> list;  // with the outcome
        for (const auto& [of, cause] : causes) list.emplace_back(of.first, &cause);
        std::stable_sort(list.begin(), list.end(),
                         [](const auto& a, const auto& b) { return a.second->count() > b.second->count(); });
        page.add("<h2>What failed</h2>\n");
        page.open_table("causes", "<th>Outcome</th><th>Characters</th><th class=\"text\">Message</th>");
        for (std::size_t k = 0; k < list.size() && k < 50; ++k)
            page.put("<tr data-find=\"{3}\"><td>{1}</td><td>{2}</td><td class=\"text\">{0}</td></tr>\n",
                     escaped(list[k].second->text()), escaped(list[k].first), list[k].second->count(),
                     escaped(list[k].second->search()));
        if (list.size() > 50) page.put("<tr><td colspan=\"3\">and {} more</td></tr>\n", list.size() - 50);
        page.close_table();
    }
    if (!pictures.empty()) page.add("<h2>Worst by each measure</h2>\n<div class=\"pictures\">\n");
    for (const BatchPicture& p : pictures)
        page.put("<figure>{}<figcaption>{}<br>{}</figcaption></figure>\n", figure_of(p), escaped(p.measure),
                 escaped(p.input));
    if (!pictures.empty()) page.add("</div>\n");
    page.add(
        "<h2>Characters</h2>\n<p><input id=\"find\" placeholder=\"search names, outcomes and messages\"> click a "
        "heading to sort</p>\n");
    std::string headings;
    for (const char* title : {"Character", "Outcome", "Seconds", "MB", "Vertices", "Coverage", "Warnings", "L1",
                              "Agreement", "Changed", "Check: errors", "Check: warnings", "Message"})
        headings += fmt::format("<th{}>{}</th>", is_text(title) ? " class=\"text\"" : "", title);
    page.open_table("rows", headings);
    page.close_table();
    page.add("<p class=\"more\" id=\"more\"></p>\n");
    return page.finish("<script type=\"application/json\" id=\"data\">" + embedded(rows) + "</script>\n<script>" +
                       batch_script + "</script>\n");
}

}  // namespace sinew::cli
