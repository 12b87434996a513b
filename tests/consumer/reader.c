/* A file of a format that another library reads, here PLY: a process of the installed program reads it, with the
 * limit of memory of the call. Read in this process, it would be a model. */
#include <sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char skeleton[] = "{\"bones\":[{\"name\":\"only\",\"parent\":-1,\"head\":[0,0,0],\"tail\":[1,0,0]}]}";

int main(void) {
    const int columns = 200, rows = 500;
    char* const ply = malloc((size_t)(columns + 1) * (size_t)(rows + 1) * 60);
    char* at = ply;
    at += sprintf(at,
                  "ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
                  "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
                  (columns + 1) * (rows + 1), columns * rows);
    for (int v = 0; v < (columns + 1) * (rows + 1); ++v)
        at += sprintf(at, "%d %d 0\n", v % (columns + 1), v / (columns + 1));
    for (int f = 0; f < columns * rows; ++f) {
        const int a = f / columns * (columns + 1) + f % columns;
        at += sprintf(at, "4 %d %d %d %d\n", a, a + 1, a + columns + 2, a + columns + 1);
    }
    snw_context* context = NULL;
    if (snw_context_new(&context) != SNW_OK) return 1;
    snw_open_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.skeleton = skeleton;
    options.skeleton_size = sizeof skeleton - 1;
    snw_model* model = NULL;
    snw_status status = snw_model_open_with(ply, (size_t)(at - ply), "sheet.ply", &options, context, &model);
    if (status != SNW_OK) {
        fprintf(stderr, "%s\n", snw_error());
        return strstr(snw_error(), "without assimp") ? 0 : 1;
    }
    snw_model_free(model);
    snw_context_memory_limit(context, 8 << 20);
    status = snw_model_open_with(ply, (size_t)(at - ply), "sheet.ply", &options, context, &model);
    if (status != SNW_TOO_LARGE || !strstr(snw_error(), "reading it takes more than 8 MB")) {
        fprintf(stderr, "status %d: %s\n", (int)status, snw_error());
        return 1;
    }
    snw_context_free(context);
    free(ply);
    return 0;
}
