// sinew_streams: compresses raw arrays as glTF extensions store them, for tests of the command line.
//
//   sinew_streams attributes|triangles|indices COUNT STRIDE [octahedral|exponential BITS]   (meshopt)
//   sinew_streams draco|edgebreaker FACES POINTS [KIND TYPE WIDTH NORMALIZED]…
//
// Reads from standard input, writes the stream to standard output. Draco reads 32-bit indices, then one array for
// each attribute; their unique ids are 0, 1, … in this order. KIND: position, normal, texcoord, color, generic;
// TYPE: a glTF component type. `octahedral` and `exponential` read floats, four for each element.
#include <draco/compression/encode.h>
#include <draco/mesh/mesh.h>
#include <meshoptimizer.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<char>;

Bytes meshopt(const std::vector<std::string>& args, const Bytes& in) {
    const std::string& mode = args[0];
    const std::size_t count = std::stoul(args[1]), stride = std::stoul(args[2]);
    const std::string filter = args.size() > 3 ? args[3] : "";
    Bytes data = in, out;
    const auto raw = [&](std::size_t bound) {
        out.resize(bound);
        return reinterpret_cast<unsigned char*>(out.data());
    };
    if (mode == "attributes") {
        const auto* floats = reinterpret_cast<const float*>(in.data());
        data.resize(filter.empty() ? in.size() : count * stride);
        const int bits = args.size() > 4 ? std::stoi(args[4]) : 8;
        if (filter == "octahedral") meshopt_encodeFilterOct(data.data(), count, stride, bits, floats);
        if (filter == "exponential") meshopt_encodeFilterExp(data.data(), count, stride, bits, floats);
        auto* to = raw(meshopt_encodeVertexBufferBound(count, stride));
        out.resize(meshopt_encodeVertexBuffer(to, out.size(), data.data(), count, stride));
        return out;
    }
    std::vector<unsigned> indices(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (stride == 2) {
            std::uint16_t value = 0;
            std::memcpy(&value, in.data() + 2 * i, 2);
            indices[i] = value;
        } else {
            std::memcpy(&indices[i], in.data() + 4 * i, 4);
        }
    }
    if (mode == "triangles") {
        auto* to = raw(meshopt_encodeIndexBufferBound(count, 1u << 24));
        out.resize(meshopt_encodeIndexBuffer(to, out.size(), indices.data(), count));
    } else {
        auto* to = raw(meshopt_encodeIndexSequenceBound(count, 1u << 24));
        out.resize(meshopt_encodeIndexSequence(to, out.size(), indices.data(), count));
    }
    return out;
}

draco::DataType draco_type(int component) {
    switch (component) {
        case 5120:
            return draco::DT_INT8;
        case 5121:
            return draco::DT_UINT8;
        case 5122:
            return draco::DT_INT16;
        case 5123:
            return draco::DT_UINT16;
        case 5125:
            return draco::DT_UINT32;
        default:
            return draco::DT_FLOAT32;
    }
}

Bytes compress_draco(const std::vector<std::string>& args, const Bytes& in) {
    using Attribute = draco::GeometryAttribute;
    const auto faces = static_cast<std::uint32_t>(std::stoul(args[1])),
               points = static_cast<std::uint32_t>(std::stoul(args[2]));
    draco::Mesh mesh;
    mesh.set_num_points(points);
    std::size_t at = 0;
    for (std::uint32_t f = 0; f < faces; ++f) {
        std::uint32_t corner[3];
        std::memcpy(corner, in.data() + at, sizeof corner);
        at += sizeof corner;
        mesh.AddFace({draco::PointIndex(corner[0]), draco::PointIndex(corner[1]), draco::PointIndex(corner[2])});
    }
    for (std::size_t a = 3; a + 3 < args.size(); a += 4) {
        const std::string& kind = args[a];
        const draco::DataType type = draco_type(std::stoi(args[a + 1]));
        const int width = std::stoi(args[a + 2]);
        const int size = draco::DataTypeLength(type) * width;
        Attribute attribute;
        attribute.Init(kind == "position"   ? Attribute::POSITION
                       : kind == "normal"   ? Attribute::NORMAL
                       : kind == "texcoord" ? Attribute::TEX_COORD
                       : kind == "color"    ? Attribute::COLOR
                                            : Attribute::GENERIC,
                       nullptr, static_cast<std::int8_t>(width), type, args[a + 3] == "1", size, 0);
        const int id = mesh.AddAttribute(attribute, true, points);
        for (std::uint32_t v = 0; v < points; ++v, at += static_cast<std::size_t>(size))
            mesh.attribute(id)->SetAttributeValue(draco::AttributeValueIndex(v), in.data() + at);
    }
    draco::Encoder encoder;
    // The sequential method keeps the order of points.
    encoder.SetEncodingMethod(args[0] == "draco" ? draco::MESH_SEQUENTIAL_ENCODING
                                                 : draco::MESH_EDGEBREAKER_ENCODING);
    encoder.SetAttributeQuantization(Attribute::POSITION, 11);
    encoder.SetAttributeQuantization(Attribute::NORMAL, 8);
    encoder.SetAttributeQuantization(Attribute::TEX_COORD, 10);
    encoder.SetAttributeQuantization(Attribute::GENERIC, 8);
    draco::EncoderBuffer buffer;
    if (const draco::Status status = encoder.EncodeMeshToBuffer(mesh, &buffer); !status.ok()) {
        std::cerr << "sinew_streams: " << status.error_msg_string() << '\n';
        std::exit(1);
    }
    return {buffer.data(), buffer.data() + buffer.size()};
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() < 3) return 2;
    const Bytes in{std::istreambuf_iterator<char>(std::cin), {}};
    const Bytes out =
        (args[0] == "draco" || args[0] == "edgebreaker") ? compress_draco(args, in) : meshopt(args, in);
    std::cout.write(out.data(), static_cast<std::streamsize>(out.size()));
    return out.empty() || !std::cout.flush();
}
