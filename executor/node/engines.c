#include "executor/node/engines.h"

#include "common/base/alloc.h"
#include "common/base/run.h"
#include "common/base/text.h"
#include "common/contract/container.h"
#include "executor/node/version_cache.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX = 4096, VERSION_MAX = 120 };

static const double version_limit_s = 10;

static json_t *version_of(const char *name)
{
    const char *const argv[] = {name, "--version", NULL};
    struct run_result res;
    struct err err = {.kind = ERR_NONE};
    json_t *out = NULL;
    AUTO(buf_release) struct buf text = {.max = OUTPUT_MAX};
    AUTO(buf_release) struct buf line = {.max = VERSION_MAX * 8};
    if (run_capture(argv, NULL, version_limit_s, &text, &res, &err) == 0 && res.exited &&
        res.exit_code == 0) {
        text_printable(&line, buf_str(&text), strcspn(buf_str(&text), "\n"), VERSION_MAX);
        out = json_string(buf_str(&line));
    }
    return out ? out : json_null();
}

/* *complete: each engine in PATH gave its version. */
static json_t *ask_all(bool *complete)
{
    json_t *out = json_array();
    *complete = true;
    for (int e = ENGINE_DOCKER; container_engine_names[e]; e++) {
        const char *name = container_engine_names[e];
        if (!spawn_on_path(name))
            continue;
        json_t *version = version_of(name);
        *complete = *complete && json_is_string(version);
        json_array_append_new(out, json_pack("{s:s, s:o}", "name", name, "version", version));
    }
    return out;
}

json_t *engines_probe(const struct layout *l)
{
    static const char cache_file[] = "engines.json";
    bool complete;
    json_auto_t *identity = version_identity(getenv("PATH"), container_engine_names + ENGINE_DOCKER);
    json_t *out = version_cache_load(l, cache_file, identity);
    if (!out && (out = ask_all(&complete)) && complete)
        version_cache_save(l, cache_file, identity, out);
    return out;
}
