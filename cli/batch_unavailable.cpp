// Replaces batch.cpp, which starts processes as POSIX systems do, on Windows.
#include "command.h"

namespace sinew::cli {

void add_batch(CLI::App& app, int& exit, const std::vector<std::string>&) {
    CLI::App* c = app.add_subcommand("batch", "Binds many characters; not available on Windows");
    c->allow_extras();
    c->callback([&exit] {
        exit = fail({ErrorCode::usage,
                     "sinew batch is not available on Windows (call sinew bind for each character, or use Linux)"});
    });
}

}  // namespace sinew::cli
