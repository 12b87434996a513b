// What `sinew studio` serves, as requests and answers in text. No sockets here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"

namespace sinew::cli {

/// Files by the path under which they are asked for, all in memory: a request cannot name anything else.
struct Site {
    std::map<std::string, std::vector<std::byte>, std::less<>> files;  ///< "index.html", "assets/x.js"
    std::string secret;  ///< first part of every path: other users of the machine cannot guess it
    int port = 0;        ///< requests must name 127.0.0.1 or localhost with it as their host
};

/// All files in and below a folder. An error where it has no index.html.
Status add_page(Site& site, const std::string& folder);

/// Whether these bytes hold a whole request head, or more than one can be long (16 KB).
bool is_whole(std::string_view request);

struct Answer {
    std::string head;                              ///< status line and headers, with the empty line
    const std::vector<std::byte>* body = nullptr;  ///< of the site, or null
};
/// The answer to a request head. GET and HEAD of files below the secret; all else is refused. Every answer forbids
/// other sites to embed or read it (COOP, COEP, CORP) and says what the page may load (CSP).
Answer answer_to(const Site& site, std::string_view request);

}  // namespace sinew::cli
