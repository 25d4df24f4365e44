#include "results/ingest/import/shape.h"

#include "common/base/json.h"

#include <stdio.h>
#include <string.h>

void import_make_name(char *text)
{
    char hex[SHA256_HEX_LEN + 1];
    size_t len = strlen(text);
    sha256_of(text, len, hex);
    for (char *p = text; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              (p > text && strchr("._-", *p))))
            *p = '_';
    if (len > LIMIT_NAME)
        snprintf(text + LIMIT_NAME - 9, 10, "_%.8s", hex);
}

static int add_part(const struct import_scope *s, const char *axis, const char *value, char *out,
                    struct err *err)
{
    size_t n = strlen(out);
    int added = snprintf(out + n, IMPORT_TEXT_MAX - n, "%s%s%s", n ? "_" : "", axis, value);
    if (added < 0 || (size_t)added >= IMPORT_TEXT_MAX - n)
        return err_set(err, ERR_INPUT, "%s: %s: shape longer than %d bytes (mapping: test.point)", s->file,
                       s->place, IMPORT_TEXT_MAX - 1);
    return 0;
}

/* out: char[IMPORT_TEXT_MAX], "" without a shape. */
static int take_shape(const struct import_scope *s, const json_t *test, char *out, struct err *err)
{
    const char *axis;
    json_t *field, *point = json_object_get(test, "point");
    out[0] = '\0';
    if (import_text(s, json_object_get(test, "shape"), "test.shape", out, IMPORT_TEXT_MAX, err) < 0)
        return -1;
    json_object_foreach(point, axis, field)
    {
        char name[96], value[IMPORT_TEXT_MAX];
        snprintf(name, sizeof name, "test.point.%.60s", axis);
        int rc = import_text(s, field, name, value, sizeof value, err);
        if (rc < 0 || (rc > 0 && add_part(s, axis, value, out, err) != 0))
            return -1;
    }
    return 0;
}

int import_variant(const struct import_scope *s, const json_t *test, struct run_variant *out,
                   char *as_written, struct err *err)
{
    char kernel[IMPORT_TEXT_MAX], shape[IMPORT_TEXT_MAX], name[IMPORT_TEXT_MAX];
    int rc = import_text(s, json_object_get(test, "variant"), "test.variant", kernel, sizeof kernel, err);
    if (rc < 0 || take_shape(s, test, shape, err) != 0)
        return -1;
    if (rc == 0 || !*kernel)
        return err_set(err, ERR_INPUT, "%s: %s: no variant given (mapping: test.variant)", s->file, s->place);
    snprintf(as_written, IMPORT_TEXT_MAX, "%.200s%s%.200s", kernel, *shape ? " " : "", shape);
    import_make_name(kernel);
    *out = (struct run_variant){.status = STATUS_OK};
    if (!*shape) {
        snprintf(out->name, sizeof out->name, "%.64s", kernel);
        return 0;
    }
    import_make_name(shape);
    snprintf(name, sizeof name, "%.64s_%.64s", kernel, shape);
    import_make_name(name);
    snprintf(out->name, sizeof out->name, "%.64s", name);
    snprintf(out->kernel, sizeof out->kernel, "%.64s", kernel);
    snprintf(out->shape, sizeof out->shape, "%.64s", shape);
    return 0;
}
