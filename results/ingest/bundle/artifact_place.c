#include "results/ingest/bundle/artifact_place.h"

#include "results/ingest/bundle/artifact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_MAX = 128, BESIDE_MOST = 4096 };

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

/* GPUs of one test in different modes are in none that could be compared. */
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
    int64_t beside;
    if (artifact_int(perf, "beside", 0, BESIDE_MOST, &beside, err) != 0)
        return -1;
    out->beside = (int)beside;
    if (!gpus.value || json_is_null(gpus.value))
        return 0;
    return place_join(&gpus, out->gpu, sizeof out->gpu, err) != 0
               ? -1
               : take_mode(&gpus, out->gpu_mode, sizeof out->gpu_mode, err);
}
