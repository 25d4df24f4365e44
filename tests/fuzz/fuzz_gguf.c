/* The metadata of a model file: read whole, looked up, and a value set in place that changes nothing else. */
#include "common/gguf/gguf.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    uint64_t entries, offsets;
    struct gguf_entry first;
};

static int note(const struct gguf_entry *e, void *arg, struct err *err)
{
    struct seen *seen = arg;
    (void)err;
    fuzz_check(e->type < GGUF_TYPE_COUNT && strlen(e->key) < GGUF_KEY_MAX && strlen(e->text) < GGUF_TEXT_MAX);
    fuzz_check(gguf_type_name(e->type) != NULL);
    if (seen->entries++ == 0)
        seen->first = *e;
    seen->offsets += e->offset;
    return 0;
}

static int read_all(struct gguf *g, struct seen *seen)
{
    struct err err = {0};
    *seen = (struct seen){.entries = 0};
    int rc = gguf_each(g, note, seen, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    return rc;
}

static int note_tensor(const struct gguf_tensor *t, void *arg, struct err *err)
{
    (void)err;
    fuzz_check(t->n_dims >= 1 && t->n_dims <= GGUF_DIMS_MAX && strlen(t->name) < GGUF_KEY_MAX);
    for (int i = 0; i < GGUF_DIMS_MAX; i++)
        fuzz_check(t->ne[i] > 0);
    fuzz_check(t->offset < *(uint64_t *)arg);
    return 0;
}

static void read_tensors(struct gguf *g)
{
    struct err err = {0};
    int rc = gguf_each_tensor(g, note_tensor, &g->size, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
}

static void set_first(struct gguf *g, const struct seen *before)
{
    struct seen after;
    struct err err = {0};
    int rc = gguf_set(g, &before->first, "1", &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    fuzz_check(read_all(g, &after) == 0);
    fuzz_check(after.entries == before->entries && after.offsets == before->offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gguf g;
    char path[32];
    struct seen seen;
    struct gguf_entry found;
    struct err err = {0};
    int fd = fuzz_file(data, size, path), rc = gguf_open(&g, path, true, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    if (rc == 0) {
        if (read_all(&g, &seen) == 0 && seen.entries > 0)
            set_first(&g, &seen);
        read_tensors(&g);
        rc = gguf_find(&g, "llama.context_length", &found, &err);
        fuzz_check_err(rc, &err, ERR_INPUT);
        gguf_close(&g);
    }
    close(fd);
    return 0;
}
