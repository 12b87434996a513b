// Suggestions for words that are not known: an edit distance in which * and ? of a pattern are free.
#include <algorithm>
#include <cctype>

#include "sinew/core.h"

namespace sinew {
namespace {

constexpr std::size_t kEdit = 4, kCase = 1;  // the cost of a changed letter, and of one in the other case

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// The cost of turning `wanted` into `known`, by adding, removing, changing or swapping letters (optimal string
/// alignment, a form of Damerau and Levenshtein).
std::size_t cost_between(std::string_view wanted, std::string_view known) {
    std::vector<std::size_t> above, row(known.size() + 1), next(known.size() + 1);  // of the last letters of wanted
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = k * kEdit;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const char c = wanted[i];
        const std::size_t skip = c == '*' ? 0 : kEdit;
        next[0] = row[0] + skip;
        for (std::size_t k = 0; k < known.size(); ++k) {
            const std::size_t change = c == known[k] || c == '?' ? 0 : lower(c) == lower(known[k]) ? kCase : kEdit;
            next[k + 1] = std::min({row[k] + change, row[k + 1] + skip, next[k] + skip});
            if (i > 0 && k > 0 && c == known[k - 1] && wanted[i - 1] == known[k])
                next[k + 1] = std::min(next[k + 1], above[k - 1] + kEdit);
        }
        above = row;
        std::swap(row, next);
    }
    return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view wanted, std::span<const std::string> known) {
    constexpr std::size_t longest = 200, most = 3;
    wanted = wanted.substr(0, longest);
    const auto letters = static_cast<std::size_t>(
        std::count_if(wanted.begin(), wanted.end(), [](char c) { return c != '*' && c != '?'; }));
    // A third of the letters may be wrong, and one in any case.
    const std::size_t limit = kEdit * std::max<std::size_t>(letters / 3, 1);
    std::vector<std::pair<std::size_t, std::size_t>> near;  // cost, word
    for (std::size_t i = 0; i < known.size(); ++i) {
        const std::string_view word = std::string_view(known[i]).substr(0, longest);
        std::size_t cost = cost_between(wanted, word);
        if (const auto colon = word.rfind(':'); colon != word.npos)
            cost = std::min(cost, cost_between(wanted, word.substr(colon + 1)) + kCase);
        // The beginning of a longer word.
        if (wanted.size() >= 3 && word.starts_with(wanted)) cost = std::min(cost, kEdit);
        if (cost <= limit) near.emplace_back(cost, i);
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out;
    const std::size_t shown = std::min(near.size(), most);
    for (std::size_t i = 0; i < shown; ++i)
        out += (i == 0 ? "" : i + 1 == shown ? " or " : ", ") + ("'" + printable(known[near[i].second], 80) + "'");
    return out.empty() ? "" : " (did you mean " + out + "?)";
}

}  // namespace sinew
