// What the pages of several commands share.
#include "page.h"

#include "core/base64.h"

namespace sinew::cli {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                // Control characters are not allowed in a page.
                out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

std::string image(std::span<const std::byte> png, std::string_view alt) {
    return fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">", alt, encode_base64(png));
}

namespace {

constexpr std::string_view page_style = R"css(
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #62676f; --line: #d7dae0; --paper: #fff; --band: #f4f5f7;
  --a: #1f6fb2; --b: #c4590a; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa1ab; --line: #3a3f47; --paper: #16181c;
  --band: #1e2126; --a: #6cb4ee; --b: #f0a261; --bad: #f2837a; --good: #6fcf87; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 70rem; padding: 1.5rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p, figcaption { color: var(--soft); margin: .3rem 0 .8rem; } figure { margin: 0 0 1rem; }
code { font-size: .92em; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { font-weight: 600; } thead th { background: var(--band); }
th:first-child, td:first-child, .text { text-align: left; }
td.text { white-space: normal; min-width: 12rem; }
.a { color: var(--a); } .b { color: var(--b); } .bad { color: var(--bad); } .good { color: var(--good); }
svg { width: 100%; height: auto; max-width: 56rem; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .bar { fill: var(--a); }
svg .curve { fill: none; stroke-width: 2; } svg .dashed { stroke-dasharray: 6 4; }
.c0 { stroke: #1f77b4; } .c1 { stroke: #e07b00; } .c2 { stroke: #2a9d4a; } .c3 { stroke: #c93a3a; }
.c4 { stroke: #8e63c7; } .c5 { stroke: #8a5a44; } .c6 { stroke: #d05ca8; } .c7 { stroke: #7f7f7f; }
img { max-width: 100%; height: auto; }
)css";

}  // namespace

Page::Page(std::string_view title, std::string_view more_style) {
    put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}{}</style>\n"
        "</head>\n<body>\n<main>\n",
        title, page_style, more_style);
}

void Page::open_table(std::string_view id, std::string_view headings) {
    put("<div class=\"scroll\"><table id=\"{}\">\n<thead><tr>{}</tr></thead>\n<tbody>\n", id, headings);
}

void Page::figure(std::span<const std::byte> png, std::string_view name, std::string_view caption) {
    put("<figure>{}<figcaption>{}</figcaption></figure>\n", image(png, name), caption);
}

}  // namespace sinew::cli
