#include "common/gguf/gguf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t entries_max = 1 << 20;
static const uint64_t tensors_max = 1 << 20;
static const uint32_t alignment_default = 32, alignment_max = 1 << 24;
enum { ARRAYS_NESTED_MAX = 8 };

static const struct {
    const char *name;
    unsigned size; /* in bytes; 0 for strings and arrays */
} types[GGUF_TYPE_COUNT] = {
    [GGUF_U8] = {"u8", 1},       [GGUF_I8] = {"i8", 1},     [GGUF_U16] = {"u16", 2},
    [GGUF_I16] = {"i16", 2},     [GGUF_U32] = {"u32", 4},   [GGUF_I32] = {"i32", 4},
    [GGUF_F32] = {"f32", 4},     [GGUF_BOOL] = {"bool", 1}, [GGUF_STRING] = {"string", 0},
    [GGUF_ARRAY] = {"array", 0}, [GGUF_U64] = {"u64", 8},   [GGUF_I64] = {"i64", 8},
    [GGUF_F64] = {"f64", 8},
};

const char *gguf_type_name(enum gguf_type t)
{
    return types[t].name;
}

unsigned gguf_type_size(enum gguf_type t)
{
    return types[t].size;
}

static int fail_at(const struct gguf *g, uint64_t offset, struct err *err, const char *what)
{
    return err_set(err, ERR_INPUT, "%s: offset %" PRIu64 ": %s", g->path, offset, what);
}

/* The length of such a value is unknown, so nothing after it can be read. */
static int fail_type(const struct gguf *g, uint64_t offset, const char *what, uint32_t type, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: offset %" PRIu64 ": %s the unknown type %" PRIu32
                   " (0 to %d are known), so where it ends is unknown",
                   g->path, offset, what, type, GGUF_TYPE_COUNT - 1);
}

static int fill_window(struct gguf *g, struct err *err)
{
    ssize_t n;
    do
        n = pread(g->fd, g->window, sizeof g->window, (off_t)g->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: offset %" PRIu64 ": cannot read", g->path, g->at);
    if (n == 0)
        return fail_at(g, g->at, err, "the file ends in the middle of its metadata (truncated)");
    g->window_at = g->at;
    g->window_len = (uint32_t)n;
    return 0;
}

static int read_bytes(struct gguf *g, void *out, uint64_t len, struct err *err)
{
    unsigned char *to = out;
    while (len > 0) {
        bool inside = g->at >= g->window_at && g->at < g->window_at + g->window_len;
        if (!inside && fill_window(g, err) != 0)
            return -1;
        uint64_t from = g->at - g->window_at, n = g->window_len - from;
        if (n > len)
            n = len;
        memcpy(to, g->window + from, n);
        to += n;
        g->at += n;
        len -= n;
    }
    return 0;
}

static int skip_bytes(struct gguf *g, uint64_t len, const char *what, struct err *err)
{
    if (len > g->size - g->at)
        return fail_at(g, g->at, err, what);
    g->at += len;
    return 0;
}

/* The format is little-endian, like all machines that this is built for. */
static int read_u32(struct gguf *g, uint32_t *out, struct err *err)
{
    return read_bytes(g, out, sizeof *out, err);
}

static int read_u64(struct gguf *g, uint64_t *out, struct err *err)
{
    return read_bytes(g, out, sizeof *out, err);
}

static int read_header(struct gguf *g, struct err *err)
{
    char magic[4];
    if (read_bytes(g, magic, sizeof magic, err) != 0)
        return -1;
    if (memcmp(magic, "GGUF", 4) != 0)
        return fail_at(g, 0, err, "not a GGUF file (the magic is missing)");
    if (read_u32(g, &g->version, err) != 0)
        return -1;
    if (g->version != 2 && g->version != 3)
        return err_set(err, ERR_INPUT, "%s: offset 4: GGUF version %" PRIu32 " is not known (2 and 3 are)%s",
                       g->path, g->version, g->version > 0xffff ? "; a big-endian file?" : "");
    if (read_u64(g, &g->n_tensors, err) != 0 || read_u64(g, &g->n_entries, err) != 0)
        return -1;
    if (g->n_tensors > tensors_max)
        return fail_at(g, 8, err, "an impossible number of tensors");
    if (g->n_entries > entries_max)
        return fail_at(g, 16, err, "an impossible number of metadata entries");
    return 0;
}

int gguf_open(struct gguf *g, const char *path, bool writable, struct err *err)
{
    struct stat st;
    memset(g, 0, sizeof *g);
    g->path = path;
    g->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (g->fd < 0 && errno != ENXIO && errno != EISDIR)
        return err_set_errno(err, ERR_INPUT, errno, "%s: cannot open", path);
    if (fstat(g->fd, &st) != 0 || !S_ISREG(st.st_mode))
        err_set(err, ERR_INPUT, "%s: not a regular file", path);
    else {
        g->size = (uint64_t)st.st_size;
        if (read_header(g, err) == 0)
            return 0;
    }
    gguf_close(g);
    return -1;
}

void gguf_close(struct gguf *g)
{
    if (g->fd >= 0)
        close(g->fd);
    g->fd = -1;
}

/* Reads a key of the metadata, or a tensor's name. out: char[GGUF_KEY_MAX]. */
static int read_name(struct gguf *g, char *out, struct err *err)
{
    uint64_t len, at = g->at;
    if (read_u64(g, &len, err) != 0)
        return -1;
    if (len == 0 || len >= GGUF_KEY_MAX)
        return fail_at(g, at, err, "the length of a key or name is 0 or over the limit");
    if (read_bytes(g, out, len, err) != 0)
        return -1;
    out[len] = '\0';
    if (strlen(out) != len)
        return fail_at(g, at, err, "a key or name holds a NUL byte");
    return 0;
}

static void format_scalar(struct gguf_entry *e, const unsigned char *raw)
{
    union {
        uint64_t u;
        int64_t i;
        float f;
        double d;
    } v = {0};
    memcpy(&v, raw, types[e->type].size);
    int shift = 64 - 8 * (int)types[e->type].size;
    int64_t extended = (int64_t)(v.u << shift) >> shift;
    switch (e->type) {
    case GGUF_U8:
    case GGUF_U16:
    case GGUF_U32:
    case GGUF_U64:
        snprintf(e->text, sizeof e->text, "%" PRIu64, v.u);
        break;
    case GGUF_I8:
    case GGUF_I16:
    case GGUF_I32:
    case GGUF_I64:
        snprintf(e->text, sizeof e->text, "%" PRId64, extended);
        break;
    case GGUF_F32:
        snprintf(e->text, sizeof e->text, "%.9g", (double)v.f);
        break;
    case GGUF_F64:
        snprintf(e->text, sizeof e->text, "%.17g", v.d);
        break;
    case GGUF_BOOL:
        snprintf(e->text, sizeof e->text, "%s", v.u ? "true" : "false");
        break;
    case GGUF_STRING:
    case GGUF_ARRAY:
    case GGUF_TYPE_COUNT:
        break;
    }
}

static int read_string(struct gguf *g, struct gguf_entry *e, struct err *err)
{
    if (read_u64(g, &e->count, err) != 0)
        return -1;
    e->offset = g->at;
    if (skip_bytes(g, e->count, "a string is longer than the file", err) != 0)
        return -1;
    uint64_t end = g->at, head = e->count < GGUF_TEXT_MAX - 1 ? e->count : GGUF_TEXT_MAX - 1;
    g->at = e->offset;
    if (read_bytes(g, e->text, head, err) != 0)
        return -1;
    e->text[head] = '\0';
    g->at = end;
    return 0;
}

static int skip_strings(struct gguf *g, uint64_t count, struct err *err)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t len;
        if (read_u64(g, &len, err) != 0 || skip_bytes(g, len, "a string is longer than the file", err) != 0)
            return -1;
    }
    return 0;
}

/* levels: how deeply the elements may be nested arrays themselves. */
static int skip_array(struct gguf *g, uint32_t *element, uint64_t *count, int levels, struct err *err)
{
    uint64_t at = g->at;
    if (read_u32(g, element, err) != 0 || read_u64(g, count, err) != 0)
        return -1;
    if (*element >= GGUF_TYPE_COUNT)
        return fail_type(g, at, "an array of", *element, err);
    if (*element == GGUF_STRING)
        return skip_strings(g, *count, err);
    if (*element == GGUF_ARRAY) {
        if (levels == 0)
            return fail_at(g, at, err, "arrays are nested too deeply");
        for (uint64_t i = 0; i < *count; i++) {
            uint32_t inner;
            uint64_t inner_count;
            if (skip_array(g, &inner, &inner_count, levels - 1, err) != 0)
                return -1;
        }
        return 0;
    }
    if (*count > (g->size - g->at) / types[*element].size)
        return fail_at(g, at, err, "an array is longer than the file");
    return skip_bytes(g, *count * types[*element].size, "an array is longer than the file", err);
}

static int read_array(struct gguf *g, struct gguf_entry *e, struct err *err)
{
    uint32_t element;
    e->offset = g->at + sizeof element + sizeof e->count;
    if (skip_array(g, &element, &e->count, ARRAYS_NESTED_MAX, err) != 0)
        return -1;
    e->element = (enum gguf_type)element;
    return 0;
}

static int read_entry(struct gguf *g, struct gguf_entry *e, struct err *err)
{
    uint32_t type;
    unsigned char raw[8] = {0};
    *e = (struct gguf_entry){0};
    if (read_name(g, e->key, err) != 0)
        return -1;
    uint64_t at = g->at;
    if (read_u32(g, &type, err) != 0)
        return -1;
    if (type >= GGUF_TYPE_COUNT)
        return fail_type(g, at, "a value of", type, err);
    e->type = (enum gguf_type)type;
    if (e->type == GGUF_STRING)
        return read_string(g, e, err);
    if (e->type == GGUF_ARRAY)
        return read_array(g, e, err);
    e->offset = g->at;
    if (read_bytes(g, raw, types[type].size, err) != 0)
        return -1;
    format_scalar(e, raw);
    return 0;
}

/* An invalid alignment is an error only once tensors are read, so that the metadata of a broken file can
 * still be shown. */
static void note_alignment(struct gguf *g, const struct gguf_entry *e)
{
    if (strcmp(e->key, "general.alignment") != 0)
        return;
    unsigned long long n = e->type == GGUF_U32 ? strtoull(e->text, NULL, 10) : 0;
    g->alignment = n % 8 == 0 && n <= alignment_max ? (uint32_t)n : 0;
}

int gguf_each(struct gguf *g, int (*fn)(const struct gguf_entry *, void *, struct err *), void *arg,
              struct err *err)
{
    g->at = 24; /* after magic, version and the two counts */
    g->alignment = alignment_default;
    for (uint64_t i = 0; i < g->n_entries; i++) {
        struct gguf_entry e;
        if (read_entry(g, &e, err) != 0)
            return -1;
        note_alignment(g, &e);
        int rc = fn(&e, arg, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    g->tensors_at = g->at;
    return 0;
}

static int bad_tensor(const struct gguf *g, const struct gguf_tensor *t, struct err *err, const char *what)
{
    return err_set(err, ERR_INPUT, "%s: offset %" PRIu64 ": tensor %s: %s", g->path, t->listed_at, t->name,
                   what);
}

static int read_dims(struct gguf *g, struct gguf_tensor *t, struct err *err)
{
    uint64_t elements = 1;
    if (read_u32(g, &t->n_dims, err) != 0)
        return -1;
    if (t->n_dims == 0 || t->n_dims > GGUF_DIMS_MAX)
        return bad_tensor(g, t, err, "it has no or too many dimensions (1 to 4 are known)");
    for (uint32_t i = 0; i < GGUF_DIMS_MAX; i++) {
        t->ne[i] = 1;
        if (i < t->n_dims && read_u64(g, &t->ne[i], err) != 0)
            return -1;
        if (t->ne[i] == 0 || __builtin_mul_overflow(elements, t->ne[i], &elements) || elements >> 63)
            return bad_tensor(g, t, err, "a dimension is 0, or their product is over 63 bits");
    }
    return 0;
}

/* Leaves the offset relative to the start of the data, as in the file. */
static int read_tensor(struct gguf *g, struct gguf_tensor *t, struct err *err)
{
    *t = (struct gguf_tensor){.listed_at = g->at};
    if (read_name(g, t->name, err) != 0 || read_dims(g, t, err) != 0 || read_u32(g, &t->type, err) != 0 ||
        read_u64(g, &t->offset, err) != 0)
        return -1;
    return t->offset % g->alignment == 0 ? 0 : bad_tensor(g, t, err, "its data is not aligned");
}

static int place_tensor(const struct gguf *g, uint64_t data_at, struct gguf_tensor *t, struct err *err)
{
    if (__builtin_add_overflow(t->offset, data_at, &t->offset) || t->offset >= g->size)
        return bad_tensor(g, t, err, "its data begins after the end of the file (truncated?)");
    return 0;
}

/* The data begins at the end of the table, so a first pass over it is needed. */
static int find_data(struct gguf *g, uint64_t *data_at, struct err *err)
{
    struct gguf_tensor t;
    g->at = g->tensors_at;
    for (uint64_t i = 0; i < g->n_tensors; i++)
        if (read_tensor(g, &t, err) != 0)
            return -1;
    *data_at = (g->at + g->alignment - 1) / g->alignment * g->alignment;
    return 0;
}

static int ignore_entry(const struct gguf_entry *e, void *arg, struct err *err)
{
    (void)e, (void)arg, (void)err;
    return 0;
}

int gguf_each_tensor(struct gguf *g, int (*fn)(const struct gguf_tensor *, void *, struct err *), void *arg,
                     struct err *err)
{
    uint64_t data_at;
    if (g->tensors_at == 0 && gguf_each(g, ignore_entry, NULL, err) != 0)
        return -1;
    if (g->alignment == 0)
        return err_set(err, ERR_INPUT,
                       "%s: general.alignment is not a u32, a multiple of 8, from 8 to 16 MiB", g->path);
    if (find_data(g, &data_at, err) != 0)
        return -1;
    g->at = g->tensors_at;
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        struct gguf_tensor t;
        if (read_tensor(g, &t, err) != 0 || place_tensor(g, data_at, &t, err) != 0)
            return -1;
        int rc = fn(&t, arg, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    return 0;
}

struct wanted {
    const char *key;
    struct gguf_entry *out;
    bool found;
};

static int is_wanted(const struct gguf_entry *e, void *arg, struct err *err)
{
    struct wanted *w = arg;
    (void)err;
    if (strcmp(e->key, w->key) != 0)
        return 0;
    *w->out = *e;
    w->found = true;
    return 1;
}

int gguf_find(struct gguf *g, const char *key, struct gguf_entry *out, struct err *err)
{
    struct wanted w = {.key = key, .out = out};
    if (gguf_each(g, is_wanted, &w, err) != 0)
        return -1;
    return w.found
               ? 0
               : err_set(err, ERR_INPUT, "%s: no metadata key \"%.100s\": `kernsweep gguf show` lists them",
                         g->path, key);
}
