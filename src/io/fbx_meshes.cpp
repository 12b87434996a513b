#include "io/fbx_meshes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "core/polygons.h"
#include "core/try.h"
#include "core/vectors.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

bool finite(const Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

Vec3 triple_at(const double* from) {
    return {static_cast<float>(from[0]), static_cast<float>(from[1]), static_cast<float>(from[2])};
}

/// Values of a mesh, each for a corner, a point or a polygon.
struct FbxLayer {
    enum class Of { corner, point, polygon, all } of = Of::corner;
    std::size_t width = 1, count = 0;
    std::vector<double> values;  // count × width
    std::vector<std::int32_t> index;
    bool indexed = false;
    std::vector<bool> damaged;  // of places: not finite; empty where all are

    /// Where the values of a corner are; no_index if they do not exist or are not finite.
    std::uint32_t place(std::uint32_t corner, std::uint32_t point, std::uint32_t polygon) const {
        std::uint32_t out = of == Of::corner ? corner : of == Of::point ? point : of == Of::polygon ? polygon : 0;
        if (indexed) {
            if (out >= index.size() || index[out] < 0) return no_index;
            out = static_cast<std::uint32_t>(index[out]);
        }
        return out < count && (damaged.empty() || !damaged[out]) ? out : no_index;
    }
    /// The values of a place; zeros of none.
    const double* at(std::uint32_t place) const {
        static constexpr double kZeros[4] = {};
        return place == no_index ? kZeros : &values[place * width];
    }
    /// Whether the values of two places have the same bits as floats. -0 and 0 differ, which keeps a duplicate at
    /// worst.
    bool same(std::uint32_t a, std::uint32_t b) const {
        const auto bits = [](double v) { return std::bit_cast<std::uint32_t>(static_cast<float>(v)); };
        return a == b ||
               std::equal(at(a), at(a) + width, at(b), [&](double x, double y) { return bits(x) == bits(y); });
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
        SINEW_TRY_LET(const std::vector<std::int32_t> indices, file_.indices(*polygons));
        // Of what is made of the mesh here and in foreign_document.cpp.
        SINEW_TRY(files_.take(numbers.size() * 8 + indices.size() * 500, "the corners of a mesh"));
        points_.reserve(numbers.size() / 3);
        corners_.resize(indices.size());
        first_.reserve(indices.size() / 3 + 1);
        for (std::size_t k = 0; k + 2 < numbers.size(); k += 3) {
            points_.push_back(triple_at(&numbers[k]));
            if (!finite(points_.back()))
                return file_.error(*vertices, "vertex " + std::to_string(k / 3) + " is not finite");
        }
        if (indices.size() > 0xfffffffe) return file_.error(*polygons, "it has more than 2^32 corners");
        const auto count = static_cast<std::uint32_t>(indices.size());
        for (std::uint32_t corner = 0; corner < count; ++corner) {
            const std::int32_t index = indices[corner];
            const auto point = static_cast<std::uint32_t>(index < 0 ? ~index : index);
            if (point >= points_.size())
                return file_.error(*polygons, "corner " + std::to_string(corner) + " is vertex " +
                                                  std::to_string(point) + ", but there are " +
                                                  std::to_string(points_.size()));
            corners_[corner] = point;
            if (index < 0) first_.push_back(corner + 1);
        }
        if (first_.back() < count) first_.push_back(count);
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
        out.count = out.values.size() / width;
        for (std::size_t k = 0; k < out.count * width; ++k)
            if (!std::isfinite(out.values[k])) {
                out.damaged.resize(out.count);
                out.damaged[k / width] = true;
            }
        if (text_of(record, "ReferenceInformationType") != "Direct")
            if (const FbxRecord* list = record.find(index)) {
                SINEW_TRY_LET(out.index, file_.indices(*list));
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

    /// Triangles of corners, in one part for each material.
    Status split(std::size_t materials) {
        std::optional<FbxLayer> material;
        if (const auto found = layers_of("LayerElementMaterial"); !found.empty()) {
            SINEW_TRY_LET(material, layer(*found[0], "Materials", "", 1));
        }
        std::size_t lines = 0;
        for (std::size_t f = 0; f + 1 < first_.size(); ++f) lines += first_[f + 1] - first_[f] < 3;
        if (lines) warn(std::to_string(lines) + " polygons of fewer than three corners are left out");
        std::map<std::size_t, std::size_t> part_of_material;
        const std::vector<Triangle> triangles = triangulate_corners(points_, first_, corners_);
        std::uint32_t polygon = 0;
        const auto slot_of = [&](std::uint32_t corner) {  // corners ascend from polygon to polygon
            if (!material) return std::size_t{0};
            while (first_[polygon + 1] <= corner) ++polygon;
            const std::uint32_t place = material->place(corner, corners_[corner], polygon);
            const double number = place == no_index ? -1 : *material->at(place);
            return number >= 0 && number < double(materials) ? static_cast<std::size_t>(number) : materials;
        };
        for (auto t = triangles.begin(); t != triangles.end();) {
            const std::size_t slot = slot_of((*t)[0]);
            const auto end = std::find_if(t + 1, triangles.end(),
                                          [&](const Triangle& next) { return slot_of(next[0]) != slot; });
            const auto [found, added] = part_of_material.try_emplace(slot, out_.parts.size());
            if (added) {
                ForeignMesh& part = out_.parts.emplace_back();
                part.name = objects_[geometry_].name;
                part.material = slot;
                part.source = geometry_;
            }
            std::vector<Triangle>& to = out_.parts[found->second].triangles;
            to.insert(to.end(), t, end);
            t = end;
        }
        return Done{};
    }

    Status read_layers() {
        const auto first = [&](std::string_view name, const char* values, const char* index,
                               std::size_t width) -> Result<std::optional<FbxLayer>> {
            const auto found = layers_of(name);
            if (found.empty()) return std::optional<FbxLayer>();
            if (found.size() > 1) warn("only the first " + std::string(name) + " is read");
            return layer(*found[0], values, index, width);
        };
        SINEW_TRY_LET(normals_, first("LayerElementNormal", "Normals", "NormalsIndex", 3));
        SINEW_TRY_LET(tangents_, first("LayerElementTangent", "Tangents", "TangentsIndex", 3));
        SINEW_TRY_LET(bitangents_, first("LayerElementBinormal", "Binormals", "BinormalsIndex", 3));
        if (!normals_ || !tangents_ || !bitangents_) {
            tangents_.reset();
            bitangents_.reset();
        }
        SINEW_TRY_LET(colors_, first("LayerElementColor", "Colors", "ColorIndex", 4));
        for (const FbxRecord* record : layers_of("LayerElementUV")) {
            if (uvs_.size() == kMostSets) break;
            SINEW_TRY_LET(auto uvs, layer(*record, "UV", "UVIndex", 2));
            if (!uvs) continue;
            for (std::size_t k = 1; k < uvs->values.size(); k += 2) uvs->values[k] = 1 - uvs->values[k];
            uvs_.push_back(std::move(*uvs));
        }
        for (const auto* layer : {&normals_, &tangents_, &colors_})
            if (*layer) layers_.push_back(&**layer);
        for (const FbxLayer& set : uvs_) layers_.push_back(&set);
        const auto by_polygon = [](const FbxLayer* layer) { return layer->of == FbxLayer::Of::polygon; };
        by_polygon_ =
            std::any_of(layers_.begin(), layers_.end(), by_polygon) || (bitangents_ && by_polygon(&*bitangents_));
        return Done{};
    }

    static constexpr std::size_t kMostSets = 8;  // of uvs
    /// Where a corner has its values: in each of layers_; and the side of its bitangent.
    using Places = std::array<std::uint32_t, kMostSets + 4>;

    Places places_of(std::uint32_t corner) {
        std::uint32_t polygon = 0;
        if (by_polygon_)
            polygon = static_cast<std::uint32_t>(std::upper_bound(first_.begin(), first_.end(), corner) -
                                                 first_.begin() - 1);
        const auto place = [&](const FbxLayer& layer) {
            const std::uint32_t out = layer.place(corner, corners_[corner], polygon);
            lost_ += out == no_index;
            return out;
        };
        Places out{};
        for (std::size_t k = 0; k < layers_.size(); ++k) out[k] = place(*layers_[k]);
        out[layers_.size()] = 0;
        if (tangents_) {
            // Both formats mean the bitangent that points up in the picture.
            const auto point = [](const double* v) {
                const Vec3 a = triple_at(v);
                return Point3{a.x, a.y, a.z};
            };
            const double* const b = bitangents_->at(place(*bitangents_));
            const Point3 up = cross(point(normals_->at(out[0])), point(tangents_->at(out[1])));
            out[layers_.size()] = dot(up, {b[0], b[1], b[2]}) < 0;
        }
        return out;
    }

    /// Corners become vertices: those of one point and one part with the same values are one, the first of them.
    /// All else is a point's.
    void join() {
        const std::size_t width = layers_.size() + 1;
        std::vector<std::uint32_t> places, vertex_of_corner(corners_.size(), no_index);
        newest_.assign(points_.size(), no_index);
        for (std::uint32_t p = 0; p < out_.parts.size(); ++p) {
            ForeignMesh& part = out_.parts[p];
            const auto first = static_cast<std::uint32_t>(vertices_.size());
            const auto vertex_of = [&](std::uint32_t corner) {
                const std::uint32_t point = corners_[corner];
                const Places own = places_of(corner);
                for (std::uint32_t v = newest_[point]; v != no_index && v >= first; v = vertices_[v].before) {
                    const std::uint32_t* const other = &places[(v - first) * width];
                    std::size_t k = 0;
                    while (k < layers_.size() && layers_[k]->same(own[k], other[k])) ++k;
                    if (k == layers_.size() && own[k] == other[k]) return v;
                }
                const auto made = static_cast<std::uint32_t>(vertices_.size());
                places.insert(places.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(width));
                vertices_.push_back({p, made - first, newest_[point]});
                part.points.push_back(point);
                return newest_[point] = made;
            };
            for (Triangle& triangle : part.triangles)
                for (std::uint32_t& corner : triangle) {
                    std::uint32_t& known = vertex_of_corner[corner];
                    if (known == no_index || known < first) known = vertex_of(corner);
                    corner = known - first;
                }
            fill(part, places);
            places.clear();
        }
    }

    /// The lists of a part, whose vertices have their values at `places`.
    void fill(ForeignMesh& part, const std::vector<std::uint32_t>& places) const {
        const std::size_t width = layers_.size() + 1;
        for (const std::uint32_t point : part.points) part.positions.push_back(points_[point]);
        std::size_t k = 0;
        const auto fill_list = [&](auto& list) {
            list.resize(part.points.size());
            for (std::size_t v = 0; v < list.size(); ++v) {
                const double* const from = layers_[k]->at(places[v * width + k]);
                std::array<float, sizeof list[0] / sizeof(float)> values{};
                for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(from[i]);
                list[v] = std::bit_cast<std::decay_t<decltype(list[0])>>(values);
            }
            ++k;
        };
        if (normals_) fill_list(part.normals);
        if (tangents_) fill_list(part.tangents);
        if (colors_) fill_list(part.colors);
        part.uvs.resize(uvs_.size());
        for (auto& set : part.uvs) fill_list(set);
        for (std::size_t v = 0; tangents_ && v < part.points.size(); ++v)
            part.tangent_signs.push_back(places[v * width + k] ? -1.f : 1.f);
    }

    /// Calls put(part, vertex, number of the value) for the values of points.
    template <typename Put>
    void each_point(const std::vector<std::int32_t>& points, std::size_t values, const Put& put) {
        lost_ += points.size() > values ? points.size() - values : 0;
        for (std::size_t k = 0; k < std::min(points.size(), values); ++k) {
            if (points[k] < 0 || static_cast<std::size_t>(points[k]) >= points_.size()) {
                ++lost_;
                continue;
            }
            const auto point = static_cast<std::size_t>(points[k]);
            for (std::uint32_t v = newest_[point]; v != no_index; v = vertices_[v].before)
                put(vertices_[v].part, vertices_[v].vertex, k);
        }
    }

    /// The values of a record, none where it is missing.
    Result<std::vector<double>> reals(const FbxRecord& record, std::string_view name) const {
        const FbxRecord* const found = record.find(name);
        if (!found) return std::vector<double>();
        return file_.reals(*found);
    }
    Result<std::vector<std::int32_t>> indices(const FbxRecord& record, std::string_view name) const {
        const FbxRecord* const found = record.find(name);
        if (!found) return std::vector<std::int32_t>();
        return file_.indices(*found);
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
            SINEW_TRY_LET(const auto points, indices(record, "Indexes"));
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
            SINEW_TRY_LET(const auto points, indices(*objects_[skin].record, "Indexes"));
            SINEW_TRY_LET(const auto shares, reals(*objects_[skin].record, "BlendWeights"));
            each_point(kind == "Blend" ? points : std::vector<std::int32_t>(), shares.size(),
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
        SINEW_TRY_LET(const auto points, indices(record, "Indexes"));
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
    struct Vertex {
        std::uint32_t part = 0, vertex = 0;
        std::uint32_t before = no_index;  // of the same point
    };

    const FbxObjects& objects_;
    const FbxFile& file_;
    std::size_t geometry_;
    const FbxRecord& record_;
    ModelFiles& files_;
    std::vector<std::string>& warnings_;
    FbxGeometry out_;
    std::vector<Vec3> points_;
    std::vector<std::uint32_t> corners_;                                // their points
    std::vector<std::uint32_t> first_{0};                               // corner of each polygon, and the end
    std::optional<FbxLayer> normals_, tangents_, bitangents_, colors_;  // tangents: all three or none
    std::vector<FbxLayer> uvs_;
    std::vector<const FbxLayer*> layers_;  // normals, tangents, colours and uvs, as far as there are any
    bool by_polygon_ = false;              // one of the layers is
    std::vector<Vertex> vertices_;         // of all parts
    std::vector<std::uint32_t> newest_;    // of each point: the last of its vertices
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
