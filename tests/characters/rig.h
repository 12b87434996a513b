#pragma once

#include <map>
#include <string>

#include "implicit.h"
#include "sinew/skeleton.h"

namespace sinew::test {

/// Joints by name while a skeleton grows.
class Rig {
public:
    explicit Rig(Skeleton& skeleton) : skeleton_(skeleton) {
        for (std::size_t i = 0; i < skeleton.joints.size(); ++i)
            index_[skeleton.joints[i].name] = static_cast<std::uint32_t>(i);
    }

    std::uint32_t add(const std::string& name, const std::string& parent, P3 position) {
        const auto index = static_cast<std::uint32_t>(skeleton_.joints.size());
        Joint joint;
        joint.name = name;
        joint.parent = parent.empty() ? -1 : static_cast<int>(index_.at(parent));
        joint.position = to_vec3(position);
        skeleton_.joints.push_back(std::move(joint));
        index_[name] = index;
        return index;
    }

private:
    Skeleton& skeleton_;
    std::map<std::string, std::uint32_t> index_;
};

}  // namespace sinew::test
