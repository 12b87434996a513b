#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/try.h"
#include "core/vectors.h"
#include "io/fbx_make.h"
#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_nodes.h"

namespace sinew::io {

namespace {

/// An attribute of vertices in all primitives of a mesh, one after the other.
struct VertexValues {
    std::vector<float> values;
    std::size_t width = 0;
};

class FbxMeshMaker {
public:
    FbxMeshMaker(FbxMaking& making, std::size_t mesh, std::size_t joints)
        : making_(making), mesh_(making.document.mesh(mesh)), accessors_(making.document), joints_(joints) {
        name_ = name_of(mesh_, "mesh", mesh);
    }

    Result<FbxMadeMesh> make(const std::vector<double>& shape_weights) {
        SINEW_TRY(read_primitives());
        find_points();
        write_geometry();
        write_shapes(shape_weights);
        if (joints_ > 0) sort_weights();
        return std::move(out_);
    }

private:
    std::string place(std::size_t primitive, const std::string& what) const {
        return "mesh " + in_quotes(name_) + " primitive " + std::to_string(primitive) + ": " + what;
    }

    Status read_primitives() {
        const Json& list = mesh_["primitives"];
        std::size_t others = 0;
        for (std::size_t p = 0; p < list.size(); ++p) {
            const Json& primitive = list[p];
            const std::size_t mode = whole_or(primitive, "mode", 4).value_or(4);
            if (mode < 4 || mode > 6) {
                ++others;
                continue;
            }
            const std::size_t first = vertices_;
            SINEW_TRY(read_attributes(primitive, p));
            std::vector<std::uint32_t> corners(vertices_ - first);
            for (std::size_t v = 0; v < corners.size(); ++v) corners[v] = static_cast<std::uint32_t>(v);
            if (const auto indices = whole(member(primitive, "indices"))) {
                SINEW_TRY_LET(const Elements read, accessors_.read(*indices, place(p, "indices")));
                corners = as_unsigned(read);
            }
            const std::size_t material = whole_or(primitive, "material", none).value_or(none);
            auto slot = std::find(out_.materials.begin(), out_.materials.end(), material);
            if (slot == out_.materials.end()) slot = out_.materials.insert(slot, material);
            const auto number = static_cast<std::int32_t>(slot - out_.materials.begin());
            for (std::size_t t = 0; t < triangle_count(mode, corners.size()); ++t) {
                Triangle triangle{};
                const auto at = triangle_corners(mode, t);
                for (std::size_t k = 0; k < 3; ++k) {
                    if (corners[at[k]] >= vertices_ - first)
                        return making_.document.error(place(p, "an index is past its vertices"));
                    triangle[k] = static_cast<std::uint32_t>(first + corners[at[k]]);
                }
                triangles_.push_back(triangle);
                material_of_triangle_.push_back(number);
            }
        }
        if (others > 0)
            making_.notes.push_back("mesh " + in_quotes(name_) + ": " + std::to_string(others) +
                                    " primitives of points or lines are left out");
        return Done{};
    }

    Status read_attributes(const Json& primitive, std::size_t p) {
        const Json& attributes = primitive["attributes"];
        const std::size_t first = vertices_;
        for (const auto& [key, accessor] : attributes.items()) {
            const std::string& name = key;
            if (name.starts_with("JOINTS_") && joints_ == 0) continue;
            if (name.starts_with("WEIGHTS_") && joints_ == 0) continue;
            SINEW_TRY_LET(const Elements read, accessors_.read(whole(&accessor).value_or(none), place(p, name)));
            if (name == "POSITION") vertices_ = first + read.count;
            if (name.starts_with("JOINTS_")) {
                joint_sets_[name.substr(7)][first] = as_joints(read);
                continue;
            }
            VertexValues& to = values_[name];
            if (to.width == 0) to.width = read.width;
            if (to.width != read.width || to.values.size() != first * to.width)
                continue;  // not all primitives have it
            const std::vector<float> values = as_floats(read, read.component != Component::f32);
            to.values.insert(to.values.end(), values.begin(), values.end());
        }
        if (const Json* targets = member(primitive, "targets"); targets && targets->is_array()) {
            shapes_.resize(std::max(shapes_.size(), targets->size()));
            for (std::size_t t = 0; t < targets->size(); ++t)
                for (const auto& [key, to] :
                     {std::pair("POSITION", &shapes_[t].offsets), std::pair("NORMAL", &shapes_[t].normals)}) {
                    const auto accessor = whole(member((*targets)[t], key));
                    if (!accessor) continue;
                    SINEW_TRY_LET(const Elements read,
                                  accessors_.read(*accessor, place(p, std::string("target ") + key)));
                    const std::vector<float> values = as_floats(read, read.component != Component::f32);
                    to->resize(3 * first);
                    to->insert(to->end(), values.begin(), values.end());
                }
        }
        for (Shape& shape : shapes_) shape.offsets.resize(3 * vertices_);
        return Done{};
    }

    const VertexValues* complete(const std::string& name) const {
        const auto found = values_.find(name);
        if (found == values_.end() || found->second.values.size() != vertices_ * found->second.width)
            return nullptr;
        return &found->second;
    }

    /// The weights of a vertex, by joint of the skin.
    std::map<std::uint32_t, float> row_of(std::size_t vertex) const {
        std::map<std::uint32_t, float> out;
        for (const auto& [set, blocks] : joint_sets_) {
            const auto block = std::prev(blocks.upper_bound(vertex));
            const auto weights = values_.find("WEIGHTS_" + set);
            if (weights == values_.end()) continue;
            for (std::size_t k = 0; k < 4; ++k) {
                const std::size_t at = 4 * (vertex - block->first) + k;
                if (at >= block->second.size() || 4 * vertex + k >= weights->second.values.size()) continue;
                const float weight = weights->second.values[4 * vertex + k];
                if (weight > 0 && block->second[at] < joints_) out[block->second[at]] += weight;
            }
        }
        return out;
    }

    void find_points() {
        const VertexValues& positions = values_["POSITION"];
        std::unordered_map<std::string, std::int32_t> point_of;
        point_of_.resize(vertices_);
        for (std::size_t v = 0; v < vertices_; ++v) {
            std::string key;
            const auto add = [&](const auto& value) {
                key.append(reinterpret_cast<const char*>(&value), sizeof value);
            };
            for (std::size_t k = 0; k < 3; ++k) add(positions.values[3 * v + k]);
            std::map<std::uint32_t, float> row;
            if (joints_ > 0) row = row_of(v);
            for (const auto& [joint, weight] : row) add(joint), add(weight);
            for (const Shape& shape : shapes_)
                for (std::size_t k = 0; k < 3; ++k) add(shape.offsets[3 * v + k]);
            const auto [found, added] =
                point_of.emplace(std::move(key), static_cast<std::int32_t>(vertex_of_.size()));
            point_of_[v] = found->second;
            if (!added) continue;
            vertex_of_.push_back(v);
            if (joints_ > 0) rows_.push_back(std::move(row));
        }
    }

    FbxRecord& layer(FbxRecord& geometry, const char* name, std::int32_t number, const std::string& label,
                     const char* of, const char* how) {
        FbxRecord& out = making_.file.add(geometry, name, {number}, true);
        making_.file.add(out, "Version", {std::int32_t{name == std::string("LayerElementNormal") ? 102 : 101}});
        making_.file.add(out, "Name", {label});
        making_.file.add(out, "MappingInformationType", {std::string(of)});
        making_.file.add(out, "ReferenceInformationType", {std::string(how)});
        layers_.emplace_back(name, number);
        return out;
    }

    /// Values of corners: those of their vertices. `of(vertex)` gives `width` numbers.
    template <typename Of>
    void corner_layer(FbxRecord& geometry, const char* name, std::int32_t number, const std::string& label,
                      const char* values, const char* index, std::size_t width, const Of& of) {
        FbxRecord& out = layer(geometry, name, number, label, "ByPolygonVertex", "IndexToDirect");
        std::vector<double> all;
        all.reserve(vertices_ * width);
        for (std::size_t v = 0; v < vertices_; ++v) {
            const auto numbers = of(v);
            all.insert(all.end(), numbers.begin(), numbers.end());
        }
        making_.file.add(out, values, {std::move(all)});
        std::vector<std::int32_t> corners;
        corners.reserve(3 * triangles_.size());
        for (const Triangle& t : triangles_)
            for (const std::uint32_t v : t) corners.push_back(static_cast<std::int32_t>(v));
        making_.file.add(out, index, {std::move(corners)});
    }

    void write_geometry() {
        FbxBuilder& file = making_.file;
        const FbxBuilder::Object geometry = file.object("Geometry", name_, "Geometry", "Mesh");
        out_.geometry = geometry.id;
        FbxRecord& record = *geometry.record;
        record.records.reserve(32);
        const VertexValues& positions = values_["POSITION"];
        std::vector<double> points;
        for (const std::size_t v : vertex_of_)
            for (std::size_t k = 0; k < 3; ++k)
                points.push_back(double{positions.values[3 * v + k]} * making_.scale);
        std::vector<std::int32_t> polygons;
        for (const Triangle& t : triangles_)
            for (std::size_t k = 0; k < 3; ++k) polygons.push_back(k == 2 ? ~point_of_[t[k]] : point_of_[t[k]]);
        file.add(record, "Vertices", {std::move(points)});
        file.add(record, "PolygonVertexIndex", {std::move(polygons)});
        file.add(record, "GeometryVersion", {std::int32_t{124}});
        const auto three = [](const VertexValues& from, std::size_t v) {
            return std::array<double, 3>{double{from.values[from.width * v]},
                                         double{from.values[from.width * v + 1]},
                                         double{from.values[from.width * v + 2]}};
        };
        const VertexValues* const normals = complete("NORMAL");
        if (normals)
            corner_layer(record, "LayerElementNormal", 0, "", "Normals", "NormalsIndex", 3,
                         [&](std::size_t v) { return three(*normals, v); });
        if (const VertexValues* const tangents = complete("TANGENT"); normals && tangents && tangents->width == 4) {
            corner_layer(record, "LayerElementTangent", 0, "", "Tangents", "TangentsIndex", 3,
                         [&](std::size_t v) { return three(*tangents, v); });
            corner_layer(record, "LayerElementBinormal", 0, "", "Binormals", "BinormalsIndex", 3,
                         [&](std::size_t v) {
                             const auto n = three(*normals, v), t = three(*tangents, v);
                             const Point3 across = cross(Point3{n[0], n[1], n[2]}, Point3{t[0], t[1], t[2]});
                             const double sign = tangents->values[4 * v + 3] < 0 ? -1 : 1;
                             return std::array<double, 3>{sign * across[0], sign * across[1], sign * across[2]};
                         });
        }
        std::int32_t sets = 0;
        for (; sets < 8; ++sets) {
            const VertexValues* const uvs = complete("TEXCOORD_" + std::to_string(sets));
            if (!uvs || uvs->width != 2) break;
            corner_layer(
                record, "LayerElementUV", sets, sets == 0 ? "UVMap" : "UVMap" + std::to_string(sets), "UV",
                "UVIndex", 2, [&](std::size_t v) {
                    return std::array<double, 2>{double{uvs->values[2 * v]}, 1 - double{uvs->values[2 * v + 1]}};
                });
        }
        if (const VertexValues* const colors = complete("COLOR_0"); colors && colors->width >= 3)
            corner_layer(record, "LayerElementColor", 0, "", "Colors", "ColorIndex", 4, [&](std::size_t v) {
                const float* const c = &colors->values[colors->width * v];
                return std::array<double, 4>{double{c[0]}, double{c[1]}, double{c[2]},
                                             colors->width == 4 ? double{c[3]} : 1};
            });
        FbxRecord& material = layer(record, "LayerElementMaterial", 0, "", "ByPolygon", "IndexToDirect");
        file.add(material, "Materials", {material_of_triangle_});
        for (std::int32_t number = 0; number < std::max(sets, std::int32_t{1}); ++number) {
            FbxRecord& list = file.add(record, "Layer", {number}, true);
            file.add(list, "Version", {std::int32_t{100}});
            for (const auto& [name, own] : layers_) {
                if (own != number) continue;
                FbxRecord& element = file.add(list, "LayerElement", {}, true);
                file.add(element, "Type", {name});
                file.add(element, "TypedIndex", {own});
            }
        }
        std::string lost;
        for (const auto& [name, values] : values_)
            if (values.values.size() != vertices_ * values.width && !name.starts_with("_"))
                lost += (lost.empty() ? "" : ", ") + printable(name, 40);
        if (!lost.empty())
            making_.notes.push_back("mesh " + in_quotes(name_) +
                                    ": left out, as not all of its primitives have them: " + lost);
        if (const VertexValues* const dual = complete(dual_quaternion_attribute); dual && dual->width == 1)
            for (const std::size_t v : vertex_of_) out_.dual_quaternion.push_back(double{dual->values[v]});
    }

    void write_shapes(const std::vector<double>& weights) {
        if (shapes_.empty()) return;
        FbxBuilder& file = making_.file;
        const FbxBuilder::Object all = file.object("Deformer", name_, "Deformer", "BlendShape");
        file.add(*all.record, "Version", {std::int32_t{100}});
        file.connect(all.id, out_.geometry);
        const Json* const extras = member(mesh_, "extras");
        const Json* const names = extras ? member(*extras, "targetNames") : nullptr;
        for (std::size_t s = 0; s < shapes_.size(); ++s) {
            const std::string name = names && names->is_array() && s < names->size() && (*names)[s].is_string()
                                         ? (*names)[s].get<std::string>()
                                         : "shape " + std::to_string(s);
            const FbxBuilder::Object channel = file.object("Deformer", name, "SubDeformer", "BlendShapeChannel");
            file.add(*channel.record, "Version", {std::int32_t{100}});
            file.add(*channel.record, "DeformPercent", {s < weights.size() ? 100 * weights[s] : 0.0});
            file.add(*channel.record, "FullWeights", {std::vector<double>{100}});
            const FbxBuilder::Object shape = file.object("Geometry", name, "Geometry", "Shape");
            file.add(*shape.record, "Version", {std::int32_t{100}});
            std::vector<std::int32_t> points;
            std::vector<double> offsets, normals;
            const Shape& from = shapes_[s];
            const bool turns = from.normals.size() == 3 * vertices_;
            for (std::size_t p = 0; p < vertex_of_.size(); ++p) {
                const std::size_t at = 3 * vertex_of_[p];
                bool moves = false;
                for (std::size_t k = 0; k < 3; ++k)
                    moves = moves || from.offsets[at + k] != 0 || (turns && from.normals[at + k] != 0);
                if (!moves) continue;
                points.push_back(static_cast<std::int32_t>(p));
                for (std::size_t k = 0; k < 3; ++k) {
                    offsets.push_back(double{from.offsets[at + k]} * making_.scale);
                    normals.push_back(turns ? double{from.normals[at + k]} : 0);
                }
            }
            file.add(*shape.record, "Indexes", {std::move(points)});
            file.add(*shape.record, "Vertices", {std::move(offsets)});
            file.add(*shape.record, "Normals", {std::move(normals)});
            file.connect(channel.id, all.id);
            file.connect(shape.id, channel.id);
            out_.shapes.push_back(channel.id);
        }
    }

    void sort_weights() {
        out_.weights.resize(joints_);
        for (std::size_t p = 0; p < rows_.size(); ++p)
            for (const auto& [joint, weight] : rows_[p]) {
                out_.weights[joint].first.push_back(static_cast<std::int32_t>(p));
                out_.weights[joint].second.push_back(double{weight});
            }
    }

    struct Shape {
        std::vector<float> offsets, normals;
    };

    FbxMaking& making_;
    const Json& mesh_;
    AccessorReader accessors_;
    std::size_t joints_;
    std::string name_;
    FbxMadeMesh out_;
    std::size_t vertices_ = 0;
    std::map<std::string, VertexValues> values_;
    std::map<std::string, std::map<std::size_t, std::vector<std::uint32_t>>> joint_sets_;  // by first vertex
    std::vector<Shape> shapes_;
    std::vector<Triangle> triangles_;
    std::vector<std::int32_t> material_of_triangle_, point_of_;
    std::vector<std::size_t> vertex_of_;                // of points: the first
    std::vector<std::map<std::uint32_t, float>> rows_;  // of points
    std::vector<std::pair<std::string, std::int32_t>> layers_;
};

}  // namespace

Result<FbxMadeMesh> make_fbx_mesh(FbxMaking& making, std::size_t mesh, std::size_t joints,
                                  const std::vector<double>& shape_weights) {
    return FbxMeshMaker(making, mesh, joints).make(shape_weights);
}

}  // namespace sinew::io
