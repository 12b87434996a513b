// A host that has set a locale with a decimal comma (Qt and GTK programs, Maya, R): every text and every file is
// the same.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "gltf_maker.h"
#include "render/layout.h"
#include "sinew.h"
#include "sinew/io.h"
#include "sinew/transfer.h"
#include "support.h"

namespace sinew::test_locale {
namespace {

using test::Character;
using test::must;

/// Numbers of this process have a comma, until the end of the scope. A locale needs no package of Debian but
/// libc-bin.
class DecimalComma {
public:
    explicit DecimalComma(const test::TemporaryFolder& folder) {
        std::ofstream charmap(folder / "charmap");
        charmap << "<code_set_name> ASCII\n<escape_char> /\n<mb_cur_max> 1\nCHARMAP\n";
        const char* digits = "0123456789abcdef";
        for (int c = 0; c < 128; ++c)
            charmap << "<U00" << digits[c / 16] << digits[c % 16] << "> /x" << digits[c / 16] << digits[c % 16]
                    << " C\n";
        charmap << "END CHARMAP\n";
        charmap.close();
        test::write_text(
            folder / "source",
            "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n");
        const std::string at = folder.path().string();
        const std::string command = "localedef -c --quiet --no-archive -f " + at + "/charmap -i " + at +
                                    "/source " + at + "/comma >/dev/null 2>&1";
        [[maybe_unused]] const int warned = std::system(command.c_str());
        ::setenv("LOCPATH", at.c_str(), 1);
        set_ = std::setlocale(LC_NUMERIC, "comma") != nullptr;
    }
    ~DecimalComma() {
        std::setlocale(LC_NUMERIC, "C");
        ::unsetenv("LOCPATH");
    }
    bool set() const { return set_; }

private:
    bool set_ = false;
};

template <typename T, typename Call>
std::unique_ptr<T, void (*)(T*)> made(void (*free)(T*), Call&& call) {
    T* out = nullptr;
    EXPECT_EQ(call(&out), SNW_OK) << snw_error();
    return {out, free};
}
template <typename Call>
std::string text(Call&& call) {
    const auto bytes = made<snw_bytes>(snw_bytes_free, call);
    return {reinterpret_cast<const char*>(snw_bytes_data(bytes.get())), snw_bytes_size(bytes.get())};
}

std::string obj_of(const Character& c) {
    std::string out;
    for (const Vec3& p : c.positions)
        out += "v " + std::to_string(p.x) + " " + std::to_string(p.y) + " " + std::to_string(p.z) + "\n";
    for (const Triangle& t : c.triangles) {
        out += "f";
        for (const std::uint32_t corner : t) out += " " + std::to_string(corner + 1);
        out += "\n";
    }
    return out;
}
std::string skeleton_of(const Character& c) {
    nlohmann::json joints = nlohmann::json::array();
    for (const Joint& j : c.skeleton.joints)
        joints.push_back({{"name", j.name},
                          {"parent", j.parent},
                          {"head", {j.position.x, j.position.y, j.position.z}},
                          {"tail", {j.position.x, j.position.y + 0.05f, j.position.z}}});
    return nlohmann::json{{"bones", joints}}.dump();
}

/// What calls return, by a name.
std::map<std::string, std::string> results(const Character& c, const std::string& obj,
                                           const std::string& skeleton) {
    std::map<std::string, std::string> out;
    const auto model = made<snw_model>(snw_model_free, [&](auto o) {
        return snw_model_open(obj.data(), obj.size(), "dog.obj", nullptr, skeleton.data(), skeleton.size(),
                              "dog.json", o);
    });
    const auto settings = made<snw_settings>(snw_settings_free, snw_settings_new);
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"method", "geodesic-voxel"}, {"resolution", "64"}, {"falloff", "0.35"}, {"penalty", "2.5"}})
        EXPECT_EQ(snw_settings_set(settings.get(), name, value), SNW_OK) << snw_error();
    const auto binding = made<snw_binding>(
        snw_binding_free, [&](auto o) { return snw_bind(model.get(), settings.get(), nullptr, o); });
    const auto weights = made<snw_weights>(snw_weights_free, [&](auto o) {
        return snw_weights_of(binding.get(), model.get(), settings.get(), nullptr, 0, nullptr, nullptr, o);
    });
    out["model"] = text([&](auto o) { return snw_model_json(model.get(), settings.get(), nullptr, o); });
    auto report = nlohmann::json::parse(
        text([&](auto o) { return snw_binding_report(binding.get(), model.get(), settings.get(), o); }));
    out["options"] = report.at("options").dump();
    out["warnings"] = report.at("warnings").dump();
    out["glb"] = text([&](auto o) { return snw_save_glb(model.get(), weights.get(), settings.get(), nullptr, o); });
    out["json"] = text([&](auto o) { return snw_save_json(model.get(), weights.get(), o); });
    out["command"] = text([&](auto o) { return snw_settings_command(settings.get(), o); });
    snw_check_options checks{};
    checks.size = sizeof checks;
    checks.thresholds = "{\"stretch\": 1.5, \"bleed\": 0.25}";
    out["check"] = text([&](auto o) { return snw_check_json(model.get(), weights.get(), &checks, nullptr, o); });
    out["compare"] = text([&](auto o) {
        return snw_compare_gates_json(model.get(), weights.get(), weights.get(), "{\"max-l1\": 0.01}", nullptr, o);
    });
    const std::string edits = "{\"edits\": [{\"op\": \"smooth\", \"length\": 0.125}]}";
    out["edited"] = text([&](auto o) {
        const auto edited = made<snw_weights>(snw_weights_free, [&](auto w) {
            return snw_weights_edit(model.get(), weights.get(), edits.data(), edits.size(), nullptr, nullptr, w);
        });
        return snw_save_json(model.get(), edited.get(), o);
    });

    // Half of the mesh moved away: the transfer says how little matches.
    Character far = c;
    for (std::size_t v = 0; v < far.positions.size(); ++v) far.positions[v].x += v % 3 ? 2.5f : 0;
    const io::Scene scene = must(io::load_bytes(test::as_bytes(out["glb"]), "dog.glb"));
    for (const std::string& w : must(transfer(c.mesh(), *scene.weights, far.mesh())).warnings) out["transfer"] += w;
    out["legend"] = short_number(0.25, 0.05) + " " + short_number(1.5e-7, 1e-8);

    // Refused values.
    const auto refusal = [&](const char* name, const Status& status) { out[name] = status.error().message; };
    BindOptions options;
    options.hard_range = {0.75f, 0.25f};
    refusal("hard-range", check(options));
    FinishOptions prune;
    prune.prune = 0.75f;
    refusal("prune", check(prune));
    FalloffOptions falloff;
    falloff.alpha = -1.5f;
    refusal("falloff", check(falloff));
    TransferOptions angle;
    angle.angle = 200.5f;
    refusal("angle", check(angle));
    const std::string wrong = "{\"edits\": [{\"op\": \"set\", \"joint\": \"spine\", \"value\": 1.5}]}";
    snw_weights* none = nullptr;
    EXPECT_NE(snw_weights_edit(model.get(), weights.get(), wrong.data(), wrong.size(), nullptr, nullptr, &none),
              SNW_OK);
    out["edit"] = snw_error();
    return out;
}

TEST(Locale, ACommaChangesNothing) {
    const test::TemporaryFolder folder;
    const Character c = test::quadruped(0.05);
    const std::string obj = obj_of(c), skeleton = skeleton_of(c);
    const auto point = results(c, obj, skeleton);
    EXPECT_NE(point.at("options").find("0.35"), std::string::npos);
    const DecimalComma comma(folder);
    if (!comma.set()) GTEST_SKIP() << "there is no localedef to make a locale with a decimal comma";
    ASSERT_EQ(std::to_string(0.5), "0,500000");
    for (const auto& [name, value] : results(c, obj, skeleton))
        EXPECT_TRUE(value == point.at(name)) << name << ":\n"
                                             << value.substr(0, 2000) << "\n"
                                             << point.at(name).substr(0, 2000);
}

}  // namespace
}  // namespace sinew::test_locale
