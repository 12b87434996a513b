#include "report/questions_report.h"

#include "report/report.h"

namespace sinew {

OrderedJson questions_json(const io::Scene& scene, std::span<const Question> questions) {
    const auto point = [](const Vec3& p) {
        return OrderedJson::array({as_given(p.x), as_given(p.y), as_given(p.z)});
    };
    OrderedJson list = OrderedJson::array();
    for (const Question& q : questions) {
        OrderedJson joints = OrderedJson::array(), line = joints;
        for (const std::uint32_t j : q.joints) joints.push_back(scene.skeleton.joints[j].name);
        for (const Vec3& p : q.line) line.push_back(point(p));
        list.push_back({{"kind", name_of(q.kind)},
                        {"text", text_of(q, scene.skeleton)},
                        {"vertex", q.vertex},
                        {"point", point(scene.positions[q.vertex])},
                        {"joints", std::move(joints)},
                        {"share", as_given(static_cast<float>(q.share))}});
        if (q.kind == Question::Kind::border) list.back()["line"] = std::move(line);
    }
    return {{"sinew", "questions"}, {"questions", std::move(list)}};
}

}  // namespace sinew
