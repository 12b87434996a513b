// The web server of `sinew studio`: requests and responses as text. No sockets here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"

namespace sinew::cli {

/// Files by request path, all in memory: a request cannot reach any other file.
struct Site {
    std::map<std::string, std::vector<std::byte>, std::less<>> files;  ///< "index.html", "assets/x.js"
    std::string secret;  ///< first part of every path: other users of the machine cannot guess it
    int port = 0;        ///< the host of requests must be 127.0.0.1 or localhost with this port
};

/// All files in a folder and below. An error if it has no index.html.
Status add_page(Site& site, const std::string& folder);

/// Whether these bytes contain a complete request head, or more than its maximum size (16 KB).
bool is_whole(std::string_view request);

struct Answer {
    std::string head;                              ///< status line and headers, with the empty line
    const std::vector<std::byte>* body = nullptr;  ///< in the site, or null
};
/// The response to a request head. GET and HEAD of files below the secret; everything else is refused. Every
/// response forbids other sites to embed or read it (COOP, COEP, CORP) and restricts what the page may load
/// (CSP).
Answer answer_to(const Site& site, std::string_view request);

}  // namespace sinew::cli
