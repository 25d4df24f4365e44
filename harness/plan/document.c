#include "harness/plan/document.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json_scan.h"
#include "common/contract/proto.h"
#include "harness/plan/relaxed.h"
#include "harness/plan/yaml.h"

#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *file, const char *ending)
{
    size_t n = strlen(file), m = strlen(ending);
    return n > m && strcmp(file + n - m, ending) == 0;
}

bool plan_document_is_yaml(const char *file)
{
    return ends_in(file, ".yaml") || ends_in(file, ".yml");
}

bool plan_document_is_named(const char *file)
{
    return ends_in(file, ".json") || ends_in(file, ".jsonc") || plan_document_is_yaml(file);
}

static bool locate(const struct json_source *s, const char *path, bool key, struct json_mark *out)
{
    const struct plan_document *d = (const struct plan_document *)s;
    const char *text = buf_str(&d->text);
    *out =
        d->yaml ? yaml_locate(text, d->text.len, path, key) : json_scan_locate(text, d->text.len, path, key);
    return out->line > 0;
}

static void hash_canonical(struct plan_document *d)
{
    AUTO_FREE char *text = json_dumps(d->root, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    sha256_of(text, strlen(text), d->sha256);
}

static int parse(struct plan_document *d, const char *file, struct err *err)
{
    bool relaxed = d->yaml;
    sha256_of(buf_str(&d->text), d->text.len, d->sha256);
    if (d->yaml)
        d->root = yaml_parse(buf_str(&d->text), d->text.len, file, err);
    else if (d->text.len == 0 || relaxed_blank(d->text.data, d->text.len, file, &relaxed, err) == 0)
        d->root = json_parse(buf_str(&d->text), d->text.len, file, err);
    if (!d->root)
        return -1;
    if (relaxed)
        hash_canonical(d);
    return 0;
}

int plan_document_load(struct plan_document *d, const char *file, struct json_problems *problems,
                       struct err *err)
{
    *d = (struct plan_document){.source = {.locate = locate, .problems = problems},
                                .yaml = plan_document_is_yaml(file)};
    buf_init(&d->text, LIMIT_PLAN_BYTES);
    if (fs_read_file(file, LIMIT_PLAN_BYTES, &d->text, err) == 0 && parse(d, file, err) == 0)
        return 0;
    plan_document_release(d);
    return -1;
}

void plan_document_release(struct plan_document *d)
{
    buf_release(&d->text);
    json_decref(d->root);
    *d = (struct plan_document){.yaml = false};
}
