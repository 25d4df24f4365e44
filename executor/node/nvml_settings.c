#include "executor/node/nvml_settings.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "executor/telemetry/nvml.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX = 32 << 10, VALUE_MAX = 200 };

static json_t *find_gpu(json_t *gpus, const char *uuid)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu)
    {
        const char *id = json_string_value(json_object_get(gpu, "unique_id"));
        if (id && strcmp(id, uuid) == 0)
            return gpu;
    }
    return NULL;
}

static void add_setting(json_t *gpu, const char *key, const char *value)
{
    static const char *const switches[] = {"persistence", "ecc", "mig"};
    static const char *const watts[] = {"power_cap_w", "power_cap_default_w"};
    char clean[VALUE_MAX];
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (strcmp(key, switches[i]) == 0)
            json_object_set_new(gpu, key, json_boolean(strcmp(value, "0") != 0));
    }
    for (size_t i = 0; i < sizeof watts / sizeof *watts; i++) {
        if (strcmp(key, watts[i]) == 0)
            json_object_set_new(gpu, key, json_integer(strtoll(value, NULL, 10)));
    }
    if (strcmp(key, "vbios") == 0) {
        text_printable_fixed(clean, sizeof clean, value, strlen(value));
        json_object_set_new(gpu, "firmware", json_pack("{s:s}", "vbios", clean));
    }
}

void nvml_settings_parse(char *text, json_t *gpus)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *key = strchr(line, '\t'), *value = key ? strchr(key + 1, '\t') : NULL;
        if (!value)
            continue;
        *key++ = '\0';
        *value++ = '\0';
        json_t *gpu = find_gpu(gpus, line);
        if (gpu)
            add_setting(gpu, key, value);
    }
}

void nvml_settings_add(json_t *gpus)
{
    struct run_result res;
    struct err ignored;
    AUTO(buf_release) struct buf out = {.max = OUTPUT_MAX};
    if (nvml_command((const char *const[]){"settings", NULL}, &out, &res, &ignored) == 0 && res.exited &&
        res.exit_code == NVML_CONTROL_DONE) {
        AUTO_FREE char *text = xstrdup(buf_str(&out));
        nvml_settings_parse(text, gpus);
    }
}
