/* A C program that uses only sinew.h: binds a bar of two bones, from bytes to bytes. */
#include <math.h>
#include <sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, snw_error()); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

/* A closed bar along y from 0 to 2: square rings, and a face at each end. */
static size_t write_bar(char* out) {
    char* at = out;
    const int rings = 21;
    for (int ring = 0; ring < rings; ++ring) {
        const double y = 2.0 * ring / (rings - 1);
        at += sprintf(at, "v -0.2 %g -0.2\nv -0.2 %g 0.2\nv 0.2 %g 0.2\nv 0.2 %g -0.2\n", y, y, y, y);
    }
    for (int ring = 0; ring + 1 < rings; ++ring)
        for (int side = 0; side < 4; ++side) {
            const int a = 4 * ring + side + 1, b = 4 * ring + (side + 1) % 4 + 1;
            at += sprintf(at, "f %d %d %d %d\n", a, b, b + 4, a + 4);
        }
    at += sprintf(at, "f 4 3 2 1\nf 81 82 83 84\n");
    return (size_t)(at - out);
}

static const char skeleton[] =
    "{\"bones\":[{\"name\":\"lower\",\"parent\":-1,\"head\":[0,0.1,0]},"
    "{\"name\":\"upper\",\"parent\":0,\"head\":[0,1,0],\"tail\":[0,1.9,0]}]}";

static const char in_centimetres[] =
    "{\"bones\":[{\"name\":\"lower\",\"parent\":-1,\"head\":[0,10,0]},"
    "{\"name\":\"upper\",\"parent\":0,\"head\":[0,100,0],\"tail\":[0,190,0]}]}";

/* A triangle below one node, with its vertices in a data URI or in a file. */
#define TRIANGLE(uri)                                                                                        \
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"                             \
    "\"nodes\":[{\"name\":\"root\",\"children\":[1]},{\"mesh\":0}],"                                         \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"                                     \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0]," \
    "\"max\":[1,1,0]}],"                                                                                     \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,\"uri\":\"" uri "\"}]}"
static const char prop[] =
    TRIANGLE("data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA");
static const char with_file[] = TRIANGLE("sinew-bar-test.bin");

static int stages = 0;
static void count_stage(const char* stage, double fraction, void* user) {
    CHECK(stage && *stage && fraction >= 0 && fraction <= 1);
    ++*(int*)user;
}

static void stop(const char* stage, double fraction, void* user) {
    (void)stage, (void)fraction;
    snw_cancel((snw_context*)user);
}

/* The results of snw_bind_progressive: their number, and a copy of the first coarse one. */
struct results {
    int coarse, final, go_on;
    snw_binding* kept;
    snw_context* cancels;
};
static int on_result(const snw_binding* binding, int final, void* user) {
    struct results* results = (struct results*)user;
    CHECK(binding && snw_binding_coverage(binding)[0] == 0);
    ++*(final ? &results->final : &results->coarse);
    if (!final && !results->kept) CHECK(snw_binding_copy(binding, &results->kept) == SNW_OK);
    if (results->cancels) snw_cancel(results->cancels);
    return results->go_on;
}

int main(void) {
    static char obj[16384];
    const size_t size = write_bar(obj);
    CHECK(snw_abi() == SNW_ABI);
    CHECK(strchr(snw_version(), '.'));

    snw_model* model = NULL;
    CHECK(snw_model_open(obj, size, "bar.obj", NULL, NULL, 0, NULL, &model) == SNW_USAGE);
    CHECK(!model && strstr(snw_error(), "skeleton"));
    CHECK(snw_model_open(obj, size, "bar.obj", NULL, skeleton, strlen(skeleton), "bar.json", &model) == SNW_OK);

    /* The same in centimetres, and what else a model is opened with. */
    snw_open_options options = {0};
    snw_model* other = NULL;
    CHECK(snw_model_open_with(obj, size, "bar.obj", &options, NULL, &other) == SNW_USAGE &&
          strstr(snw_error(), "sizeof"));
    options.size = sizeof options;
    CHECK(snw_model_open_with(obj, size, "bar.obj", NULL, NULL, &other) == SNW_USAGE && !other);
    options.skeleton = in_centimetres;
    options.skeleton_size = strlen(in_centimetres);
    CHECK(snw_model_open_with(obj, size, "bar.obj", &options, NULL, &other) == SNW_OK);
    snw_settings* plain = NULL;
    snw_binding* scaled = NULL;
    CHECK(snw_settings_new(&plain) == SNW_OK && snw_settings_set(plain, "resolution", "64") == SNW_OK);
    CHECK(snw_bind(other, plain, NULL, &scaled) == SNW_INPUT && !scaled);
    CHECK(strstr(snw_error(), "100 times larger") && strstr(snw_error(), "`skeleton-scale 0.01`"));
    snw_model_free(other);
    options.skeleton_scale = 0.01;
    CHECK(snw_model_open_with(obj, size, "bar.obj", &options, NULL, &other) == SNW_OK);
    CHECK(snw_bind(other, plain, NULL, &scaled) == SNW_OK);
    snw_binding_free(scaled);
    snw_model_free(other);
    snw_settings_free(plain);
    options.skeleton_scale = -1;
    CHECK(snw_model_open_with(obj, size, "bar.obj", &options, NULL, &other) == SNW_USAGE && !other);
    options.skeleton_scale = 2;
    options.skeleton = NULL;
    CHECK(snw_model_open_with(obj, size, "bar.obj", &options, NULL, &other) == SNW_USAGE && !other);
    CHECK(strstr(snw_error(), "skeleton-scale"));
    /* A prop, and a file that is larger than the context allows. */
    options.skeleton_scale = 0;
    CHECK(snw_model_open_with(prop, strlen(prop), "prop.gltf", &options, NULL, &other) == SNW_INPUT && !other);
    CHECK(strstr(snw_error(), "prop"));
    options.prop = 1;
    CHECK(snw_model_open_with(prop, strlen(prop), "prop.gltf", &options, NULL, &other) == SNW_OK);
    snw_model_free(other);
    FILE* file = fopen("sinew-bar-test.bin", "wb");
    CHECK(file && fseek(file, 2 << 20, SEEK_SET) == 0 && fputc(0, file) == 0 && fclose(file) == 0);
    snw_context* limited = NULL;
    CHECK(snw_context_new(&limited) == SNW_OK);
    snw_context_memory_limit(limited, 1 << 20);
    options.folder = ".";
    CHECK(snw_model_open_with(with_file, strlen(with_file), "file.gltf", &options, limited, &other) ==
          SNW_TOO_LARGE);
    CHECK(!other && strstr(snw_error(), "sinew-bar-test.bin"));
    snw_context_memory_limit(limited, 4 << 20);
    /* It is read now: all its vertices are at one place. */
    CHECK(snw_model_open_with(with_file, strlen(with_file), "file.gltf", &options, limited, &other) == SNW_INPUT);
    CHECK(strstr(snw_error(), "one position"));
    snw_context_free(limited);
    remove("sinew-bar-test.bin");

    size_t vertices, triangles, joints;
    snw_model_size(model, &vertices, &triangles, &joints);
    CHECK(vertices == 84 && triangles == 20 * 8 + 4 && joints == 2);
    CHECK(snw_model_positions(model)[4] == 0.0f && snw_model_triangles(model)[0] < 84);

    snw_settings* settings = NULL;
    CHECK(snw_settings_new(&settings) == SNW_OK);
    CHECK(snw_settings_set(settings, "resolution", "64") == SNW_OK);
    CHECK(snw_settings_set(settings, "resolution", "many") == SNW_USAGE && strstr(snw_error(), "resolution many"));
    snw_bytes* text = NULL;
    CHECK(snw_settings_command(settings, &text) == SNW_OK);
    CHECK(strcmp((const char*)snw_bytes_data(text), "--resolution 64") == 0 && snw_bytes_size(text) == 15);
    snw_bytes_free(text);

    snw_context* context = NULL;
    CHECK(snw_context_new(&context) == SNW_OK);
    snw_binding* binding = NULL;
    snw_context_progress(context, stop, context);
    CHECK(snw_bind(model, settings, context, &binding) == SNW_CANCELLED && !binding);
    snw_uncancel(context);
    snw_context_progress(context, count_stage, &stages);
    CHECK(snw_bind(model, settings, context, &binding) == SNW_OK);
    CHECK(stages > 0);
    for (size_t v = 0; v < vertices; ++v) CHECK(snw_binding_coverage(binding)[v] == 0);

    snw_weights* weights = NULL;
    CHECK(snw_weights_of(binding, model, settings, NULL, 0, context, NULL, &weights) == SNW_OK);
    uint16_t row_joints[84 * 2];
    float shares[84 * 2];
    CHECK(snw_weights_rows(weights, 2, row_joints, shares) == SNW_OK);
    for (size_t v = 0; v < vertices; ++v) {
        const float y = snw_model_positions(model)[3 * v + 1];
        CHECK(fabsf(shares[2 * v] + shares[2 * v + 1] - 1) < 1e-6f);
        if (y < 0.7f) CHECK(row_joints[2 * v] == 0 && shares[2 * v] > 0.9f);
        if (y > 1.3f) CHECK(row_joints[2 * v] == 1 && shares[2 * v] > 0.9f);
    }

    /* A first result at 64, which is the resolution of the bind above. */
    struct results results = {0, 0, 1, NULL, NULL};
    snw_binding* fine = NULL;
    snw_weights* early = NULL;
    float apart[84];
    CHECK(snw_bind_progressive(model, settings, on_result, &results, context, &fine) == SNW_OK);
    CHECK(results.coarse == 0 && results.final == 1);
    snw_binding_free(fine);
    CHECK(snw_settings_set(settings, "resolution", "128") == SNW_OK);
    CHECK(snw_bind_progressive(model, settings, on_result, &results, context, &fine) == SNW_OK);
    CHECK(results.coarse == 1 && results.final == 2 && results.kept);
    CHECK(snw_binding_report(results.kept, model, settings, &text) == SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(text), "\"resolution\":64,"));
    snw_bytes_free(text);
    CHECK(snw_weights_of(results.kept, model, settings, NULL, 0, context, NULL, &early) == SNW_OK);
    CHECK(snw_weights_difference(early, weights, apart) == SNW_OK);
    for (size_t v = 0; v < vertices; ++v) CHECK(apart[v] == 0);
    snw_weights_free(early);
    snw_binding* whole = NULL;
    snw_weights* late = NULL;
    CHECK(snw_bind(model, settings, context, &whole) == SNW_OK);
    CHECK(snw_weights_of(whole, model, settings, NULL, 0, context, NULL, &early) == SNW_OK);
    CHECK(snw_weights_of(fine, model, settings, NULL, 0, context, NULL, &late) == SNW_OK);
    CHECK(snw_weights_difference(early, late, apart) == SNW_OK);
    for (size_t v = 0; v < vertices; ++v) CHECK(apart[v] == 0);
    snw_weights_free(early);
    snw_weights_free(late);
    snw_binding_free(whole);
    snw_binding_free(fine);
    results.go_on = 0; /* stop: the call returns the coarse result */
    CHECK(snw_bind_progressive(model, settings, on_result, &results, context, &fine) == SNW_OK);
    CHECK(results.coarse == 2 && results.final == 2);
    CHECK(snw_weights_of(fine, model, settings, NULL, 0, context, NULL, &early) == SNW_OK);
    CHECK(snw_weights_difference(early, weights, apart) == SNW_OK);
    for (size_t v = 0; v < vertices; ++v) CHECK(apart[v] == 0);
    snw_weights_free(early);
    snw_binding_free(fine);
    results.go_on = 1;
    results.cancels = context;
    CHECK(snw_bind_progressive(model, settings, on_result, &results, context, &fine) == SNW_CANCELLED && !fine);
    CHECK(results.coarse == 3 && results.final == 2);
    snw_uncancel(context);
    snw_binding_free(results.kept);
    CHECK(snw_bind_progressive(model, settings, NULL, NULL, context, &fine) == SNW_USAGE && !fine);
    CHECK(snw_settings_set(settings, "cooling", "100") == SNW_OK);
    CHECK(snw_bind_progressive(model, settings, on_result, &results, context, &fine) == SNW_USAGE && !fine);
    CHECK(strstr(snw_error(), "cooling"));
    CHECK(snw_settings_set(settings, "cooling", "250") == SNW_OK);
    CHECK(snw_settings_set(settings, "resolution", "64") == SNW_OK);

    /* Leaves of the volume: they extend the bar's width of 0.32 by voxels of 2 / 61.5 on each side. */
    snw_bytes* volume = NULL;
    CHECK(snw_volume(model, settings, 10, NULL, &volume) == SNW_TOO_LARGE && !volume &&
          strstr(snw_error(), "leaves"));
    CHECK(snw_volume(model, settings, 1000000, NULL, &volume) == SNW_OK && snw_bytes_size(volume) % 20 == 0);
    uint8_t* const crossing = malloc(triangles);
    snw_bytes* edges = NULL;
    CHECK(snw_defects(model, NULL, NULL, NULL) == SNW_USAGE &&
          snw_defects(NULL, NULL, crossing, &edges) == SNW_USAGE);
    CHECK(snw_defects(model, NULL, crossing, &edges) == SNW_OK && snw_bytes_size(edges) == 0);
    for (size_t t = 0; t < triangles; ++t) CHECK(crossing[t] == 0);
    snw_bytes_free(edges);
    free(crossing);
    double filled = 0, within = 0;
    for (size_t at = 0; at < snw_bytes_size(volume); at += 20) {
        float leaf[5];
        memcpy(leaf, snw_bytes_data(volume) + at, sizeof leaf);
        CHECK(fabsf(leaf[0]) < 0.25f && leaf[1] > -0.05f && leaf[1] < 2.05f && (leaf[4] == 0 || leaf[4] == 1));
        filled += pow(leaf[3], 3);
        if (leaf[4] == 0) within += pow(leaf[3], 3);
    }
    CHECK(filled > 0.32 && filled < 0.48 && within > 0.2 && within < 0.32);
    snw_bytes_free(volume);

    /* The upper bone, rotated by 90 degrees about z: its end goes from (0, 2, 0) to (-1, 1, 0). */
    double pose[20] = {0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1};
    pose[12] = pose[13] = sqrt(0.5);
    double matrices[24];
    float posed[84 * 3];
    CHECK(snw_pose_matrices(model, pose, matrices) == SNW_OK);
    CHECK(snw_deform(model, weights, matrices, SNW_LINEAR_BLEND, NULL, posed, NULL) == SNW_OK);
    CHECK(fabsf(posed[3 * 83] + 1) < 0.02f && fabsf(posed[3 * 83 + 1] - 1.2f) < 0.02f);

    /* A picture of 16 x 32 opaque pixels with two bones; its "file" may be any bytes. */
    static uint8_t pixels[4 * 16 * 32];
    memset(pixels, 255, sizeof pixels);
    const char* bones =
        "{\"bones\":[{\"name\":\"a\",\"head\":[8,30]},{\"name\":\"b\",\"parent\":\"a\",\"head\":[8,16]}]}";
    snw_bytes* flat = NULL;
    CHECK(snw_cutout_glb(pixels, 16, 32, "png", 3, "doll.png", bones, strlen(bones), 0, NULL, &flat) == SNW_OK);
    CHECK(snw_bytes_size(flat) > 1000 && memcmp(snw_bytes_data(flat), "glTF", 4) == 0);
    snw_bytes_free(flat);
    CHECK(snw_cutout_glb(pixels, 16, 32, "png", 3, "doll.png", "{}", 2, 0, NULL, &flat) == SNW_INPUT && !flat);
    const char* layers =
        "{\"bones\":[{\"name\":\"a\",\"head\":[8,30],\"tail\":[8,2]}],\"layers\":["
        "{\"image\":\"doll.png\"},{\"name\":\"hat\",\"image\":\"doll.png\",\"offset\":[4,0]}]}";
    const snw_picture doll = {"doll.png", pixels, 16, 32, "png", 3};
    CHECK(snw_cutout_layers_glb(&doll, 1, "doll.json", layers, strlen(layers), 0, NULL, &flat) == SNW_OK);
    CHECK(snw_bytes_size(flat) > 1000 && memcmp(snw_bytes_data(flat), "glTF", 4) == 0);
    snw_bytes_free(flat);
    CHECK(snw_cutout_layers_glb(NULL, 0, "doll.json", layers, strlen(layers), 0, NULL, &flat) != SNW_OK && !flat);
    CHECK(strstr(snw_error(), "doll.png is not among the pictures"));
    CHECK(snw_cutout_glb(pixels, 0, 32, "png", 3, "doll.png", bones, strlen(bones), 0, NULL, &flat) == SNW_INPUT);

    snw_bytes* glb = NULL;
    CHECK(snw_save_glb(model, weights, settings, NULL, &glb) == SNW_OK);
    CHECK(snw_bytes_size(glb) > 1000 && memcmp(snw_bytes_data(glb), "glTF", 4) == 0);
    snw_model* again = NULL;
    snw_weights* saved = NULL;
    float difference[84];
    CHECK(snw_model_open(snw_bytes_data(glb), snw_bytes_size(glb), "bar.glb", NULL, NULL, 0, NULL, &again) ==
          SNW_OK);
    CHECK(snw_model_weights(again, &saved) == SNW_OK);
    CHECK(snw_weights_difference(weights, saved, difference) == SNW_OK);
    for (size_t v = 0; v < vertices; ++v) CHECK(difference[v] < 1e-6f);

    /* An animation: the upper bone rotates by 90 degrees within two seconds. */
    double poses[40], half[20];
    const double times[2] = {0, 2};
    memcpy(poses, pose, sizeof pose);
    memcpy(poses + 20, pose, sizeof pose);
    poses[12] = 0;
    poses[13] = 1;
    memcpy(half, pose, sizeof pose);
    half[12] = sin(atan(1.0) / 2);
    half[13] = cos(atan(1.0) / 2);
    const snw_animation animation = {"bend", 0, 2, times, poses};
    const snw_animation empty = {"empty", 0, 0, NULL, NULL};
    snw_bytes *moving = NULL, *notes = NULL, *info = NULL;
    CHECK(snw_save_glb_animated(model, weights, settings, &animation, 1, &notes, &moving) == SNW_OK);
    CHECK(snw_bytes_size(notes) == 0);
    snw_bytes_free(notes);
    snw_model* played = NULL;
    double found[24], wanted[24];
    CHECK(snw_model_open(snw_bytes_data(moving), snw_bytes_size(moving), "bend.glb", NULL, NULL, 0, NULL,
                         &played) == SNW_OK);
    CHECK(snw_model_json(played, settings, NULL, &info) == SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(info), "\"name\":\"bend\""));
    for (int at = 0; at < 3; ++at) {
        CHECK(snw_clip_matrices(played, 0, at, found) == SNW_OK);
        CHECK(snw_pose_matrices(model, at == 0 ? poses : at == 1 ? half : pose, wanted) == SNW_OK);
        for (int i = 0; i < 24; ++i) CHECK(fabs(found[i] - wanted[i]) < 1e-6);
    }
    snw_bytes_free(info);
    snw_bytes_free(moving);
    snw_model_free(played);
    CHECK(snw_save_glb_animated(model, weights, settings, &empty, 1, NULL, &moving) == SNW_USAGE && !moving);
    CHECK(strstr(snw_error(), "\"empty\" has no keys"));
    CHECK(snw_save_glb_animated(model, weights, settings, NULL, 1, NULL, &moving) == SNW_USAGE && !moving);

    snw_binding* none = NULL;
    CHECK(snw_bind(NULL, settings, NULL, &none) == SNW_USAGE && strstr(snw_error(), "model must not be null"));
    snw_bytes_free(glb);
    snw_binding_free(binding);
    snw_weights_free(saved);
    snw_weights_free(weights);
    snw_model_free(again);
    snw_context_free(context);
    snw_settings_free(settings);
    snw_model_free(model);
    puts("capi: a bar bound, posed and saved from C");
    return 0;
}
