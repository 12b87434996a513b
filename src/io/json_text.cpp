// Editing JSON text: a concrete syntax tree that keeps the source bytes of every part.
#include "io/json_text.h"

#include <charconv>

#include "io/json.h"

namespace sinew::io {

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t skip_blank(std::string_view text, std::size_t at) {
    while (at < text.size() && blank(text[at])) ++at;
    return at;
}

/// Past the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
}

/// Past the value that begins at `at`. Counts brackets instead of descending, so depth costs no stack.
std::size_t skip_value(std::string_view text, std::size_t at) {
    std::size_t depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = skip_string(text, at);
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at;
            continue;
        } else if (c == '}' || c == ']') {
            --depth;
            ++at;
        } else if (c == ',' || c == ':' || blank(c)) {
            ++at;
            continue;
        } else {
            while (at < text.size() && text[at] != ',' && text[at] != '}' && text[at] != ']' && text[at] != ':' &&
                   !blank(text[at]))
                ++at;
        }
        if (depth == 0) return at;
    }
    return at;
}

std::string unescape(std::string_view quoted_key) {
    if (quoted_key.find('\\') == quoted_key.npos) return std::string(quoted_key.substr(1, quoted_key.size() - 2));
    const auto parsed = Json::parse(quoted_key, nullptr, false);
    return parsed.is_string() ? parsed.get<std::string>() : std::string();
}

}  // namespace

struct JsonValue::Member {
    std::string lead;   // white space before it
    std::string label;  // of an object's member: the key as written, the colon, the space after it
    std::string key;    // unescaped
    JsonValue value;
    std::string trail;  // white space between it and the comma or bracket after it
};

JsonValue::JsonValue() = default;
JsonValue::JsonValue(std::string_view text) : text_(text) {}
JsonValue::~JsonValue() = default;

void JsonValue::open() {
    if (opened_ || !(is_object() || is_array())) return;
    opened_ = true;
    const bool object = is_object();
    std::size_t at = 1;
    const std::size_t first = skip_blank(text_, at);
    if (first + 1 >= text_.size()) {
        inside_ = text_.substr(1, text_.size() - 2);
        return;
    }
    while (at < text_.size()) {
        auto member = std::make_unique<Member>();
        std::size_t next = skip_blank(text_, at);
        member->lead = text_.substr(at, next - at);
        at = next;
        if (object) {
            const std::size_t end = skip_string(text_, at);
            member->key = unescape(text_.substr(at, end - at));
            next = skip_blank(text_, skip_blank(text_, end) + 1);
            member->label = text_.substr(at, next - at);
            at = next;
        }
        next = skip_value(text_, at);
        member->value.text_ = text_.substr(at, next - at);
        at = next;
        next = skip_blank(text_, at);
        member->trail = text_.substr(at, next - at);
        at = next + 1;  // the comma or the bracket
        members_.push_back(std::move(member));
        if (next >= text_.size() || text_[next] != ',') break;
    }
}

std::size_t JsonValue::size() {
    open();
    return members_.size();
}

JsonValue* JsonValue::at(std::size_t index) {
    open();
    return index < members_.size() ? &members_[index]->value : nullptr;
}

JsonValue* JsonValue::find(std::string_view key) {
    open();
    if (!is_object()) return nullptr;
    for (std::size_t i = members_.size(); i-- > 0;)
        if (members_[i]->key == key) return &members_[i]->value;
    return nullptr;
}

void JsonValue::replace(std::string json) {
    if (!opened_ && text_ == json) return;
    members_.clear();
    inside_.clear();
    opened_ = false;
    own_ = std::make_unique<std::string>(std::move(json));
    text_ = *own_;
}

JsonValue::Member& JsonValue::add() {
    open();
    auto member = std::make_unique<Member>();
    if (!members_.empty()) {
        Member& last = *members_.back();
        member->lead = last.lead;
        member->trail = std::move(last.trail);
        last.trail.clear();
    }
    inside_.clear();
    members_.push_back(std::move(member));
    return *members_.back();
}

JsonValue& JsonValue::set(std::string_view key, std::string json) {
    if (JsonValue* found = find(key)) {
        found->replace(std::move(json));
        return *found;
    }
    // The white space after the colon is that of the neighbour.
    std::string gap;
    if (!members_.empty()) {
        const std::string& label = members_.back()->label;
        gap = label.substr(label.rfind(':') + 1);
    }
    Member& member = add();
    member.key = key;
    member.label = json_string(key) + ":" + gap;
    member.value.replace(std::move(json));
    return member.value;
}

JsonValue& JsonValue::append(std::string json) {
    Member& member = add();
    member.value.replace(std::move(json));
    return member.value;
}

void JsonValue::erase_at(std::size_t index) {
    open();
    if (index >= members_.size()) return;
    if (index > 0 && index + 1 == members_.size())
        members_[index - 1]->trail = std::move(members_[index]->trail);
    else if (index == 0 && members_.size() > 1)
        members_[1]->lead = std::move(members_[0]->lead);
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool JsonValue::erase(std::string_view key) {
    open();
    if (!is_object()) return false;
    bool found = false;
    for (std::size_t i = members_.size(); i-- > 0;)
        if (members_[i]->key == key) {
            erase_at(i);
            found = true;
        }
    return found;
}

void JsonValue::write(std::string& out) const {
    if (!opened_) {
        out += text_;
        return;
    }
    out += text_.front();
    out += inside_;
    bool first = true;
    for (const auto& member : members_) {
        if (!first) out += ',';
        first = false;
        out += member->lead;
        out += member->label;
        member->value.write(out);
        out += member->trail;
    }
    out += text_.back();
}

std::string JsonValue::str() const {
    std::string out;
    write(out);
    return out;
}

JsonText::JsonText(std::string text) : text_(std::move(text)) {
    std::size_t begin = text_.starts_with("\xef\xbb\xbf") ? 3 : 0;
    begin = skip_blank(text_, begin);
    const std::size_t end = skip_value(text_, begin);
    before_ = std::string_view(text_).substr(0, begin);
    after_ = std::string_view(text_).substr(end);
    root_ = std::make_unique<JsonValue>(std::string_view(text_).substr(begin, end - begin));
}

std::string JsonText::str() const {
    std::string out(before_);
    root_->write(out);
    out += after_;
    return out;
}

std::string json_string(std::string_view text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_number(double value) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return {digits, end};
}

}  // namespace sinew::io
