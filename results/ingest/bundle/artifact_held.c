#include "results/ingest/bundle/artifact_held.h"

#include "results/ingest/bundle/artifact.h"

#include <stdio.h>
#include <string.h>

static int take_contained(const struct json_at *perf, struct run_test *out, struct err *err)
{
    static const char *const words[] = {"", "cgroup", "scope", "group", "container"};
    if (artifact_text(perf, "contained", out->contained, sizeof out->contained, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], out->contained) == 0)
            return 0;
    struct json_at at = json_member(perf, "contained");
    return json_fail(&at, err, "expected \"cgroup\", \"scope\", \"group\" or \"container\"");
}

static bool is_digest(const char *s)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:+._-";
    return strspn(s, allowed) == strlen(s);
}

int artifact_held(const struct json_at *perf, struct draft *d, struct run_test *out, struct err *err)
{
    struct run_variant *v = &d->variants[out->variant];
    struct json_at container = json_member(perf, "container");
    char digest[RUN_DIGEST_MAX] = "";
    if (take_contained(perf, out, err) != 0)
        return -1;
    if (!container.value || json_is_null(container.value))
        return 0;
    if (!json_is_object(container.value))
        return json_fail(&container, err, "expected an object");
    if (artifact_cut(&container, "image", v->image, sizeof v->image, err) != 0 ||
        artifact_text(&container, "digest", digest, sizeof digest, err) != 0)
        return -1;
    if (!is_digest(digest))
        return json_fail(&container, err, "digest: expected one like \"sha256:1f2e...\"");
    bool other = *digest && *v->image_digest && strcmp(digest, v->image_digest) != 0;
    if (*digest)
        snprintf(v->image_digest, sizeof v->image_digest, "%s", other ? IMAGES_SEVERAL : digest);
    return 0;
}
