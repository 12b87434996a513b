#include "render/layout.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"

namespace sinew {
namespace {

int rounded(double v) { return static_cast<int>(std::lround(v)); }

/// Breaks a text at spaces into at most `most` lines; longer lines are shortened.
std::vector<std::string> wrap(const std::string& text, double size, double width, std::size_t most,
                              const Measure& measure) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t space = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, space - at);
        const std::string longer = line.empty() ? word : line + ' ' + word;
        if (line.empty() || measure(longer, size) <= width || lines.size() + 1 == most) {
            line = longer;
        } else {
            lines.push_back(line);
            line = word;
        }
        at = space + 1;
    }
    if (!line.empty()) lines.push_back(line);
    for (std::string& l : lines) l = fit_text(l, size, width, measure);
    return lines;
}

/// Puts legends into a column or a row of the picture.
class LegendWriter {
public:
    LegendWriter(Layout& layout, const Measure& measure, double size)
        : layout_(layout), measure_(measure), size_(size), line_(1.45 * size) {}

    bool is_bar(const Legend& legend) const { return legend.low < legend.high; }

    /// The width of a column that shows the legend without cuts.
    double width(const Legend& legend) const {
        double widest = std::min(measure_(legend.title, size_), 11 * size_);
        if (is_bar(legend)) {
            for (const std::string& label : labels(legend))
                widest = std::max(widest, 2.2 * size_ + measure_(label, size_));
        }
        for (const Legend::Entry& e : legend.entries)
            widest = std::max(widest, indent() + measure_(e.name, entry_size()));
        return widest;
    }

    /// Places it from the top of the box downwards; returns its height.
    int column(const LegendOf& of, const Box& box) {
        const Legend& legend = *of.legend;
        double y = box.y;
        for (const std::string& text : wrap(legend.title, size_, box.width, 3, measure_)) {
            if (y + line_ > box.bottom()) return rounded(y) - box.y;
            layout_.texts.push_back({text, static_cast<double>(box.x), y + size_, size_, false});
            y += line_;
        }
        y += 0.3 * line_;
        if (is_bar(legend)) {
            const double room = box.bottom() - y - 0.5 * size_ - (of.zero_is_plain ? 1.6 * line_ : 0);
            const double height = std::min(room, 14 * size_);
            if (height >= 3 * size_) {
                bar(of, {box.x, rounded(y + 0.4 * size_), rounded(1.3 * size_), rounded(height)}, true);
                y += height + size_;
                if (of.zero_is_plain) y += 1.6 * line_;
            }
        }
        if (!legend.entries.empty())
            y += entries(legend, {box.x, rounded(y), box.width, box.bottom() - rounded(y)});
        return rounded(y) - box.y;
    }

    /// Places it below the panels: title, then a horizontal bar or names in columns.
    int row(const LegendOf& of, const Box& box) {
        const Legend& legend = *of.legend;
        if (box.height < line_) return 0;
        layout_.texts.push_back({fit_text(legend.title, size_, box.width, measure_), static_cast<double>(box.x),
                                 box.y + size_, size_, false});
        double y = box.y + 1.2 * line_;
        if (is_bar(legend) && y + 2.6 * size_ <= box.bottom()) {
            double last = 0;
            for (const std::string& label : labels(legend)) last = std::max(last, measure_(label, size_));
            const double lead = last / 2 + (of.zero_is_plain ? 4.2 * size_ : 0);
            const double length = std::min(box.width - lead - last / 2, 26 * size_);
            if (length > 4 * size_) {
                bar(of, {box.x + rounded(lead), rounded(y), rounded(length), rounded(1.1 * size_)}, false);
                y += 2.8 * size_;
            }
        }
        if (!legend.entries.empty())
            y += entries(legend, {box.x, rounded(y), box.width, box.bottom() - rounded(y)});
        return rounded(y) - box.y;
    }

    double line() const { return line_; }

private:
    double entry_size() const { return 0.88 * size_; }
    double entry_line() const { return 1.4 * entry_size(); }
    double indent() const { return 1.7 * entry_size(); }

    static std::vector<std::string> labels(const Legend& legend) {
        const double step = legend.ticks.size() > 1 ? legend.ticks[1] - legend.ticks[0] : legend.high - legend.low;
        std::vector<std::string> out;
        for (const double v : legend.ticks) out.push_back(short_number(v, step));
        return out;
    }

    void bar(const LegendOf& of, const Box& box, bool upright) {
        const Legend& legend = *of.legend;
        BarItem item{box, legend.ramp, upright, {}, of.zero_is_plain};
        const std::vector<std::string> names = labels(legend);
        double free_from = -1e9;  // no label may start before the end of the previous one
        for (std::size_t i = 0; i < legend.ticks.size(); ++i) {
            const double t = (legend.ticks[i] - legend.low) / (legend.high - legend.low);
            if (!(t >= -1e-9 && t <= 1 + 1e-9)) continue;
            const double wide = measure_(names[i], size_);
            if (upright) {
                const double y = box.bottom() - t * box.height;
                if (box.height - y < free_from) continue;
                item.marks.push_back(rounded(y));
                layout_.texts.push_back({names[i], box.right() + 0.7 * size_, y + 0.36 * size_, size_, false});
                free_from = box.height - y + 1.1 * size_;
            } else {
                const double x = box.x + t * box.width;
                if (x - wide / 2 < free_from) continue;
                item.marks.push_back(rounded(x));
                layout_.texts.push_back({names[i], x - wide / 2, box.bottom() + 1.35 * size_, size_, false});
                free_from = x + wide / 2 + 0.5 * size_;
            }
        }
        if (of.zero_is_plain && upright)
            layout_.texts.push_back({"none", box.right() + 0.7 * size_, box.bottom() + 2.2 * size_, size_, false});
        if (of.zero_is_plain && !upright)
            layout_.texts.push_back({"none", box.x - 4.3 * size_, box.bottom() + 1.35 * size_, size_, false});
        layout_.bars.push_back(std::move(item));
    }

    double entries(const Legend& legend, const Box& box) {
        const double size = entry_size(), pitch = entry_line(), gap = 1.2 * size;
        const auto rows = static_cast<std::size_t>(std::max(0.0, std::floor(box.height / pitch)));
        if (rows == 0) return 0;
        double widest = 0;
        for (const Legend::Entry& e : legend.entries) widest = std::max(widest, measure_(e.name, size));
        const double wanted = indent() + widest + gap;
        const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor((box.width + gap) / wanted)));
        const double wide = columns == 1 ? box.width : wanted - gap;
        const std::size_t count = legend.entries.size();
        const std::size_t used_rows = std::min(rows, (count + columns - 1) / columns);
        std::size_t shown = std::min(count, used_rows * columns);
        if (shown < count) --shown;  // the last line gives the number of missing entries
        for (std::size_t i = 0; i < shown + (shown < count ? 1 : 0); ++i) {
            const double x = box.x + static_cast<double>(i / used_rows) * wanted;
            const double y = box.y + static_cast<double>(i % used_rows) * pitch;
            if (i == shown) {
                const std::string more = "and " + std::to_string(count - shown) + " more";
                layout_.texts.push_back({fit_text(more, size, wide, measure_), x, y + size, size, true});
                break;
            }
            const int edge = rounded(0.95 * size);
            layout_.swatches.push_back(
                {{rounded(x), rounded(y + 0.12 * size), edge, edge}, legend.entries[i].colour});
            layout_.texts.push_back({fit_text(legend.entries[i].name, size, wide - indent(), measure_),
                                     x + indent(), y + size, size, false});
        }
        return static_cast<double>(used_rows) * pitch;
    }

    Layout& layout_;
    const Measure& measure_;
    const double size_, line_;
};

/// The grid in which figures of this shape are largest.
int best_columns(int count, const Box& area, double frame_width, double frame_height, double title) {
    int best = 1;
    double best_scale = 0;
    for (int columns = 1; columns <= count; ++columns) {
        const int rows = (count + columns - 1) / columns;
        const double w = static_cast<double>(area.width) / columns;
        const double h = static_cast<double>(area.height) / rows - title;
        const double scale = std::min(w / frame_width, h / frame_height);
        if (scale > best_scale * 1.0001) best = columns, best_scale = scale;
    }
    return best;
}

}  // namespace

std::string fit_text(const std::string& text, double size, double width, const Measure& measure) {
    if (measure(text, size) <= width) return text;
    std::string cut = text;
    while (!cut.empty()) {
        // A whole character of UTF-8: its first byte and its continuation bytes.
        while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80) cut.pop_back();
        if (!cut.empty()) cut.pop_back();
        if (measure(cut + "…", size) <= width) return cut + "…";
    }
    return {};
}

std::string short_number(double value, double step) {
    step = std::abs(step);
    if (std::abs(value) < 1e-9 * step) value = 0;
    if (step >= 1e-4 && std::abs(value) < 1e6) {
        // As many decimals as the step has, and as many as the value needs.
        int digits = 0;
        while (digits < 6 && std::abs(step * std::pow(10, digits) - std::round(step * std::pow(10, digits))) > 1e-6)
            ++digits;
        return number_text(value, digits, std::chars_format::fixed);
    }
    return number_text(value, 3);
}

Layout lay_out(const Picture& picture, const std::vector<LegendOf>& legends, double frame_width,
               double frame_height, const Measure& measure) {
    Layout layout;
    const double shorter = std::min(picture.width, picture.height);
    const double size = layout.text_size = std::clamp(std::round(shorter / 48), 10.0, 80.0);
    const int margin = rounded(0.9 * size);
    Box area{margin, margin, picture.width - 2 * margin, picture.height - 2 * margin};
    if (!picture.title.empty() && area.height > 6 * size) {
        const double big = 1.25 * size;
        layout.texts.push_back({fit_text(picture.title, big, area.width, measure), static_cast<double>(area.x),
                                area.y + big, big, false});
        area.y += rounded(1.7 * big);
        area.height -= rounded(1.7 * big);
    }

    LegendWriter writer(layout, measure, size);
    const bool beside = picture.width * 10 >= picture.height * 9;
    // A picture too small for its legend gets no legend.
    const bool shown = !legends.empty() && area.width > 20 * size / 1.5 && area.height > 12 * size / 1.5;
    if (shown && beside) {
        double wide = 0;
        for (const LegendOf& of : legends) wide = std::max(wide, writer.width(*of.legend));
        const int column = rounded(std::min(wide + 2, 0.3 * area.width));
        Box box{area.right() - column, area.y, column, area.height};
        for (std::size_t i = 0; i < legends.size(); ++i) {
            Box share = box;
            share.height = box.height / static_cast<int>(legends.size() - i);
            const int high = writer.column(legends[i], share) + rounded(size);
            box.y += high;
            box.height -= high;
        }
        area.width -= column + margin;
    } else if (shown) {
        const auto count = static_cast<int>(legends.size());
        double wanted = 0;
        for (const LegendOf& of : legends) wanted += of.legend->entries.empty() ? 5.2 * size : 12 * size;
        const int high = rounded(std::min(wanted, 0.3 * area.height));
        Box box{area.x, area.bottom() - high, area.width, high};
        for (int i = 0; i < count; ++i) {
            Box share = box;
            share.height = box.height / (count - i);
            const int used = writer.row(legends[static_cast<std::size_t>(i)], share);
            box.y += used;
            box.height -= used;
        }
        area.height -= high + margin / 2;
    }

    const auto count = static_cast<int>(picture.panels.size());
    bool titled = false;
    for (const Panel& panel : picture.panels) titled |= !panel.title.empty();
    const double title = titled ? 1.6 * size : 0;
    const int columns = std::min(
        count, picture.columns > 0 ? picture.columns : best_columns(count, area, frame_width, frame_height, title));
    const int rows = (count + columns - 1) / columns;
    // Cells are not higher than their contents and are centred: titles are close to the figures.
    const double cell = static_cast<double>(area.width) / columns;
    const double high = std::min(static_cast<double>(area.height) / rows,
                                 std::max(cell * frame_height / frame_width, 4 * size) + 1.5 * title);
    area.y += rounded((area.height - high * rows) / 2);
    area.height = rounded(high * rows);
    for (int i = 0; i < count; ++i) {
        const int c = i % columns, r = i / columns;
        const int x0 = area.x + area.width * c / columns, x1 = area.x + area.width * (c + 1) / columns;
        const int y0 = area.y + area.height * r / rows, y1 = area.y + area.height * (r + 1) / rows;
        Box box{x0, y0, std::max(1, x1 - x0), std::max(1, y1 - y0)};
        const int under = std::min(rounded(title), box.height / 2);
        box.height -= under;
        if (const std::string& name = picture.panels[static_cast<std::size_t>(i)].title; !name.empty()) {
            const std::string text = fit_text(name, size, box.width - size, measure);
            layout.texts.push_back(
                {text, box.x + (box.width - measure(text, size)) / 2, box.bottom() + 1.05 * size, size, false});
        }
        layout.panels.push_back(box);
    }
    return layout;
}

}  // namespace sinew
