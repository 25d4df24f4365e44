#include "executor/node/model_facts.h"

#include "common/base/fs.h"
#include "common/base/text.h"
#include "common/gguf/gguf.h"

#include <stdlib.h>
#include <string.h>

static int copy_entry(const struct gguf_entry *e, void *arg, struct err *err)
{
    json_t *out = arg;
    (void)err;
    if (strcmp(e->key, "general.architecture") == 0 && e->type == GGUF_STRING && text_is_name(e->text))
        json_object_set_new(out, "architecture", json_string(e->text));
    /* The key has the architecture in front: llama.context_length. */
    if (text_ends_with(e->key, ".context_length") && e->type != GGUF_STRING && e->type != GGUF_ARRAY)
        json_object_set_new(out, "context_length", json_integer(strtoll(e->text, NULL, 10)));
    return 0;
}

static json_t *printable(const char *text)
{
    char clean[512];
    text_printable_fixed(clean, sizeof clean, text, strlen(text));
    return json_string(clean);
}

static int read_model(const char *path, json_t *out, struct err *err)
{
    char full[FS_PATH_MAX];
    struct gguf g;
    const char *home = getenv("HOME");
    if (fs_join(full, err, path[0] == '/' || !home ? "" : home, path) != 0 ||
        gguf_open(&g, full, false, err) != 0)
        return -1;
    json_object_set_new(out, "size_bytes", json_integer((json_int_t)g.size));
    int rc = gguf_each(&g, copy_entry, out, err);
    gguf_close(&g);
    return rc;
}

json_t *model_facts(const char *path)
{
    struct err err = {0};
    json_t *out = json_object();
    json_object_set_new(out, "path", printable(path));
    if (read_model(path, out, &err) != 0)
        json_object_set_new(out, "error", printable(err.msg));
    return out;
}
