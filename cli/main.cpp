// sinew: the command line. Each subcommand is one file beside this one; none contains an algorithm.

#include <fmt/core.h>

#include <exception>

#include "command.h"

int main(int argc, char** argv) {
    using namespace sinew::cli;
    CLI::App app{
        "sinew binds skin to bones: skin weights for the meshes that production really has.\n\n"
        "  sinew bind hero.glb -o hero.skinned.glb\n"
        "  sinew bind statue.obj --skeleton statue.json -o statue.glb\n\n"
        "Exit codes: 0 done, 1 done but a quality gate failed, 2 bad usage, 3 bad input, 4 internal error."};
    app.name("sinew");
    app.set_version_flag("--version", "sinew " SINEW_VERSION);
    app.require_subcommand(1);
    int exit = done;
    add_bind(app, exit);
    add_apply(app, exit);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Help and version are 'errors' of code 0 to CLI11.
        return app.exit(error) == 0 ? done : bad_usage;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "sinew: error: out of memory (a lower --resolution needs less)\n");
        return bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "sinew: internal error: {}\n", error.what());
        return internal_error;
    }
    return exit;
}
