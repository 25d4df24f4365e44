#include "results/ingest/bundle/artifact.h"

#include "common/base/text.h"
#include "common/base/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_MAX = 128, BESIDE_MOST = 4096, COMPILED_MOST = 1 << 20, NEIGHBOURS_MOST = 1 << 20 };

static const double mhz_most = 1e5, watts_most = 1e7, celsius_least = -273, celsius_most = 1e4,
                    seconds_most = 1e9;

/* Joins the names with spaces. */
static int take_reasons(const struct json_at *activity, char *out, size_t size, struct err *err)
{
    struct json_at list = json_member(activity, "throttle");
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at one = json_element(&list, i);
        const char *name = json_string_value(one.value);
        if (!name || !text_is_name(name))
            return json_fail(&one, err, "expected the name of a reason to throttle");
        if (used + strlen(name) + 2 > size)
            return json_fail(&list, err, "longer than %zu bytes", size - 1);
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", name);
    }
    return 0;
}

static int take_window(const struct json_at *activity, struct run_activity *out, struct err *err)
{
    struct json_at window = json_member(activity, "window");
    if (artifact_text(&window, "kind", out->window, sizeof out->window, err) != 0)
        return -1;
    if (!*out->window || strcmp(out->window, "timed") == 0 || strcmp(out->window, "busy") == 0 ||
        strcmp(out->window, "test") == 0)
        return 0;
    return json_fail(&window, err, "expected \"timed\", \"busy\" or \"test\"");
}

int artifact_activity(const struct json_at *perf, struct run_activity *out, struct err *err)
{
    struct json_at at = json_member(perf, "activity");
    char from[16], throttle[RUN_NAME_MAX] = "";
    int64_t neighbours;
    if (!at.value || json_is_null(at.value))
        return 0;
    if (!json_is_object(at.value))
        return json_fail(&at, err, "expected an object");
    if (artifact_num(&at, "sclk_p5_mhz", 0, mhz_most, &out->sclk_p5_mhz, err) != 0 ||
        artifact_num(&at, "mclk_mhz", 0, mhz_most, &out->mclk_mhz, err) != 0 ||
        artifact_num(&at, "mclk_p5_mhz", 0, mhz_most, &out->mclk_p5_mhz, err) != 0 ||
        artifact_num(&at, "power_w", 0, watts_most, &out->power_w, err) != 0 ||
        artifact_num(&at, "temp_c", celsius_least, celsius_most, &out->temp_c, err) != 0 ||
        artifact_num(&at, "throttled_s", 0, seconds_most, &out->throttled_s, err) != 0 ||
        artifact_int(&at, "neighbours", 0, NEIGHBOURS_MOST, &neighbours, err) != 0 ||
        take_reasons(&at, throttle, sizeof throttle, err) != 0 || take_window(&at, out, err) != 0 ||
        artifact_text(&at, "joules_from", from, sizeof from, err) != 0)
        return -1;
    out->throttle = word(throttle);
    out->joules_measured = strcmp(from, "accumulator") == 0;
    out->neighbours = (int)neighbours;
    return 0;
}

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

static bool is_id(const char *s)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:_/-";
    size_t n = s ? strlen(s) : 0;
    return n > 0 && n < ID_MAX && strspn(s, allowed) == n;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int take_ids(const struct json_at *list, const char **ids, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct json_at one = json_element(list, i);
        const json_t *id = json_is_object(one.value) ? json_object_get(one.value, "id") : one.value;
        ids[i] = json_string_value(id);
        if (!is_id(ids[i]))
            return json_fail(&one, err, "expected the id of a GPU");
    }
    return 0;
}

int place_join(const struct json_at *list, char *out, size_t size, struct err *err)
{
    const char *ids[PLACE_GPUS_MAX];
    size_t n = json_array_size(list->value), used = 0;
    *out = '\0';
    if (!json_is_array(list->value) || n > PLACE_GPUS_MAX)
        return json_fail(list, err, "expected an array of at most %d GPUs", PLACE_GPUS_MAX);
    if (take_ids(list, ids, n, err) != 0)
        return -1;
    if (n)
        qsort(ids, n, sizeof *ids, by_name);
    for (size_t i = 0; i < n; i++) {
        if (i && strcmp(ids[i - 1], ids[i]) == 0)
            return json_fail(list, err, "names GPU %s twice", ids[i]);
        if (used + strlen(ids[i]) + 2 > size)
            return json_fail(list, err, "longer than %zu bytes", size - 1);
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "+" : "", ids[i]);
    }
    return 0;
}

/* The mode of a test on GPUs in different modes is "mixed". */
static int take_mode(const struct json_at *gpus, char *out, size_t size, struct err *err)
{
    for (size_t i = 0; i < json_array_size(gpus->value); i++) {
        struct json_at one = json_element(gpus, i);
        char mode[RUN_MODE_MAX] = "";
        if (artifact_text(&one, "mode", mode, sizeof mode, err) != 0)
            return -1;
        if (*mode && !is_id(mode))
            return json_fail(&one, err, "mode: expected a mode like \"SPX/NPS1\"");
        snprintf(out, size, "%s", i == 0 || strcmp(out, mode) == 0 ? mode : "mixed");
    }
    return 0;
}

int artifact_place(const struct json_at *perf, struct run_test *out, struct err *err)
{
    struct json_at gpus = json_member(perf, "gpus");
    int64_t beside, compiled;
    char gpu[RUN_GPU_MAX] = "", host[RUN_NAME_MAX];
    if (artifact_cut(perf, "host", host, sizeof host, err) != 0 ||
        artifact_int(perf, "beside", 0, BESIDE_MOST, &beside, err) != 0 ||
        artifact_int(perf, "compiled", 0, COMPILED_MOST, &compiled, err) != 0)
        return -1;
    out->host = word(host);
    out->beside = (int)beside;
    out->compiled = (int)compiled;
    if (!gpus.value || json_is_null(gpus.value))
        return 0;
    if (place_join(&gpus, gpu, sizeof gpu, err) != 0)
        return -1;
    out->gpu = word(gpu);
    return take_mode(&gpus, out->gpu_mode, sizeof out->gpu_mode, err);
}
