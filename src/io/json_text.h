// Edits JSON text in place: everything that is not edited keeps its bytes, with white space and the spelling of
// numbers. For foreign files.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::io {

/// One value inside a JsonText. Containers are parsed on first access, so unused parts cost nothing. Pointers to a
/// value are valid until it, or a container around it, is replaced or erased.
class JsonValue {
public:
    JsonValue();
    explicit JsonValue(std::string_view text);
    ~JsonValue();
    JsonValue(const JsonValue&) = delete;
    JsonValue& operator=(const JsonValue&) = delete;

    bool is_object() const { return text_.starts_with('{'); }
    bool is_array() const { return text_.starts_with('['); }

    /// Members of an object or elements of an array; 0 for anything else.
    std::size_t size();
    /// An element of an array or a member of an object, in file order; null past the end.
    JsonValue* at(std::size_t index);
    /// The member of an object with this (unescaped) key, the last one where it is repeated, or null.
    JsonValue* find(std::string_view key);

    /// Replaces the whole value by JSON text.
    void replace(std::string json);
    /// Replaces or adds a member of an object. A new one becomes the last, with the white space of its neighbour.
    JsonValue& set(std::string_view key, std::string json);
    /// Adds an element to an array, with the white space of its neighbour.
    JsonValue& append(std::string json);
    /// Removes the members of this key from an object; false where there are none.
    bool erase(std::string_view key);
    /// Removes an element of an array or a member of an object.
    void erase_at(std::size_t index);

    void write(std::string& out) const;
    std::string str() const;

private:
    struct Member;
    void open();
    Member& add();

    std::string_view text_;
    std::unique_ptr<std::string> own_;  // the text behind text_, after replace
    bool opened_ = false;
    std::string inside_;  // of an empty container: its white space
    std::vector<std::unique_ptr<Member>> members_;
};

/// A whole document. The text must be valid JSON: parse it first.
class JsonText {
public:
    explicit JsonText(std::string text);
    JsonText(const JsonText&) = delete;
    JsonText& operator=(const JsonText&) = delete;
    JsonValue& root() { return *root_; }
    std::string str() const;

private:
    std::string text_;
    std::string_view before_, after_;
    std::unique_ptr<JsonValue> root_;
};

/// A string as JSON, quotes included. Bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);
/// A number as JSON: the shortest text that reads back as the same double.
std::string json_number(double value);

}  // namespace sinew::io
