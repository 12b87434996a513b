#include "command.h"

namespace sinew::cli {

void add_mcp(CLI::App& app, int& exit) {
    CLI::App* c =
        app.add_subcommand("mcp", "Serves agents by the Model Context Protocol; not available on Windows");
    c->allow_extras();
    c->callback([&exit] {
        exit =
            fail({ErrorCode::usage, "sinew mcp is not available on Windows (run it in WSL, or call the commands)"});
    });
}

}  // namespace sinew::cli
