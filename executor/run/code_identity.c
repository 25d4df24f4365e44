#include "executor/run/code_identity.h"

#include "executor/bundle/artifact.h"
#include "executor/code/identity.h"

#include <string.h>

enum { CODE_BYTES_MAX = 32 << 20 };

#define CACHED_CODE ".code.json"
#define CODE_FILE "code.json"

/* NULL where an older executor, or none, left an identity in the build's folder. */
static json_t *load_kept(const char *build)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, build, CACHED_CODE) != 0 || !fs_exists(path))
        return NULL;
    json_t *kept = json_load(path, CODE_BYTES_MAX, NULL);
    const char *schema = json_string_value(json_object_get(kept, "schema"));
    if (schema && strcmp(schema, PROTO_SCHEMA_CODE) == 0)
        return kept;
    json_decref(kept);
    return NULL;
}

/* Of its first GPU; NULL: it has none, or one that is not known. */
static const char *arch_of_node(const struct suite *s)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(s->node, "gpus"), 0), "arch"));
}

static json_t *hash_build(const struct variant_state *v, const char *gpu)
{
    struct err why = {.kind = ERR_NONE};
    struct code code;
    json_t *out = identity_of(v->build, *v->src ? v->src : NULL, gpu, &code, &why) == 0
                      ? code_encode(&code)
                      : code_encode_unknown(why.msg);
    code_release(&code);
    return out;
}

int code_identity_take(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *v = &s->variant[variant];
    /* What a build itself put there is not believed. */
    json_t *code = v->build_cached ? load_kept(v->build) : NULL;
    int rc = 0;
    if (!code) {
        code = hash_build(v, arch_of_node(s));
        rc = artifact_json(v->build, CACHED_CODE, json_incref(code), NULL, err);
    }
    if (rc == 0)
        rc = artifact_json(v->dir, CODE_FILE, json_incref(code), &s->secrets, err);
    json_decref(code);
    return rc;
}
