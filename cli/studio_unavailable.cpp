// Replaces studio.cpp, which uses the sockets of POSIX systems, on Windows.
#include "command.h"

namespace sinew::cli {

void add_studio(CLI::App& app, int& exit) {
    CLI::App* c = app.add_subcommand("studio", "Opens the studio in a browser; not available on Windows");
    c->allow_extras();
    c->callback([&exit] {
        exit =
            fail({ErrorCode::usage,
                  "sinew studio is not available on Windows (any web server can serve its page: docs/studio.md)"});
    });
}

}  // namespace sinew::cli
