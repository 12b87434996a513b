#include "core/body_part.h"

#include <algorithm>
#include <string>

#include "core/joint_names.h"
#include "core/joint_words.h"

namespace sinew {
namespace {

/// A word in lower case without a side that is written without a gap: "leftarm", "lleg", "rfemur".
std::string_view without_side(std::string_view word) {
    for (const std::string_view side : {"left", "right"})
        if (word.starts_with(side)) return word.substr(side.size());
    constexpr std::string_view rear = "rear";
    return (word.starts_with('l') || word.starts_with('r')) && word != rear ? word.substr(1) : word;
}

/// Every word of the name, and what it is without a side. Stops where visit returns true, and returns whether it
/// did.
template <typename Visit>
bool any_word(std::string_view name, Visit&& visit) {
    const std::vector<std::string> words = name_words(name);
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return visit(word) || visit(without_side(word)); });
}

}  // namespace

BodyPart body_part_of(std::string_view name) {
    for (const WordRow& row : word_rows())
        if (row.use == WordUse::body && any_word(name, [&](std::string_view word) { return row.speaks_of(word); }))
            return row.part;
    return BodyPart::unknown;
}

bool speaks_of_fingers(std::string_view name) {
    const auto rows = word_rows();
    return std::any_of(rows.begin(), rows.end(), [&](const WordRow& row) {
        return row.use == WordUse::body && row.part == BodyPart::finger &&
               any_word(name, [&](std::string_view word) { return row.speaks_of(word); });
    });
}

bool names_body_part(std::string_view name) {
    const auto rows = word_rows();
    const WordRow& ambiguous = words_for(WordUse::ambiguous);
    const WordRow& root = words_for(WordUse::root);
    return std::any_of(rows.begin(), rows.end(), [&](const WordRow& row) {
        return row.use == WordUse::body && row.part != BodyPart::prop && row.part != BodyPart::twist &&
               any_word(name, [&](std::string_view word) {
                   return std::find(row.stems.begin(), row.stems.end(), word) != row.stems.end() ||
                          (row.has(word) && !ambiguous.has(word) && !root.has(word));
               });
    });
}

}  // namespace sinew
