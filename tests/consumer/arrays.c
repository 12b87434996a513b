/* A C program that binds arrays: a tube of quads around two bones, with one vertex kept as it was. */
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

enum { RINGS = 21, SIDES = 8, V = RINGS * SIDES, F = (RINGS - 1) * SIDES };

static float positions[3 * V];
static uint32_t sizes[F], corners[4 * F];

static void make_tube(void) {
    for (int ring = 0; ring < RINGS; ++ring)
        for (int side = 0; side < SIDES; ++side) {
            float* p = positions + 3 * (ring * SIDES + side);
            const double turn = 8 * atan(1.0) * side / SIDES;
            p[0] = (float)(0.2 * cos(turn));
            p[1] = (float)(2.0 * ring / (RINGS - 1));
            p[2] = (float)(-0.2 * sin(turn));
        }
    for (int ring = 0; ring + 1 < RINGS; ++ring)
        for (int side = 0; side < SIDES; ++side) {
            const int face = ring * SIDES + side, next = (side + 1) % SIDES;
            const int square[4] = {face, ring * SIDES + next, (ring + 1) * SIDES + next, face + SIDES};
            sizes[face] = 4;
            for (int i = 0; i < 4; ++i) corners[4 * face + i] = (uint32_t)square[i];
        }
}

int main(void) {
    make_tube();
    const snw_mesh mesh = {"tube", V, positions, F, sizes, corners, NULL};
    const char* const names[2] = {"lower", "upper"};
    const int32_t parents[2] = {-1, 0};
    const float heads[6] = {0, 0.1f, 0, 0, 1, 0}, tails[6] = {0, 1, 0, 0, 1.9f, 0};
    snw_arrays arrays = {"tube", &mesh, 1, 2, names, parents, NULL, heads, tails, NULL, NULL, NULL, NULL, NULL};
    snw_model* model = NULL;
    snw_settings* settings = NULL;
    snw_context* context = NULL;
    snw_binding* binding = NULL;
    snw_weights *weights = NULL, *kept = NULL, *mixed = NULL;
    CHECK(snw_model_from_arrays(&arrays, &model) == SNW_OK);
    CHECK(snw_settings_new(&settings) == SNW_OK && snw_context_new(&context) == SNW_OK);
    CHECK(snw_bind(model, settings, context, &binding) == SNW_OK);
    CHECK(snw_context_fraction(context) == 1);
    CHECK(snw_weights_of(binding, model, settings, NULL, 0, context, NULL, &weights) == SNW_OK);

    /* A template skeleton for a mesh alone, which then binds. */
    snw_arrays unrigged = {"tube", &mesh, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    snw_model *bare = NULL, *rigged = NULL;
    snw_bytes *templates = NULL, *report = NULL, *bones = NULL;
    CHECK(snw_rig_templates(&templates) == SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(templates), "{\"name\":\"snake\",\"summary\":"));
    CHECK(snw_model_from_arrays(&unrigged, &bare) == SNW_OK);
    CHECK(snw_rig(bare, "snake", 64, context, &report, &bones) == SNW_OK && snw_context_fraction(context) == 1);
    CHECK(strstr((const char*)snw_bytes_data(report), "\"template\":\"snake\""));
    CHECK(strstr((const char*)snw_bytes_data(report), "\"limbs_found\":2"));
    CHECK(strstr((const char*)snw_bytes_data(bones), "\"spine.12\""));
    static const char obj[] =
        "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv -1 9 -1\nv 1 9 -1\nv 1 9 1\nv -1 9 1\n"
        "f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n";
    snw_open_options with = {.size = sizeof with};
    with.skeleton = snw_bytes_data(bones), with.skeleton_size = snw_bytes_size(bones);
    CHECK(snw_model_open_with(obj, strlen(obj), "box.obj", &with, NULL, &rigged) == SNW_OK);
    size_t joints_placed = 0;
    snw_model_size(rigged, NULL, NULL, &joints_placed);
    CHECK(joints_placed == 13);
    snw_bytes_free(bones);
    snw_bytes_free(report);
    CHECK(snw_rig(bare, "snail", 64, NULL, &report, &bones) == SNW_USAGE && !bones && !report);
    CHECK(snw_rig(bare, NULL, 100, NULL, NULL, &bones) == SNW_USAGE && !bones && strstr(snw_error(), "128"));
    CHECK(snw_rig(NULL, NULL, 0, NULL, NULL, &bones) == SNW_USAGE && !bones);
    snw_bytes_free(templates);
    snw_model_free(rigged);
    snw_model_free(bare);

    size_t vertices = 0, entries = 0;
    snw_weights_size(weights, &vertices, &entries);
    CHECK(vertices == V && entries >= V && entries <= 2 * V);
    static float dense[2 * V];
    CHECK(snw_weights_dense(weights, 2, dense) == SNW_OK);
    for (int v = 0; v < V; ++v) {
        CHECK(fabs(dense[2 * v] + dense[2 * v + 1] - 1) < 1e-6);
        if (positions[3 * v + 1] < 0.5f) CHECK(dense[2 * v] > 0.9f);
        if (positions[3 * v + 1] > 1.5f) CHECK(dense[2 * v + 1] > 0.9f);
    }

    /* Vertex 0 keeps weights that it had. */
    static uint64_t offsets[V + 1];
    static uint8_t locked[V] = {1};
    const uint32_t joint = 1;
    const float share = 1;
    for (int v = 1; v <= V; ++v) offsets[v] = 1;
    CHECK(snw_weights_from_rows(V, 2, offsets, &joint, &share, &kept) == SNW_OK);
    CHECK(snw_weights_keep(weights, kept, locked, NULL, 0, 4, NULL, &mixed) == SNW_OK);
    static float upper[V];
    CHECK(snw_weights_joint(mixed, 1, upper) == SNW_OK);
    CHECK(upper[0] == 1 && upper[1] == dense[3]);

    /* The same by the model: only vertex 0 changes, and the others, which have no weights, stay without. */
    snw_weights* alone = NULL;
    locked[1] = 2; /* any number but 0 */
    CHECK(snw_model_select(model, locked, NULL) == SNW_OK);
    CHECK(snw_weights_of(binding, model, settings, NULL, 0, context, NULL, &alone) == SNW_OK);
    CHECK(snw_weights_joint(alone, 1, upper) == SNW_OK);
    CHECK(upper[0] == dense[1] && upper[1] == dense[3] && upper[V - 1] == 0);
    snw_weights_free(alone);
    CHECK(snw_model_select(model, NULL, NULL) == SNW_OK);
    CHECK(snw_weights_of(binding, model, settings, NULL, 0, context, NULL, &alone) == SNW_OK);
    CHECK(snw_weights_joint(alone, 1, upper) == SNW_OK && upper[V - 1] == dense[2 * V - 1]);
    snw_weights_free(alone);
    /* There are no own weights that could stay on a joint. */
    CHECK(snw_model_select(model, NULL, locked) == SNW_USAGE && strstr(snw_error(), "no weights"));

    /* Fit to ship, but not if one joint for each vertex is the limit; and a picture, where the build draws. */
    snw_bytes* text = NULL;
    snw_check_options check = {.size = sizeof check};
    CHECK(snw_check_json(model, NULL, NULL, context, &text) == SNW_USAGE && !text);
    CHECK(snw_check_json(model, weights, NULL, context, &text) == SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(text), "\"passed\":true"));
    snw_bytes_free(text);
    check.thresholds = "{\"influences\": 1}";
    check.only = "influences\ntorn";
    CHECK(snw_check_json(model, weights, &check, context, &text) == SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(text), "\"passed\":false,\"errors\":1"));
    snw_bytes_free(text);
    /* Compared with themselves, under gates that hold, and one that cannot. */
    CHECK(snw_compare_gates_json(model, weights, weights, "{\"max-l1\": 0, \"max-unweighted\": 0}", context, &text) ==
          SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(text), "{\"option\":\"max-l1\",\"limit\":0.0,\"value\":0.0,\"passed\":true}"));
    snw_bytes_free(text);
    CHECK(snw_compare_gates_json(model, weights, mixed, "{\"max-l1\": 0}", context, &text) == SNW_OK);
    CHECK(strstr((const char*)snw_bytes_data(text), "\"passed\":false"));
    snw_bytes_free(text);
    CHECK(snw_compare_gates_json(model, weights, weights, NULL, context, &text) == SNW_OK);
    CHECK(!strstr((const char*)snw_bytes_data(text), "gates"));
    snw_bytes_free(text);
    CHECK(snw_compare_gates_json(model, weights, weights, "{\"max-l2\": 0}", context, &text) == SNW_INPUT && !text);
    CHECK(strstr(snw_error(), "did you mean 'max-l1'"));
    snw_render_options picture = {.size = sizeof picture};
    picture.width = picture.height = 64;
    picture.view = "weights";
    CHECK(snw_render_png(model, weights, &picture, context, &text) == SNW_USAGE && !text);
    picture.view = "strongest";
    const snw_status drawn = snw_render_png(model, weights, &picture, context, &text);
    CHECK(drawn == SNW_OK || drawn == SNW_IO);
    CHECK(drawn == SNW_IO || (snw_bytes_size(text) > 100 && snw_bytes_data(text)[1] == 'P'));
    snw_bytes_free(text);

    corners[5] = V;
    snw_model* broken = NULL;
    CHECK(snw_model_from_arrays(&arrays, &broken) == SNW_INPUT && !broken);

    snw_weights_free(mixed);
    snw_weights_free(kept);
    snw_weights_free(weights);
    snw_binding_free(binding);
    snw_context_free(context);
    snw_settings_free(settings);
    snw_model_free(model);
    puts("arrays: a tube bound from C");
    return 0;
}
