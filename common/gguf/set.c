#include "common/gguf/gguf.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int bad_value(const struct gguf *g, const struct gguf_entry *e, const char *value, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: %s is of type %s: \"%.80s\" does not fit it", g->path, e->key,
                   gguf_type_name(e->type), value);
}

/* Returns false when value is malformed or out of range for type. raw: char[8]. */
static bool parse_scalar(enum gguf_type type, const char *value, unsigned char *raw)
{
    char *end;
    unsigned bits = 8 * gguf_type_size(type);
    errno = 0;
    if (type == GGUF_BOOL) {
        raw[0] = strcmp(value, "true") == 0;
        return raw[0] || strcmp(value, "false") == 0;
    }
    if (type == GGUF_F32 || type == GGUF_F64) {
        double d = strtod(value, &end);
        float f = (float)d;
        memcpy(raw, type == GGUF_F32 ? (void *)&f : (void *)&d, gguf_type_size(type));
        return *value && !*end && isfinite(d) && (type == GGUF_F64 || isfinite(f));
    }
    if (type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64) {
        int64_t i = strtoll(value, &end, 10), low = INT64_MIN >> (64 - bits), high = INT64_MAX >> (64 - bits);
        memcpy(raw, &i, gguf_type_size(type));
        return *value && !*end && errno == 0 && i >= low && i <= high;
    }
    uint64_t u = strtoull(value, &end, 10);
    memcpy(raw, &u, gguf_type_size(type));
    return *value && *value != '-' && !*end && errno == 0 && u <= UINT64_MAX >> (64 - bits);
}

int gguf_set(struct gguf *g, const struct gguf_entry *e, const char *value, struct err *err)
{
    unsigned char raw[8] = {0};
    if (gguf_type_size(e->type) == 0)
        return err_set(err, ERR_INPUT, "%s: %s is of type %s: only numbers and bools can be set in place",
                       g->path, e->key, gguf_type_name(e->type));
    if (!parse_scalar(e->type, value, raw))
        return bad_value(g, e, value, err);
    size_t len = gguf_type_size(e->type);
    if (pwrite(g->fd, raw, len, (off_t)e->offset) != (ssize_t)len || fsync(g->fd) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: offset %" PRIu64 ": cannot write", g->path,
                             e->offset);
    g->window_len = 0;
    return 0;
}
