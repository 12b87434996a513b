// What the pages of several commands share: one file each, without external resources.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinew::cli {

/// Escapes text of the input for use between tags or in an attribute.
std::string escaped(std::string_view text);

/// <img> of a PNG. `alt` is escaped already.
std::string image(std::span<const std::byte> png, std::string_view alt);

class Page {
public:
    /// `title` is escaped already.
    explicit Page(std::string_view title, std::string_view more_style = {});

    template <typename... Args>
    void put(fmt::format_string<Args...> text, Args&&... args) {
        out_ += fmt::format(text, std::forward<Args>(args)...);
    }
    void add(std::string_view html) { out_ += html; }
    /// Opens a table. `headings`: its cells, as HTML.
    void open_table(std::string_view id, std::string_view headings);
    void close_table() { out_ += "</tbody></table></div>\n"; }
    void figure(std::span<const std::byte> png, std::string_view name, std::string_view caption);
    /// The page, with what follows its text.
    std::string finish(std::string_view after = {}) {
        return out_ + "</main>\n" + std::string(after) + "</body>\n</html>\n";
    }

private:
    std::string out_;
};

}  // namespace sinew::cli
