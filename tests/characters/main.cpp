// sinew_characters: writes a generated character as GLB, with a skeleton and without a skin.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "defects.h"
#include "glb_out.h"
#include "shapes.h"

namespace {

using namespace sinew::test;

constexpr const char* usage =
    "usage: sinew_characters NAME OUT.glb [--defect DEFECT] [--parts N] [--non-indexed]\n"
    "       sinew_characters --list        every NAME, one a line: CHARACTER or CHARACTER+DEFECT\n"
    "       sinew_characters --all FOLDER  FOLDER/NAME.glb for every NAME, in less time than one by one\n"
    "  --parts N       N primitives that share no vertex\n"
    "  --non-indexed   three vertices for every triangle\n"
    "SINEW_COARSE=2: cells of biped and quadruped are twice as large, for programs that sanitizers slow down\n";

Character make(const std::string& name) {
    if (name == "bar") return bar();
    if (name == "u_tube") return u_tube();
    if (name == "l_corner") return l_corner();
    if (name == "strip") return strip();
    const char* const coarse = std::getenv("SINEW_COARSE");
    return make_character(name, coarse ? std::strtod(coarse, nullptr) : 1);
}

/// Every character, with every defect that applies to it.
std::vector<std::pair<std::string, const Defect*>> names() {
    std::vector<std::pair<std::string, const Defect*>> out;
    for (const char* shape : {"bar", "u_tube", "l_corner", "strip"}) out.emplace_back(shape, nullptr);
    for (const std::string& name : character_names()) {
        out.emplace_back(name, nullptr);
        // Defects are applied to only one biped; both have the same surface.
        if (name == "biped_controls") continue;
        for (const Defect& defect : defects()) out.emplace_back(name + '+' + defect.name, &defect);
    }
    return out;
}

void list() {
    for (const auto& [name, defect] : names()) {
        std::cout << name;
        if (defect) std::cout << "  " << defect->description;
        if (defect && *defect->error) std::cout << " (must be refused: \"" << defect->error << "\")";
        std::cout << '\n';
    }
}

int write(const std::string& out, const Character& character, const GlbOptions& options) {
    const std::vector<std::byte> bytes = to_glb(character, options);
    std::ofstream file(out, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
        std::cerr << "sinew_characters: cannot write " << out << ": " << std::strerror(errno) << '\n';
        return 3;
    }
    return 0;
}

int write_all(const std::string& folder) {
    for (const auto& [name, defect] : names()) {
        const Character character = make(name.substr(0, name.find('+')));
        const int rc = write(folder + '/' + name + ".glb", defect ? defect->apply(character) : character, {});
        if (rc != 0) return rc;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::string name, out, defect_name;
    GlbOptions options;
    std::size_t parts = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--list") {
            list();
            return 0;
        }
        if (argument == "--all" && i + 1 < argc) return write_all(argv[i + 1]);
        if (argument == "--defect" && i + 1 < argc)
            defect_name = argv[++i];
        else if (argument == "--parts" && i + 1 < argc)
            parts = std::strtoul(argv[++i], nullptr, 10);
        else if (argument == "--non-indexed")
            options.indexed = false;
        else if (name.empty() && !argument.starts_with("--"))
            name = argument;
        else if (out.empty() && !argument.starts_with("--"))
            out = argument;
        else {
            std::cerr << usage;
            return 2;
        }
    }
    if (out.empty() || parts < 1) {
        std::cerr << usage;
        return 2;
    }
    if (const auto plus = name.find('+'); plus != name.npos && defect_name.empty()) {
        defect_name = name.substr(plus + 1);
        name.resize(plus);
    }
    Character character = make(name);
    if (character.name.empty()) {
        std::cerr << "sinew_characters: there is no character '" << name << "'; --list names them\n";
        return 2;
    }
    if (!defect_name.empty()) {
        const Defect* const defect = find_defect(defect_name);
        if (!defect) {
            std::cerr << "sinew_characters: there is no defect '" << defect_name << "'; --list names them\n";
            return 2;
        }
        character = defect->apply(character);
    }
    if (parts > 1)
        options.primitive = [&](std::size_t t) { return std::uint32_t(t * parts / character.triangles.size()); };
    return write(out, character, options);
}
