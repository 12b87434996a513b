// Saves an FBX file with new weights. The records of the file are written back as they were read, but
//
//   - clusters (the joints of a skin) get other Indexes and Weights where the weights of their points changed;
//   - joints that get weights without having a cluster get one, and meshes without a skin get one, behind the other
//     objects and connections, with ids above all others.
//
// Weights are those of points: all corners of a point agree, because they are one place of the mesh. Points whose
// weights did not change keep the numbers of the file.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/try.h"
#include "io/fbx_objects.h"
#include "io/fbx_write.h"
#include "io/gltf_builder.h"
#include "io/gltf_nodes.h"

namespace sinew::io {

namespace {

/// Weights of a cluster in the file.
struct FbxCluster {
    std::size_t object = FbxObjects::missing;  ///< missing: a new one
    std::size_t model = FbxObjects::missing;
    std::vector<std::int64_t> points;
    std::vector<double> weights;
};

class FbxSaver {
public:
    FbxSaver(const Document& document, const FbxRows& rows, FbxFile& file, const FbxObjects& objects)
        : document_(document), origin_(*document.fbx), rows_(rows), file_(file), objects_(objects) {}

    Status save() {
        sort_rows();
        for (const auto& [geometry, mesh] : meshes_) SINEW_TRY(save_mesh(geometry, mesh));
        for (const auto& [object, changed] : changed_) change(record_of(object), changed);
        for (auto& [list, records] : {std::pair("Objects", &new_objects_), std::pair("Connections", &new_links_)}) {
            if (records->empty()) continue;
            FbxRecord* const to = find(file_.root(), list);
            if (!to) return file_.error(file_.root(), std::string("the file has no ") + list);
            to->records.insert(to->records.end(), records->begin(), records->end());
        }
        for (const std::size_t geometry : other_poses_)
            notes.push_back(
                "mesh '" + printable(objects_[geometry].name) +
                "' is bound in another pose than the others and keeps it: with the new weights its shape "
                "may differ from the one that was bound");
        if (differ_ > 0)
            notes.push_back(std::to_string(differ_) +
                            " vertices of meshes that stand in several places got other weights than their first "
                            "copy: the file has one skin for all");
        return Done{};
    }

    std::vector<std::string> notes;

private:
    using Row = std::map<std::size_t, double>;  // weight by model
    struct Mesh {
        const FbxRows::Block* block = nullptr;
        std::size_t skin = none;                                  ///< into FbxOrigin::skins
        bool scattered = false;                                   ///< it stands in several places
        std::map<std::int64_t, std::span<const Influence>> rows;  // by point
    };

    static FbxRecord* find(FbxRecord& record, std::string_view name) {
        return const_cast<FbxRecord*>(std::as_const(record).find(name));
    }
    /// Objects are those of file_.root().
    FbxRecord& record_of(std::size_t object) { return const_cast<FbxRecord&>(*objects_[object].record); }

    Result<std::size_t> model_of(std::size_t node) const {
        if (node < origin_.object_of_node.size() && origin_.object_of_node[node] != FbxObjects::root)
            return origin_.object_of_node[node];
        return input_error(document_.name, "joint " + in_quotes(node_name(document_, node)) +
                                               " is no object of the FBX file, and none is added to one (name the "
                                               "output .glb)");
    }

    /// The rows of weights, by mesh and point.
    void sort_rows() {
        std::size_t v = 0, at = 0;
        for (const FbxRows::Block& block : rows_.blocks) {
            const auto found = origin_.meshes.find({block.mesh, block.primitive});
            Mesh* const to = found == origin_.meshes.end() ? nullptr : &meshes_[found->second.geometry];
            if (to) {
                if (!to->block) to->block = &block, to->skin = found->second.skin;
                if (block.other_pose) other_poses_.insert(found->second.geometry);
                to->scattered = to->scattered || !(to->block->to_scene == block.to_scene);
            }
            for (std::uint32_t k = 0; k < block.vertex_count; ++k) {
                const std::span row(&rows_.influences[at], rows_.counts[v]);
                at += rows_.counts[v++];
                if (!to) continue;
                const auto [place, added] = to->rows.emplace(found->second.points[k], row);
                differ_ +=
                    !added && !std::equal(row.begin(), row.end(), place->second.begin(), place->second.end());
            }
        }
    }

    Result<std::vector<FbxCluster>> clusters_of(std::size_t skin) const {
        std::vector<FbxCluster> out;
        for (const FbxObjects::Link& link : objects_[skin].sources) {
            if (!objects_[link.object].is("Deformer", "Cluster")) continue;
            FbxCluster cluster{link.object, objects_.source(link.object, "Model"), {}, {}};
            const FbxRecord& record = *objects_[link.object].record;
            if (const FbxRecord* points = record.find("Indexes")) {
                SINEW_TRY_LET(cluster.points, file_.wholes(*points));
            }
            if (const FbxRecord* weights = record.find("Weights")) {
                SINEW_TRY_LET(cluster.weights, file_.reals(*weights));
            }
            const std::size_t count = std::min(cluster.points.size(), cluster.weights.size());
            cluster.points.resize(count);
            cluster.weights.resize(count);
            out.push_back(std::move(cluster));
        }
        return out;
    }

    Status save_mesh(std::size_t geometry, const Mesh& mesh) {
        std::size_t skin = objects_.source(geometry, "Deformer", "Skin");
        std::vector<FbxCluster> clusters;
        if (skin != FbxObjects::missing) {
            SINEW_TRY_LET(clusters, clusters_of(skin));
        }
        std::map<std::int64_t, Row> old;
        for (const FbxCluster& cluster : clusters)
            for (std::size_t k = 0; k < cluster.points.size(); ++k)
                if (const double weight = cluster.weights[k]; weight > 0 && std::isfinite(weight))
                    old[cluster.points[k]][cluster.model] += weight;
        std::map<std::int64_t, Row> changed;
        for (const auto& [point, row] : mesh.rows) {
            Row wanted;
            for (const Influence& influence : row) {
                SINEW_TRY_LET(const std::size_t model, model_of(influence.joint));
                wanted[model] += influence.weight;
            }
            if (!same(old[point], wanted)) changed.emplace(point, std::move(wanted));
        }
        if (changed.empty()) return Done{};

        if (skin == FbxObjects::missing) {
            if (mesh.scattered)
                return input_error(document_.name, "mesh '" + printable(objects_[geometry].name) +
                                                       "' stands in several places and would need a skin for each "
                                                       "(make copies of it, or name the output .glb)");
            skin = add_skin(geometry);
        }
        std::map<std::size_t, std::size_t> cluster_of_model;
        for (std::size_t c = 0; c < clusters.size(); ++c) cluster_of_model.emplace(clusters[c].model, c);
        for (const auto& [point, row] : changed)
            for (const auto& [model, weight] : row)
                if (cluster_of_model.emplace(model, clusters.size()).second)
                    clusters.push_back({FbxObjects::missing, model, {}, {}});
        const std::size_t known = clusters.size();
        for (std::size_t c = 0; c < known; ++c) {
            std::vector<std::pair<std::int32_t, double>> all;
            bool touched = clusters[c].object == FbxObjects::missing;
            for (std::size_t k = 0; k < clusters[c].points.size(); ++k) {
                if (changed.contains(clusters[c].points[k]))
                    touched = true;
                else
                    all.emplace_back(static_cast<std::int32_t>(clusters[c].points[k]), clusters[c].weights[k]);
            }
            if (cluster_of_model.at(clusters[c].model) == c)
                for (const auto& [point, row] : changed)
                    if (const auto found = row.find(clusters[c].model); found != row.end()) {
                        touched = true;
                        all.emplace_back(static_cast<std::int32_t>(point), found->second);
                    }
            if (!touched) continue;
            std::sort(all.begin(), all.end());
            Weights made;
            for (const auto& [point, weight] : all) {
                made.points.push_back(point);
                made.weights.push_back(weight);
            }
            if (clusters[c].object != FbxObjects::missing)
                changed_.emplace(clusters[c].object, std::move(made));
            else
                SINEW_TRY(add_cluster(skin, geometry, clusters[c].model, mesh, made));
        }
        return Done{};
    }

    /// The same weights after their sum is made 1, but for the rounding of floats.
    static bool same(const Row& file, const Row& wanted) {
        double sum = 0;
        std::size_t used = 0;
        for (const auto& [model, weight] : file) sum += weight, used += weight > 0;
        if (used != wanted.size()) return false;
        return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
            const auto found = file.find(one.first);
            return found != file.end() && std::abs(found->second / sum - one.second) <= 1e-6;
        });
    }

    struct Weights {
        std::vector<std::int32_t> points;
        std::vector<double> weights;
    };

    /// Replaces the weights in the record of a cluster.
    void change(FbxRecord& record, const Weights& to) {
        auto& inner = record.records;
        std::size_t at = inner.size();
        for (std::size_t r = inner.size(); r-- > 0;)
            if (inner[r].name == "Indexes" || inner[r].name == "Weights") {
                inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(r));
                at = r;
            }
        if (at == inner.size())
            for (std::size_t r = inner.size(); r-- > 0;)
                if (inner[r].name == "Transform") at = r;
        if (to.points.empty()) return;
        const FbxRecord made[] = {file_.make("Indexes", {to.points}, 2), file_.make("Weights", {to.weights}, 2)};
        inner.insert(inner.begin() + static_cast<std::ptrdiff_t>(at), std::begin(made), std::end(made));
    }

    // ---- new objects

    bool named() const { return file_.version() < 7000; }

    /// The first values of an object: its id and its name.
    std::vector<FbxItem> identity(const std::string& type, const std::string& name, const std::string& kind,
                                  FbxItem& id) {
        std::vector<FbxItem> out;
        std::string full = file_.full_name(type, name);
        if (named()) {
            std::string unique = name;
            for (int number = 2; objects_.knows(type + "::" + unique) || !names_.insert(type + unique).second;
                 ++number)
                unique = name + " " + std::to_string(number);
            full = file_.full_name(type, unique);
            id = full;
        } else {
            id = next_id();
            out.push_back(id);
        }
        out.push_back(full);
        out.push_back(kind);
        return out;
    }

    std::int64_t next_id() {
        if (last_id_ == 0)
            for (const FbxObjects::Object& object : objects_.all())
                if (object.record) last_id_ = std::max(last_id_, file_.whole(object.record->values[0]).value_or(0));
        return ++last_id_;
    }

    FbxItem id_of(std::size_t object) {
        if (object >= objects_.all().size()) return new_ids_[object - objects_.all().size()];
        const FbxValue& id = objects_[object].record->values[0];
        if (named()) {
            const auto [type, name] = fbx_name(file_.text(id));
            return file_.full_name(type, name);
        }
        return *file_.whole(id);
    }

    void connect(const FbxItem& from, const FbxItem& to) {
        new_links_.push_back(file_.make(named() ? "Connect" : "C", {std::string("OO"), from, to}, 1));
    }

    std::size_t add_skin(std::size_t geometry) {
        FbxItem id;
        FbxRecord record =
            file_.make("Deformer", identity("Deformer", objects_[geometry].name, "Skin", id), 1, true);
        record.records.push_back(file_.make("Version", {std::int32_t{100}}, 2));
        record.records.push_back(file_.make("Link_DeformAcuracy", {50.0}, 2));
        new_objects_.push_back(std::move(record));
        new_ids_.push_back(id);
        connect(id, id_of(geometry));
        return objects_.all().size() + new_ids_.size() - 1;
    }

    /// S⁻¹ R⁻¹ M S: a transform of the document's world in the file's.
    Matrix in_file(const Matrix& m) const {
        Matrix back;
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c) back(r, c) = origin_.turn(c, r);
        Matrix out = back * m;
        for (std::size_t r = 0; r < 3; ++r) out(r, 3) /= origin_.metres;
        return out;
    }

    Result<std::optional<Matrix>> stored(std::size_t cluster, std::string_view name) const {
        const FbxRecord* const record = objects_[cluster].record->find(name);
        if (!record) return std::optional<Matrix>();
        SINEW_TRY_LET(const std::vector<double> values, file_.reals(*record));
        if (values.size() != 16) return std::optional<Matrix>();
        Matrix out;
        std::copy(values.begin(), values.end(), out.m.begin());
        return std::optional(out);
    }

    /// Where a joint of a mesh is bound: as the skin of the mesh has it, else where its node is at rest.
    Matrix bind_of(std::size_t model, std::size_t skin) const {
        if (skin < origin_.skins.size())
            if (const auto found = origin_.skins[skin].find(model); found != origin_.skins[skin].end())
                return in_file(found->second);
        const auto& objects = origin_.object_of_node;
        const auto node =
            static_cast<std::size_t>(std::find(objects.begin(), objects.end(), model) - objects.begin());
        const auto& world = document_.rig.nodes.world;
        return node < world.size() ? in_file(world[node]) : Matrix{};
    }

    /// Where a mesh stands when it is bound.
    Result<Matrix> place_of_mesh(std::size_t geometry, const FbxRows::Block& block) const {
        if (const std::size_t skin = objects_.source(geometry, "Deformer", "Skin"); skin != FbxObjects::missing)
            for (const FbxObjects::Link& link : objects_[skin].sources)
                if (objects_[link.object].is("Deformer", "Cluster")) {
                    SINEW_TRY_LET(const auto to_bone, stored(link.object, "Transform"));
                    SINEW_TRY_LET(const auto to_world, stored(link.object, "TransformLink"));
                    if (to_bone && to_world) return *to_world * *to_bone;
                }
        return in_file(block.to_scene);
    }

    Status add_cluster(std::size_t skin, std::size_t geometry, std::size_t model, const Mesh& mesh,
                       const Weights& weights) {
        const Matrix bind = bind_of(model, mesh.skin);
        SINEW_TRY_LET(const Matrix place, place_of_mesh(geometry, *mesh.block));
        const Matrix to_bone = inverse(bind).value_or(Matrix{}) * place;
        const auto list = [](const Matrix& m) { return std::vector<double>(m.m.begin(), m.m.end()); };
        FbxItem id;
        FbxRecord record = file_.make(
            "Deformer",
            identity("SubDeformer", objects_[geometry].name + " " + objects_[model].name, "Cluster", id), 1, true);
        record.records.push_back(file_.make("Version", {std::int32_t{100}}, 2));
        record.records.push_back(file_.make("UserData", {std::string(), std::string()}, 2));
        record.records.push_back(file_.make("Transform", {list(to_bone)}, 2));
        record.records.push_back(file_.make("TransformLink", {list(bind)}, 2));
        // As the clusters beside it.
        const std::size_t old = objects_.source(geometry, "Deformer", "Skin");
        const std::size_t beside = old == FbxObjects::missing ? old : objects_.source(old, "Deformer", "Cluster");
        if (beside != FbxObjects::missing) {
            SINEW_TRY_LET(const auto above, stored(beside, "TransformAssociateModel"));
            if (above) record.records.push_back(file_.make("TransformAssociateModel", {list(*above)}, 2));
        }
        change(record, weights);
        new_objects_.push_back(std::move(record));
        connect(id, id_of(skin));
        connect(id_of(model), id);
        return Done{};
    }

    const Document& document_;
    const FbxOrigin& origin_;
    const FbxRows& rows_;
    FbxFile& file_;
    const FbxObjects& objects_;
    std::map<std::size_t, Mesh> meshes_;      // by geometry
    std::map<std::size_t, Weights> changed_;  // by cluster
    std::vector<FbxRecord> new_objects_, new_links_;
    std::vector<FbxItem> new_ids_;
    std::set<std::string> names_;  // of new objects
    std::int64_t last_id_ = 0;
    std::set<std::size_t> other_poses_;  // geometries
    std::size_t differ_ = 0;
};

}  // namespace

Result<SavedFile> change_fbx(const Document& document, const FbxRows& rows) {
    ModelFiles files;
    SINEW_TRY_LET(FbxFile file, FbxFile::parse(*document.fbx->bytes, document.name, files));
    std::vector<std::string> ignored;
    SINEW_TRY_LET(const FbxObjects objects, FbxObjects::read(file, ignored));
    FbxSaver saver(document, rows, file, objects);
    SINEW_TRY(saver.save());
    SavedFile out;
    out.bytes = file.bytes();
    out.report.notes = std::move(saver.notes);
    out.report.bytes = out.bytes.size();
    return out;
}

}  // namespace sinew::io
