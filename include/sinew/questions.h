// sinew/questions.h: where an answer about weights is likely worth most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// A question to the user. An edit answers it: pin at the vertex for any kind, assign for a part, border for a
/// border (sinew/edits.h).
struct Question {
    enum class Kind {
        part,    ///< who owns this loose part?
        border,  ///< where does the first joint end and the second begin?
        place    ///< is this the first joint's?
    };
    Kind kind = Kind::place;
    std::uint32_t vertex = 0;           ///< where to look, and to answer
    std::vector<std::uint32_t> joints;  ///< candidates, the likely one first; border: two
    double share = 0;                   ///< of the area: what an answer would change, 0..1
    /// border: points where both joints are equal, within reach of the vertex, bind space.
    std::vector<Vec3> line;
};
/// "part", "border" or "place".
const char* name_of(Question::Kind kind);
/// The question in words: "Who owns the part at …: Head or Neck?".
std::string text_of(const Question& question, const Skeleton& skeleton);

/// At most `top` questions. Each is asked where those before it cover least of the surroundings, which reach about
/// 6 % of √area on both sides of the skeleton's mirror plane, if it has one: loose parts first, then places far
/// from each other. Places count by their vertices: meshes are finer where more has to be decided. Counting area,
/// or how unsure the weights look, made the choice worse, measured with a simulated artist (docs/evaluation.md). An
/// error (input) if the weights are not for the mesh. Time: the factorisation of a matrix of the surface, and three
/// solutions a question; the same bits on any number of threads.
Result<std::vector<Question>> questions(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                                        std::size_t top, Context* context = nullptr);

}  // namespace sinew
