#include "io/fbx_meshes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "core/try.h"
#include "core/vectors.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

bool finite(const Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

Vec3 triple_at(const double* from) {
    return {static_cast<float>(from[0]), static_cast<float>(from[1]), static_cast<float>(from[2])};
}

/// A corner of a polygon.
struct FbxCorner {
    std::uint32_t point = 0, polygon = 0;
};

/// Values of a mesh, each for a corner, a point or a polygon.
struct FbxLayer {
    enum class Of { corner, point, polygon, all } of = Of::corner;
    std::size_t width = 1;
    std::vector<double> values;
    std::vector<std::int64_t> index;
    bool indexed = false;

    /// The values of a corner, or null.
    const double* at(std::size_t corner, const FbxCorner& where) const {
        std::size_t element = of == Of::corner    ? corner
                              : of == Of::point   ? where.point
                              : of == Of::polygon ? where.polygon
                                                  : 0;
        if (indexed) {
            if (element >= index.size() || index[element] < 0) return nullptr;
            element = static_cast<std::size_t>(index[element]);
        }
        return element < values.size() / width ? &values[element * width] : nullptr;
    }
};

class FbxMeshReader {
public:
    FbxMeshReader(const FbxObjects& objects, std::size_t geometry, ModelFiles& files,
                  std::vector<std::string>& warnings)
        : objects_(objects),
          file_(objects.file()),
          geometry_(geometry),
          record_(*objects[geometry].record),
          files_(files),
          warnings_(warnings) {}

    Result<FbxGeometry> read(std::size_t materials) {
        SINEW_TRY(read_polygons());
        SINEW_TRY(split(materials));
        SINEW_TRY(read_layers());
        join();
        SINEW_TRY(read_skin());
        SINEW_TRY(read_shapes());
        if (lost_ > 0)
            warn(std::to_string(lost_) + " values of its layers do not exist, or are not finite: they count as 0");
        return std::move(out_);
    }

private:
    void warn(const std::string& text) {
        if (warnings_.size() < 50)
            warnings_.push_back("mesh '" + printable(objects_[geometry_].name) + "': " + text);
    }

    std::string text_of(const FbxRecord& record, std::string_view name) const {
        const FbxRecord* const found = record.find(name);
        return found && !found->values.empty() ? file_.text(found->values[0]) : "";
    }

    Status read_polygons() {
        const FbxRecord* const vertices = record_.find("Vertices");
        const FbxRecord* const polygons = record_.find("PolygonVertexIndex");
        if (!vertices || !polygons) return file_.error(record_, "it has no polygons");
        SINEW_TRY_LET(const std::vector<double> numbers, file_.reals(*vertices));
        SINEW_TRY_LET(const std::vector<std::int64_t> indices, file_.wholes(*polygons));
        // Of what is made of the mesh here and in foreign_document.cpp.
        SINEW_TRY(files_.take(numbers.size() * 8 + indices.size() * 500, "the corners of a mesh"));
        points_.reserve(numbers.size() / 3);
        corners_.reserve(indices.size());
        for (std::size_t k = 0; k + 2 < numbers.size(); k += 3) {
            points_.push_back(triple_at(&numbers[k]));
            if (!finite(points_.back()))
                return file_.error(*vertices, "vertex " + std::to_string(k / 3) + " is not finite");
        }
        if (indices.size() > 0xfffffffe) return file_.error(*polygons, "it has more than 2^32 corners");
        std::uint32_t polygon = 0;
        for (const std::int64_t index : indices) {
            const std::int64_t point = index < 0 ? ~index : index;
            if (point >= static_cast<std::int64_t>(points_.size()))
                return file_.error(*polygons, "corner " + std::to_string(corners_.size()) + " is vertex " +
                                                  std::to_string(point) + ", but there are " +
                                                  std::to_string(points_.size()));
            corners_.push_back({static_cast<std::uint32_t>(point), polygon});
            polygon += index < 0;
        }
        return Done{};
    }

    /// The layer in a record of the mesh; empty where it is of a kind that is not read.
    Result<std::optional<FbxLayer>> layer(const FbxRecord& record, const char* values, const char* index,
                                          std::size_t width) {
        FbxLayer out;
        out.width = width;
        const std::string of = text_of(record, "MappingInformationType");
        const FbxRecord* const found = record.find(values);
        if (of == "ByPolygonVertex")
            out.of = FbxLayer::Of::corner;
        else if (of == "ByVertice" || of == "ByVertex")
            out.of = FbxLayer::Of::point;
        else if (of == "ByPolygon")
            out.of = FbxLayer::Of::polygon;
        else if (of == "AllSame")
            out.of = FbxLayer::Of::all;
        else if (of != "NoMappingInformation")
            warn(std::string(record.name) + " is mapped \"" + printable(of, 40) + "\": left out");
        if (!found || !(out.of != FbxLayer::Of::corner || of == "ByPolygonVertex"))
            return std::optional<FbxLayer>();
        SINEW_TRY_LET(out.values, file_.reals(*found));
        if (text_of(record, "ReferenceInformationType") != "Direct")
            if (const FbxRecord* list = record.find(index)) {
                SINEW_TRY_LET(out.index, file_.wholes(*list));
                out.indexed = true;
            }
        if (out.values.empty()) return std::optional<FbxLayer>();
        return std::optional(std::move(out));
    }

    /// The layers of a name, by their numbers.
    std::vector<const FbxRecord*> layers_of(std::string_view name) const {
        std::vector<std::pair<std::int64_t, const FbxRecord*>> found;
        for (const FbxRecord& record : record_.records)
            if (record.name == name)
                found.emplace_back(record.values.empty() ? 0 : file_.whole(record.values[0]).value_or(0), &record);
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<const FbxRecord*> out;
        for (const auto& [number, record] : found) out.push_back(record);
        return out;
    }

    /// Triangles, in one part for each material.
    Status split(std::size_t materials) {
        std::optional<FbxLayer> material;
        if (const auto found = layers_of("LayerElementMaterial"); !found.empty()) {
            SINEW_TRY_LET(material, layer(*found[0], "Materials", "", 1));
        }
        std::vector<Vec3> positions;  // of corners
        std::vector<std::uint32_t> first{0}, corners;
        positions.reserve(corners_.size());
        first.reserve(corners_.size() / 3 + 1);
        corners.reserve(corners_.size());
        std::size_t lines = 0;
        for (std::size_t c = 0; c < corners_.size();) {
            std::size_t end = c;
            for (; end < corners_.size() && corners_[end].polygon == corners_[c].polygon; ++end)
                positions.push_back(points_[corners_[end].point]);
            if (end - c >= 3) {
                for (std::size_t k = c; k < end; ++k) corners.push_back(static_cast<std::uint32_t>(k));
                first.push_back(static_cast<std::uint32_t>(corners.size()));
            } else {
                ++lines;
            }
            c = end;
        }
        if (lines) warn(std::to_string(lines) + " polygons of fewer than three corners are left out");
        std::map<std::size_t, std::size_t> part_of_material;
        place_.assign(corners_.size(), {});
        for (const Triangle& t : triangulate(positions, first, corners)) {
            const double* const number = material ? material->at(t[0], corners_[t[0]]) : nullptr;
            const std::size_t slot = !material ? 0
                                     : number && *number >= 0 && *number < double(materials)
                                         ? static_cast<std::size_t>(*number)
                                         : materials;
            auto found = part_of_material.find(slot);
            if (found == part_of_material.end()) {
                found = part_of_material.emplace(slot, out_.parts.size()).first;
                out_.parts.emplace_back().name = objects_[geometry_].name;
                out_.parts.back().material = slot;
                out_.parts.back().source = geometry_;
                corner_of_vertex_.emplace_back();
            }
            ForeignMesh& part = out_.parts[found->second];
            Triangle triangle{};
            for (std::size_t k = 0; k < 3; ++k) {
                Place& place = place_[t[k]];
                if (place.part == none_) {
                    place = {static_cast<std::uint32_t>(found->second),
                             static_cast<std::uint32_t>(part.positions.size())};
                    part.positions.push_back(positions[t[k]]);
                    part.points.push_back(corners_[t[k]].point);
                    corner_of_vertex_[found->second].push_back(t[k]);
                }
                triangle[k] = place.vertex;
            }
            part.triangles.push_back(triangle);
        }
        return Done{};
    }

    /// Calls put(part, values) for each vertex; values are never null, and finite.
    template <typename Put>
    void each(const FbxLayer& layer, const Put& put) {
        const std::vector<double> zeros(layer.width, 0);
        for (std::size_t p = 0; p < out_.parts.size(); ++p)
            for (const std::uint32_t corner : corner_of_vertex_[p]) {
                const double* values = layer.at(corner, corners_[corner]);
                if (!values ||
                    !std::all_of(values, values + layer.width, [](double v) { return std::isfinite(v); })) {
                    ++lost_;
                    values = zeros.data();
                }
                put(out_.parts[p], values);
            }
    }

    Status read_layers() {
        const auto first = [&](std::string_view name, const char* values, const char* index,
                               std::size_t width) -> Result<std::optional<FbxLayer>> {
            const auto found = layers_of(name);
            if (found.empty()) return std::optional<FbxLayer>();
            if (found.size() > 1) warn("only the first " + std::string(name) + " is read");
            return layer(*found[0], values, index, width);
        };
        SINEW_TRY_LET(const auto normals, first("LayerElementNormal", "Normals", "NormalsIndex", 3));
        if (normals) each(*normals, [](ForeignMesh& to, const double* v) { to.normals.push_back(triple_at(v)); });
        SINEW_TRY_LET(const auto tangents, first("LayerElementTangent", "Tangents", "TangentsIndex", 3));
        SINEW_TRY_LET(const auto bitangents, first("LayerElementBinormal", "Binormals", "BinormalsIndex", 3));
        if (normals && tangents && bitangents) {
            each(*tangents, [](ForeignMesh& to, const double* v) { to.tangents.push_back(triple_at(v)); });
            each(*bitangents, [](ForeignMesh& to, const double* v) {
                // Both formats mean the bitangent that points up in the picture.
                const std::size_t n = to.tangent_signs.size();
                const auto point = [](const Vec3& a) { return Point3{a.x, a.y, a.z}; };
                const double side = dot(cross(point(to.normals[n]), point(to.tangents[n])), {v[0], v[1], v[2]});
                to.tangent_signs.push_back(side < 0 ? -1.f : 1.f);
            });
        }
        SINEW_TRY_LET(const auto colors, first("LayerElementColor", "Colors", "ColorIndex", 4));
        if (colors)
            each(*colors, [](ForeignMesh& to, const double* v) {
                to.colors.push_back({static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]),
                                     static_cast<float>(v[3])});
            });
        for (const FbxRecord* record : layers_of("LayerElementUV")) {
            constexpr std::size_t kMostSets = 8;
            if (!out_.parts.empty() && out_.parts[0].uvs.size() == kMostSets) break;
            SINEW_TRY_LET(const auto uvs, layer(*record, "UV", "UVIndex", 2));
            if (!uvs) continue;
            for (ForeignMesh& part : out_.parts) part.uvs.emplace_back();
            each(*uvs, [](ForeignMesh& to, const double* v) {
                to.uvs.back().push_back({static_cast<float>(v[0]), static_cast<float>(1 - v[1])});
            });
        }
        return Done{};
    }

    /// Corners of one point with the same values become one vertex; all else is a point's. Finds the vertices of
    /// each point: those of point p are from vertices_first_[p] on.
    void join() {
        std::vector<std::uint32_t> heads(points_.size()), to, next, kept;
        vertices_first_.assign(points_.size() + 1, 0);
        for (ForeignMesh& part : out_.parts) {
            // Values as bytes. -0 and 0 differ, which keeps a duplicate at worst.
            std::vector<std::pair<const char*, std::size_t>> lists;  // and the bytes of an element
            const auto each_list = [&](const auto& use) {
                use(part.positions), use(part.points), use(part.normals), use(part.tangents),
                    use(part.tangent_signs);
                use(part.colors);
                for (auto& set : part.uvs) use(set);
            };
            each_list([&](const auto& list) {
                if (!list.empty()) lists.emplace_back(reinterpret_cast<const char*>(list.data()), sizeof list[0]);
            });
            heads.assign(points_.size(), none_);  // of the new vertices of each point
            to.clear(), next.clear(), kept.clear();
            for (std::uint32_t v = 0; v < part.positions.size(); ++v) {
                std::uint32_t& head = heads[part.points[v]];
                std::uint32_t found = head;
                while (found != none_ && !std::all_of(lists.begin() + 2, lists.end(), [&](const auto& list) {
                           const auto& [begin, size] = list;
                           return std::memcmp(begin + v * size, begin + kept[found] * size, size) == 0;
                       }))
                    found = next[found];
                if (found == none_) {
                    found = static_cast<std::uint32_t>(kept.size());
                    kept.push_back(v);
                    next.push_back(head);
                    head = found;
                }
                to.push_back(found);
            }
            each_list([&](auto& list) {
                if (list.empty()) return;
                for (std::size_t k = 0; k < kept.size(); ++k) list[k] = list[kept[k]];
                list.resize(kept.size());
            });
            for (Triangle& triangle : part.triangles)
                for (std::uint32_t& vertex : triangle) vertex = to[vertex];
            for (const std::uint32_t point : part.points) ++vertices_first_[point + 1];
        }
        for (std::size_t p = 0; p < points_.size(); ++p) vertices_first_[p + 1] += vertices_first_[p];
        vertices_.resize(vertices_first_.back());
        std::vector<std::uint32_t> at = vertices_first_;
        for (std::uint32_t p = 0; p < out_.parts.size(); ++p)
            for (std::uint32_t v = 0; v < out_.parts[p].points.size(); ++v)
                vertices_[at[out_.parts[p].points[v]]++] = {p, v};
    }

    /// Calls put(part, vertex, number of the value) for the values of points.
    template <typename Put>
    void each_point(const std::vector<std::int64_t>& points, std::size_t values, const Put& put) {
        lost_ += points.size() > values ? points.size() - values : 0;
        for (std::size_t k = 0; k < std::min(points.size(), values); ++k) {
            if (points[k] < 0 || points[k] >= static_cast<std::int64_t>(points_.size())) {
                ++lost_;
                continue;
            }
            const auto point = static_cast<std::size_t>(points[k]);
            for (std::uint32_t v = vertices_first_[point]; v < vertices_first_[point + 1]; ++v)
                put(vertices_[v].part, vertices_[v].vertex, k);
        }
    }

    /// The values of a record, none where it is missing.
    Result<std::vector<double>> reals(const FbxRecord& record, std::string_view name) const {
        const FbxRecord* const found = record.find(name);
        if (!found) return std::vector<double>();
        return file_.reals(*found);
    }
    Result<std::vector<std::int64_t>> wholes(const FbxRecord& record, std::string_view name) const {
        const FbxRecord* const found = record.find(name);
        if (!found) return std::vector<std::int64_t>();
        return file_.wholes(*found);
    }

    Result<std::optional<Matrix>> matrix(const FbxRecord& record, std::string_view name) const {
        SINEW_TRY_LET(const std::vector<double> values, reals(record, name));
        if (values.size() != 16) return std::optional<Matrix>();
        Matrix out;
        std::copy(values.begin(), values.end(), out.m.begin());
        return std::optional(out);
    }

    Status read_skin() {
        std::size_t skins = 0;
        for (const FbxObjects::Link& link : objects_[geometry_].sources) {
            if (!objects_[link.object].is("Deformer", "Skin") || skins++ > 0) continue;
            SINEW_TRY(read_clusters(link.object));
        }
        if (skins > 1) warn("only the first of its " + std::to_string(skins) + " skins is read");
        return Done{};
    }

    Status read_clusters(std::size_t skin) {
        if (out_.parts.empty()) return Done{};
        for (const FbxObjects::Link& link : objects_[skin].sources) {
            const FbxObjects::Object& cluster = objects_[link.object];
            if (!cluster.is("Deformer", "Cluster")) continue;
            const FbxRecord& record = *cluster.record;
            ForeignBone bone;
            bone.node = objects_.source(link.object, "Model");
            bone.name = bone.node == missing ? cluster.name : objects_[bone.node].name;
            SINEW_TRY_LET(const auto to_bone, matrix(record, "Transform"));
            SINEW_TRY_LET(const auto to_world, matrix(record, "TransformLink"));
            if (!to_bone) {
                warn("cluster '" + printable(cluster.name) + "' has no Transform: left out");
                continue;
            }
            bone.offset = *to_bone;
            if (to_world && !out_.bind && inverse(*to_world * *to_bone)) out_.bind = *to_world * *to_bone;
            SINEW_TRY_LET(const auto points, wholes(record, "Indexes"));
            SINEW_TRY_LET(const auto weights, reals(record, "Weights"));
            // The first part lists every bone, the others those that they use.
            std::vector<ForeignBone*> bone_of_part(out_.parts.size());
            bone_of_part[0] = &out_.parts[0].bones.emplace_back(bone);
            std::size_t made = 0;
            each_point(points, weights.size(), [&](std::size_t part, std::uint32_t vertex, std::size_t k) {
                ForeignBone*& to = bone_of_part[part];
                if (!to) to = &out_.parts[part].bones.emplace_back(bone);
                to->weights.push_back({vertex, static_cast<float>(weights[k])});
                ++made;
            });
            SINEW_TRY(files_.take(made * 40, "the weights of a mesh"));
        }
        const std::string kind = text_of(*objects_[skin].record, "SkinningType");
        if (kind == "DualQuaternion" || kind == "Blend") {
            for (ForeignMesh& part : out_.parts)
                part.dual_quaternion.assign(part.positions.size(), kind == "Blend" ? 0.f : 1.f);
            SINEW_TRY_LET(const auto points, wholes(*objects_[skin].record, "Indexes"));
            SINEW_TRY_LET(const auto shares, reals(*objects_[skin].record, "BlendWeights"));
            each_point(kind == "Blend" ? points : std::vector<std::int64_t>(), shares.size(),
                       [&](std::size_t part, std::uint32_t vertex, std::size_t k) {
                           out_.parts[part].dual_quaternion[vertex] =
                               static_cast<float>(std::isfinite(shares[k]) ? std::clamp(shares[k], 0.0, 1.0) : 0);
                       });
        }
        return Done{};
    }

    Status read_shapes() {
        for (const FbxObjects::Link& link : objects_[geometry_].sources) {
            if (!objects_[link.object].is("Deformer", "BlendShape")) continue;
            for (const FbxObjects::Link& inner : objects_[link.object].sources) {
                if (!objects_[inner.object].is("Deformer", "BlendShapeChannel")) continue;
                std::size_t shape = missing, count = 0;  // the last one is the whole shape
                for (const FbxObjects::Link& source : objects_[inner.object].sources)
                    if (objects_[source.object].is("Geometry", "Shape")) shape = source.object, ++count;
                if (shape == missing) continue;
                if (count > 1)
                    warn("shape '" + printable(objects_[inner.object].name) + "': the shapes between are left out");
                double percent = objects_.number(inner.object, "DeformPercent", 0);
                if (const FbxRecord* own = objects_[inner.object].record->find("DeformPercent");
                    own && !own->values.empty())
                    percent = file_.number(own->values[0]).value_or(percent);
                SINEW_TRY(read_shape(*objects_[shape].record, objects_[inner.object].name, percent / 100));
            }
        }
        for (const FbxRecord& record : record_.records)  // of version 6
            if (record.name == "Shape" && !record.values.empty())
                SINEW_TRY(read_shape(record, file_.text(record.values[0]), 0));
        return Done{};
    }

    Status read_shape(const FbxRecord& record, const std::string& name, double weight) {
        SINEW_TRY_LET(const auto points, wholes(record, "Indexes"));
        SINEW_TRY_LET(const auto offsets, reals(record, "Vertices"));
        SINEW_TRY_LET(const auto normals, reals(record, "Normals"));
        const bool turns = normals.size() == offsets.size() && normals.size() == 3 * points.size();
        SINEW_TRY(files_.take(corners_.size() * (turns ? 100 : 50), "shape '" + printable(name) + "'"));
        for (ForeignMesh& part : out_.parts) {
            ForeignTarget& target = part.targets.emplace_back();
            target.name = name;
            target.weight = static_cast<float>(weight);
            target.positions.resize(part.positions.size());
            if (turns && !part.normals.empty()) target.normals.resize(part.positions.size());
        }
        each_point(points, offsets.size() / 3, [&](std::size_t part, std::uint32_t vertex, std::size_t k) {
            ForeignTarget& target = out_.parts[part].targets.back();
            target.positions[vertex] = triple_at(&offsets[3 * k]);
            if (!target.normals.empty()) target.normals[vertex] = triple_at(&normals[3 * k]);
        });
        return Done{};
    }

    static constexpr std::size_t missing = FbxObjects::missing;
    static constexpr std::uint32_t none_ = 0xffffffffu;
    struct Place {
        std::uint32_t part = none_, vertex = 0;
    };

    const FbxObjects& objects_;
    const FbxFile& file_;
    std::size_t geometry_;
    const FbxRecord& record_;
    ModelFiles& files_;
    std::vector<std::string>& warnings_;
    FbxGeometry out_;
    std::vector<Vec3> points_;
    std::vector<FbxCorner> corners_;
    std::vector<Place> place_;                                  // of corners
    std::vector<std::vector<std::uint32_t>> corner_of_vertex_;  // by part
    std::vector<std::uint32_t> vertices_first_;
    std::vector<Place> vertices_;
    std::size_t lost_ = 0;
};

}  // namespace

bool has_polygons(const FbxObjects::Object& object) {
    return object.record && (object.is("Geometry", "Mesh") || object.is("Model")) &&
           object.record->find("Vertices") && object.record->find("PolygonVertexIndex");
}

Result<FbxGeometry> read_fbx_geometry(const FbxObjects& objects, std::size_t geometry, std::size_t materials,
                                      ModelFiles& files, std::vector<std::string>& warnings) {
    return FbxMeshReader(objects, geometry, files, warnings).read(materials);
}

}  // namespace sinew::io
