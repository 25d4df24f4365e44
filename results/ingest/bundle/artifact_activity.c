#include "results/ingest/bundle/artifact_activity.h"

#include "common/base/text.h"
#include "results/ingest/bundle/artifact.h"

#include <stdio.h>
#include <string.h>

enum { NEIGHBOURS_MOST = 1 << 20 };

static const double mhz_most = 1e5, watts_most = 1e7, celsius_least = -273, celsius_most = 1e4,
                    seconds_most = 1e9;

/* The names, separated by spaces. */
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
    char from[16];
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
        take_reasons(&at, out->throttle, sizeof out->throttle, err) != 0 || take_window(&at, out, err) != 0 ||
        artifact_text(&at, "joules_from", from, sizeof from, err) != 0)
        return -1;
    out->joules_measured = strcmp(from, "accumulator") == 0;
    out->neighbours = (int)neighbours;
    return 0;
}
