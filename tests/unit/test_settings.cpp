// Options of bind by name, and those parts of the C interface that are easier to test from C++.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "handles.h"
#include "sinew.h"
#include "sinew/bind.h"
#include "sinew/io.h"
#include "weights/law_table.h"

namespace sinew::test_settings {
namespace {

using json = nlohmann::json;

TEST(Settings, EveryOptionRoundTrips) {
    std::set<std::string_view> names;
    for (const MethodInfo& m : methods()) {
        const BindOptions usual = preset(m.method);
        for (const BindSetting& s : bind_settings()) {
            names.insert(s.name);
            BindOptions read = usual;
            const std::string text = option_text(usual, s.name);
            ASSERT_FALSE(text.empty()) << s.name;
            ASSERT_TRUE(set_option(read, s.name, text).ok()) << s.name << " " << text;
            for (const BindSetting& other : bind_settings())
                EXPECT_EQ(option_text(read, other.name), option_text(usual, other.name))
                    << s.name << " " << other.name;
        }
    }
    EXPECT_EQ(names.size(), bind_settings().size());
    EXPECT_EQ(bind_settings()[0].name, "method");
}

TEST(Settings, EveryChoiceIsAccepted) {
    for (const BindSetting& s : bind_settings()) {
        if (s.kind != BindSetting::Kind::choice && s.kind != BindSetting::Kind::flag) continue;
        std::set<std::string> seen;
        std::istringstream words{std::string(s.choices)};
        for (std::string word; words >> word;) {
            BindOptions o;
            ASSERT_TRUE(set_option(o, s.name, word).ok()) << s.name << " " << word;
            EXPECT_EQ(option_text(o, s.name), word);
            if (s.name == "falloff-law") {
                EXPECT_EQ(to_string(o.falloff.law), word);
            }
            if (s.name == "method") {
                EXPECT_EQ(to_string(o.method), word);
            }
            seen.insert(word);
        }
        EXPECT_GE(seen.size(), 2u) << s.name;
    }
}

TEST(Settings, WordsReachTheirFields) {
    BindOptions o;
    ASSERT_TRUE(set_option(o, "method", "voxel-heat").ok());
    EXPECT_EQ(o.method, Method::voxel_heat);
    EXPECT_EQ(o.falloff.law, FalloffLaw::power);
    ASSERT_TRUE(set_option(o, "falloff-law", "exponential").ok());
    EXPECT_EQ(o.falloff.law, FalloffLaw::exponential);
    ASSERT_TRUE(set_option(o, "neighbours", "4").ok());
    EXPECT_EQ(o.neighbours, Neighbours::faces);
    ASSERT_TRUE(set_option(o, "max-influences", "all").ok());
    EXPECT_EQ(o.finish.max_influences, all_influences);
    EXPECT_EQ(option_text(o, "max-influences"), "all");
    ASSERT_TRUE(set_option(o, "hard-range", "0.25 1").ok());
    EXPECT_EQ(o.hard_range[0], 0.25f);
    EXPECT_EQ(option_text(o, "hard-range"), "0.25 1");
    ASSERT_TRUE(set_option(o, "winding-numbers", "off").ok());
    EXPECT_FALSE(o.voxels.winding_numbers);
}

TEST(Settings, ErrorsNameTheValueAndChangeNothing) {
    for (const auto& [name, value, words] : std::vector<std::array<std::string, 3>>{
             {"falloff", "soft", "`falloff soft`: a number is needed"},
             {"falloff", "0.1x", "`falloff 0.1x`: a number"},
             {"falloff", "", "a number is needed"},
             {"resolution", "64.5", "whole number"},
             {"max-influences", "0", "from 1, or 'all'"},
             {"falloff-law", "cubic", "choose inverse-power, .*hermite, linear or power"},
             {"hard-range", "0.2", "two numbers"},
             {"all-pairs", "yes", "choose on or off"},
             {"method", "magic", "choose surface-heat, "},
             {"colour", "red", "there is no option 'colour'"}}) {
        BindOptions o;
        const Status done = set_option(o, name, value);
        ASSERT_FALSE(done.ok()) << name;
        EXPECT_EQ(done.error().code, ErrorCode::usage);
        const std::string start = words.substr(0, words.find(".*"));
        EXPECT_NE(done.error().message.find(start), std::string::npos) << done.error().message;
        for (const BindSetting& s : bind_settings()) EXPECT_EQ(option_text(o, s.name), option_text({}, s.name));
    }
}

TEST(Settings, UnreadOptionsAreRefusedAndReadersNamed) {
    BindOptions heat = preset(Method::bone_heat);
    EXPECT_TRUE(check_read(heat, "heat-transfer").ok());
    EXPECT_TRUE(check_read(heat, "max-influences").ok());
    for (const auto& [name, words] : std::vector<std::pair<std::string, std::string>>{
             {"cooling", "method bone-heat does not read `cooling`: leave it out, or choose voxel-heat"},
             {"penalty", "does not read `penalty`: leave it out, or choose surface-heat or geodesic-voxel"},
             {"smoothness", "falloff law power does not read `smoothness`: leave it out, or choose exponential"},
             {"colour", "there is no option 'colour'"}}) {
        const Status read = check_read(heat, name);
        ASSERT_FALSE(read.ok()) << name;
        EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
    }
    // Every option is read by some method under some law, and no preset sets one that its method does not read.
    for (const BindSetting& s : bind_settings()) {
        bool read = false;
        for (const MethodInfo& m : methods())
            for (const LawTableRow& law : kLaws) read |= s.read_by(m.method) && s.read_by(law.law);
        EXPECT_TRUE(read) << s.name;
        for (const MethodInfo& m : methods())
            if (s.name != "method" && option_text(preset(m.method), s.name) != option_text({}, s.name)) {
                EXPECT_TRUE(check_read(preset(m.method), s.name).ok()) << m.name << " " << s.name;
            }
    }
}

TEST(Settings, RangesAreChecked) {
    for (const auto& [method, name, value, words] : std::vector<std::array<std::string, 4>>{
             {"geodesic-voxel", "overshoot", "101", "`overshoot 101` is not within 0..100"},
             {"geodesic-voxel", "overshoot", "nan", "overshoot"},
             {"voxel-heat", "cooling", "0.5", "`cooling` must lie within [1, 100000]"},
             {"voxel-heat", "iterations", "-1", "`iterations -1` is not within 0..1"},
             {"bone-heat", "heat-transfer", "0", "`heat-transfer 0` must be above 0 and at most 1000000"}}) {
        BindOptions o;
        ASSERT_TRUE(set_option(o, "method", method).ok());
        if (!set_option(o, name, value).ok()) continue;  // not a number
        const Status held = check(o);
        ASSERT_FALSE(held.ok()) << name;
        EXPECT_NE(held.error().message.find(words), std::string::npos) << held.error().message;
    }
}

// ---- sinew.h

template <typename T, void (*Free)(T*)>
struct Handle {
    T* at = nullptr;
    ~Handle() { Free(at); }
    operator T*() const { return at; }
    T** out() { return &at; }
};
using Bytes = Handle<snw_bytes, snw_bytes_free>;
using Model = Handle<snw_model, snw_model_free>;
using Settings_ = Handle<snw_settings, snw_settings_free>;
using Binding_ = Handle<snw_binding, snw_binding_free>;
using Weights = Handle<snw_weights, snw_weights_free>;

std::string_view text(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(snw_bytes_data(bytes)), snw_bytes_size(bytes)};
}

const char kBar[] =
    "v 0 0 0\nv 0.2 0 0\nv 0.2 0 0.2\nv 0 0 0.2\nv 0 1 0\nv 0.2 1 0\nv 0.2 1 0.2\nv 0 1 0.2\n"
    "f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n";
const char kBones[] =
    R"({"bones":[{"name":"a","head":[0.1,0.1,0.1]},{"name":"b","parent":"a","head":[0.1,0.6,0.1],"tail":[0.1,0.9,0.1]}]})";

void open(Model& model) {
    ASSERT_EQ(snw_model_open(kBar, sizeof kBar - 1, "bar.obj", nullptr, kBones, sizeof kBones - 1, "bar.json",
                             model.out()),
              SNW_OK)
        << snw_error();
}

TEST(Capi, DescribesTheModel) {
    Model model;
    open(model);
    Bytes said;
    ASSERT_EQ(snw_model_json(model, nullptr, nullptr, said.out()), SNW_OK) << snw_error();
    const json j = json::parse(text(said));
    EXPECT_EQ(j["counts"]["vertices"], 8);
    EXPECT_EQ(j["counts"]["parts"], 1);
    EXPECT_EQ(j["defects"]["holes"], 0);
    EXPECT_EQ(j["joints"][1]["name"], "b");
    EXPECT_EQ(j["joints"][1]["parent"], 0);
    EXPECT_EQ(j["joints"][1]["deforms"], true);
    EXPECT_EQ(j["bones"].size(), 2u);
    EXPECT_EQ(j["primitives"][0]["triangle_count"], 12);
    EXPECT_EQ(j["weights"], false);
    EXPECT_EQ(j["clips"].size(), 0u);

    snw_context* context = nullptr;
    ASSERT_EQ(snw_context_new(&context), SNW_OK);
    snw_cancel(context);
    Bytes none;
    EXPECT_EQ(snw_model_json(model, nullptr, context, none.out()), SNW_CANCELLED);
    EXPECT_EQ(snw_bytes_size(none), 0u);
    snw_context_free(context);
}

TEST(Capi, SettingsAreTheOnesOfTheCommandLine) {
    Bytes list;
    ASSERT_EQ(snw_settings_json(list.out()), SNW_OK);
    const json all = json::parse(text(list));
    Settings_ settings;
    ASSERT_EQ(snw_settings_new(settings.out()), SNW_OK);
    for (const json& entry : all) {
        Bytes value;
        ASSERT_EQ(snw_settings_get(settings, entry["name"].get<std::string>().c_str(), value.out()), SNW_OK);
        EXPECT_EQ(text(value), entry["value"]) << entry["name"];
    }
    EXPECT_EQ(all[0]["methods"]["geodesic-voxel"]["presets"]["falloff-law"], "inverse-power");
    for (const auto& [name, value] : {std::pair{"method", "closest-distance"},
                                      {"max-influences", "2"},
                                      {"exclude", "ik *"},
                                      {"include", "it's"},
                                      {"weight-format", "u8"}})
        ASSERT_EQ(snw_settings_set(settings, name, value), SNW_OK) << snw_error();
    Bytes command;
    ASSERT_EQ(snw_settings_command(settings, command.out()), SNW_OK);
    EXPECT_EQ(
        text(command),
        "--method closest-distance --max-influences 2 --exclude 'ik *' --include 'it'\\''s' --weight-format u8");
    for (const json& entry : all)
        if (entry["name"] == "as-published") {
            EXPECT_EQ(entry["sets"]["overshoot"], "0");
            EXPECT_EQ(entry["sets"]["limit-rule"], "cut");
            for (const auto& [name, value] : entry["sets"].items())
                EXPECT_EQ(snw_settings_set(settings, name.c_str(), value.get<std::string>().c_str()), SNW_OK)
                    << name;
        } else {
            EXPECT_FALSE(entry.contains("sets")) << entry["name"];
        }
    Settings_ published;
    ASSERT_EQ(snw_settings_new(published.out()), SNW_OK);
    for (const auto& [name, value] :
         {std::pair{"method", "geodesic-voxel"}, {"as-published", "on"}, {"resolution", "64"}})
        ASSERT_EQ(snw_settings_set(published, name, value), SNW_OK) << snw_error();
    Bytes short_command;
    ASSERT_EQ(snw_settings_command(published, short_command.out()), SNW_OK);
    EXPECT_EQ(text(short_command), "--method geodesic-voxel --as-published --resolution 64");
    EXPECT_EQ(snw_settings_set(settings, "deform-from", "guess"), SNW_USAGE);
    EXPECT_STREQ(snw_error(), "deform-from guess: choose auto, skin, names or all");
}

TEST(Capi, AnOptionThatTheMethodDoesNotReadIsRefused) {
    Model model;
    open(model);
    Settings_ settings;
    ASSERT_EQ(snw_settings_new(settings.out()), SNW_OK);
    ASSERT_EQ(snw_settings_set(settings, "method", "bone-heat"), SNW_OK);
    ASSERT_EQ(snw_settings_set(settings, "cooling", "100"), SNW_OK) << "the method may be set later";
    Binding_ binding;
    EXPECT_EQ(snw_bind(model, settings, nullptr, binding.out()), SNW_USAGE);
    EXPECT_NE(std::string(snw_error()).find("bone-heat does not read `cooling`"), std::string::npos);
    Bytes list;
    ASSERT_EQ(snw_settings_json(list.out()), SNW_OK);
    for (const json& entry : json::parse(text(list))) {
        if (entry["name"] == "cooling") {
            EXPECT_EQ(entry["read_by_methods"], json::array({"voxel-heat"}));
        }
        if (entry["name"] == "smoothness") {
            EXPECT_EQ(entry["read_by_laws"], json::array({"exponential"}));
        }
        if (entry["name"] == "max-influences") {
            EXPECT_FALSE(entry.contains("read_by_methods"));
        }
    }
}

TEST(Capi, FalloffAndEditsComeWithoutAnotherBind) {
    Model model;
    open(model);
    Settings_ settings;
    ASSERT_EQ(snw_settings_new(settings.out()), SNW_OK);
    ASSERT_EQ(snw_settings_set(settings, "method", "bone-heat"), SNW_OK);
    Binding_ binding;
    ASSERT_EQ(snw_bind(model, settings, nullptr, binding.out()), SNW_OK) << snw_error();
    const auto share_of_b = [&](const char* edits, snw_bytes** report = nullptr) {
        Weights weights;
        const size_t size = edits ? strlen(edits) : 0;
        if (snw_weights_of(binding, model, settings, edits, size, nullptr, report, weights.out()) != SNW_OK) {
            ADD_FAILURE() << snw_error();
            return 0.f;
        }
        float shares[8];
        snw_weights_joint(weights, 1, shares);
        return shares[4];  // an upper corner: b's, but not wholly
    };
    const float soft = share_of_b(nullptr);
    ASSERT_EQ(snw_settings_set(settings, "falloff", "0.9"), SNW_OK);
    const float hard = share_of_b(nullptr);
    EXPECT_GT(hard, soft);
    EXPECT_LT(soft, 1);
    ASSERT_EQ(snw_settings_set(settings, "falloff", "0.1"), SNW_OK);
    EXPECT_EQ(share_of_b(nullptr), soft);
    EXPECT_EQ(share_of_b(R"({"sinew":"edits","falloff":[{"value":0.9,"joints":["a","b"]}]})"), hard);
    Bytes report;
    EXPECT_EQ(share_of_b(R"({"sinew":"edits","edits":[{"op":"set","joint":"a","value":0.75}]})", report.out()),
              0.25f);
    // If b has all the weight, no other joint could take the rest.
    EXPECT_EQ(text(report).substr(0, 14), "edit 1 (set): ");

    // In a pose: falloffs by angle have their values there. The joints of the model are turned by 90 degrees.
    const char angles[] = R"({"falloff":[{"angles":[[0,0.1],[90,0.9]],"joints":["a","b"]}]})";
    EXPECT_EQ(share_of_b(angles), soft);
    const double turned[] = {0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, /* b: */ -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0};
    const auto share_in_pose = [&](const double* matrices) {
        Weights weights;
        EXPECT_EQ(snw_weights_in_pose(binding, model, settings, angles, sizeof angles - 1, matrices, nullptr,
                                      nullptr, weights.out()),
                  SNW_OK)
            << snw_error();
        float shares[8];
        snw_weights_joint(weights, 1, shares);
        return shares[4];
    };
    EXPECT_EQ(share_in_pose(turned), hard);
    EXPECT_EQ(share_in_pose(nullptr), soft);
    // The last list is kept, with its selections, until another comes.
    const auto* const list_of_angles = model.at->edits.get();
    EXPECT_EQ(share_in_pose(turned), hard);
    EXPECT_EQ(model.at->edits.get(), list_of_angles);
    EXPECT_EQ(share_of_b(R"({"falloff":[{"value":0.9,"joints":["a","b"]}]})"), hard);
    EXPECT_NE(model.at->edits.get(), list_of_angles);

    Weights none;
    const char lock[] = R"({"sinew":"edits","lock":{"joints":["a"]}})";
    EXPECT_EQ(snw_weights_of(binding, model, settings, lock, sizeof lock - 1, nullptr, nullptr, none.out()),
              SNW_USAGE);
    EXPECT_NE(std::string(snw_error()).find("nothing to lock"), std::string::npos);
    EXPECT_EQ(snw_weights_of(binding, model, settings, "{", 1, nullptr, nullptr, none.out()), SNW_INPUT);
    EXPECT_EQ(none.at, nullptr);
}

TEST(Capi, BadBytesAreErrors) {
    for (const std::string& bytes : {std::string(), std::string("glTF"), std::string("{}"), std::string("v 1 2"),
                                     std::string("glTF\2\0\0\0\xff\xff\xff\xff", 12)}) {
        Model model;
        EXPECT_EQ(snw_model_open(bytes.data(), bytes.size(), "hero.glb", nullptr, nullptr, 0, nullptr, model.out()),
                  SNW_INPUT);
        EXPECT_EQ(model.at, nullptr);
        EXPECT_EQ(std::string(snw_error()).substr(0, 9), "hero.glb:");
    }
    Model model;
    EXPECT_EQ(snw_model_open(kBar, sizeof kBar - 1, "bar.obj", nullptr, "{", 1, "bones.json", model.out()),
              SNW_INPUT);
    EXPECT_EQ(std::string(snw_error()).substr(0, 10), "bones.json");
}

TEST(Capi, StandardPosesAndClips) {
    Model model;
    open(model);
    Bytes poses;
    ASSERT_EQ(snw_standard_poses(model, poses.out()), SNW_OK) << snw_error();
    const json list = json::parse(text(poses));
    EXPECT_FALSE(list.empty());
    for (const json& pose : list) EXPECT_EQ(pose["pose"].size(), 20u);
    double matrices[24];
    EXPECT_EQ(snw_clip_matrices(model, 0, 0, matrices), SNW_USAGE);
    const double flat[20] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1};
    EXPECT_NE(snw_pose_matrices(model, flat, matrices), SNW_OK) << "a rotation of length zero";
}

}  // namespace
}  // namespace sinew::test_settings
