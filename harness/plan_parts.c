#include "harness/plan_parts.h"

#include "common/fs.h"
#include "common/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plan_mode_ok(const char *mode)
{
    return strcmp(mode, "perf") == 0 || strcmp(mode, "debug") == 0;
}

static int expect_array(const struct json_at *at, const char *what, size_t max, struct err *err)
{
    if (!json_is_array(at->value))
        return json_fail(at, err, "expected %s", what);
    size_t n = json_array_size(at->value);
    if (n == 0)
        return json_fail(at, err, "expected %s, found an empty array", what);
    if (n > max)
        return json_fail(at, err, "expected at most %zu entries, found %zu", max, n);
    return 0;
}

bool plan_placeholders_ok(const char *text, const char **bad, size_t *bad_len)
{
    static const char *const known[] = {"src",     "build",      "out",       "context",
                                        "variant", "repetition", "attn_impl", "run_id"};
    for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
        const char *end = p + 1;
        while (islower((unsigned char)*end) || *end == '_')
            end++;
        size_t n = (size_t)(end - p - 1);
        if (n == 0)
            continue; /* "{}" or JSON text in an argument is no placeholder */
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || (strlen(known[i]) == n && strncmp(known[i], p + 1, n) == 0);
        if (*end == '+' && n == 7 && strncmp(p + 1, "context", 7) == 0)
            end += 1 + strspn(end + 1, "0123456789");
        if (*end != '}')
            continue;
        if (!found) {
            *bad = p;
            *bad_len = (size_t)(end - p + 1);
            return false;
        }
    }
    return true;
}

/* A string that becomes a word of a command or an environment value. */
static int check_word(const struct json_at *at, struct err *err)
{
    const char *s = json_string_value(at->value);
    if (!s)
        return json_fail(at, err, "expected a string");
    if (strlen(s) > LIMIT_ARG_BYTES)
        return json_fail(at, err, "expected at most %d bytes, found %zu", LIMIT_ARG_BYTES, strlen(s));
    const char *bad;
    size_t n;
    if (!plan_placeholders_ok(s, &bad, &n))
        return json_fail(
            at, err,
            "unknown placeholder %.*s (known: {src} {build} {out} {context} {context+N} {variant} "
            "{repetition} {attn_impl} {run_id})",
            (int)n, bad);
    return 0;
}

static int check_argv(const struct json_at *at, struct err *err)
{
    if (expect_array(at, "a command as an array of strings", LIMIT_ARGV, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at word = json_element(at, i);
        if (check_word(&word, err) != 0)
            return -1;
        if (i == 0 && !*json_string_value(word.value))
            return json_fail(&word, err, "expected a program's name, found an empty string");
    }
    return 0;
}

static bool is_env_name(const char *s)
{
    if (!*s || isdigit((unsigned char)*s) || strlen(s) > 128)
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
            return false;
    return true;
}

static int check_env(const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (!json_is_object(at->value))
        return json_fail(at, err, "expected an object of environment variables");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)at->value, key, value)
    {
        struct json_at member = json_member(at, key);
        if (!is_env_name(key))
            return json_fail(&member, err, "\"%.80s\" is no name of an environment variable", key);
        if (check_word(&member, err) != 0)
            return -1;
    }
    return 0;
}

int plan_load_env(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at env = json_member(root, "env"), secrets = json_member(root, "secrets");
    if (check_env(&env, err) != 0)
        return -1;
    p->env = env.value;
    if (!secrets.value)
        return 0;
    if (!json_is_array(secrets.value))
        return json_fail(&secrets, err, "expected an array of names of environment variables");
    for (size_t i = 0; i < json_array_size(secrets.value); i++) {
        struct json_at at = json_element(&secrets, i);
        if (!json_is_string(at.value) || !is_env_name(json_string_value(at.value)))
            return json_fail(&at, err, "expected the name of an environment variable");
    }
    p->secrets = secrets.value;
    return 0;
}

/* Paths in a plan are relative to the plan's file, so that it works from any folder. */
static char *resolve_dir(const char *plan_file, const char *dir)
{
    char base[FS_PATH_MAX], joined[FS_PATH_MAX];
    snprintf(base, sizeof base, "%s", plan_file);
    char *slash = strrchr(base, '/');
    if (slash)
        slash[1] = '\0';
    else
        snprintf(base, sizeof base, "./");
    if (dir[0] == '/')
        return realpath(dir, NULL);
    return fs_join(joined, NULL, base, dir) == 0 ? realpath(joined, NULL) : NULL;
}

static int load_include(struct plan *p, const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (expect_array(at, "an array of paths below source.dir", 1000, err) != 0)
        return -1;
    size_t n = json_array_size(at->value);
    p->include = calloc(n + 1, sizeof *p->include);
    if (!p->include)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    for (size_t i = 0; i < n; i++) {
        struct json_at path = json_element(at, i);
        const char *s = json_string_value(path.value);
        char full[FS_PATH_MAX];
        if (!s || !fs_safe_relpath(s))
            return json_fail(&path, err, "expected a plain path below source.dir, without \"..\"");
        if (fs_join(full, err, p->source_dir, s) != 0)
            return -1;
        if (!fs_exists(full))
            return json_fail(&path, err, "%s does not exist", full);
        p->include[i] = s;
    }
    return 0;
}

int plan_load_source(struct plan *p, const struct json_at *root, struct err *err)
{
    static const char *const keys[] = {"dir", "include", NULL};
    struct json_at source = json_member(root, "source");
    if (!source.value || json_is_null(source.value))
        return 0;
    const char *dir;
    if (json_keys(&source, keys, err) != 0 || json_get_str(&source, "dir", &dir, err) != 0)
        return -1;
    struct json_at at = json_member(&source, "dir"), include = json_member(&source, "include");
    p->source_dir = resolve_dir(p->file, dir);
    if (!p->source_dir || !fs_is_dir(p->source_dir))
        return json_fail(&at, err, "no such folder: %.500s (relative to the plan's file)", dir);
    return load_include(p, &include, err);
}

static int check_gate(const struct json_at *at, struct err *err)
{
    static const char *const keys[] = {"kind", "run", "timeout_s", "name", "limit", NULL};
    const char *kind = "", *name = "";
    double number = 60;
    if (json_keys(at, keys, err) != 0 || json_get_str(at, "kind", &kind, err) != 0 ||
        json_get_str_def(at, "name", &name, err) != 0 ||
        json_get_num_def(at, "timeout_s", 0.1, 86400, &number, err) != 0 ||
        json_get_num_def(at, "limit", 0, 1e15, &number, err) != 0)
        return -1;
    static const char *const numeric[] = {"scratch_bytes", "vgprs", "lds_bytes", "min_occupancy",
                                          "max_rel_l2"};
    struct json_at member = json_member(at, "kind"), run = json_member(at, "run"),
                   limit = json_member(at, "limit");
    if (strcmp(kind, "command") == 0)
        return check_argv(&run, err);
    for (size_t i = 0; i < sizeof numeric / sizeof *numeric; i++)
        if (strcmp(kind, numeric[i]) == 0)
            return limit.value ? 0 : json_fail(&limit, err, "expected the limit of the gate, a number");
    return json_fail(
        &member, err,
        "expected \"command\", \"scratch_bytes\", \"vgprs\", \"lds_bytes\", \"min_occupancy\" or "
        "\"max_rel_l2\", found \"%.80s\"",
        kind);
}

static int check_build(const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (!json_is_array(at->value))
        return json_fail(at, err, "expected an array of commands");
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at step = json_element(at, i);
        if (check_argv(&step, err) != 0)
            return -1;
    }
    return 0;
}

static int check_gates(const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (!json_is_array(at->value))
        return json_fail(at, err, "expected an array of gates");
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at gate = json_element(at, i);
        if (check_gate(&gate, err) != 0)
            return -1;
    }
    return 0;
}

static int load_variant(struct plan *p, const struct json_at *at, struct plan_variant *v, struct err *err)
{
    static const char *const keys[] = {"name", "attn_impl", "build", "run", "env", "gates", "comment", NULL};
    v->attn_impl = "";
    if (json_keys(at, keys, err) != 0 || json_get_str(at, "name", &v->name, err) != 0 ||
        json_get_str_def(at, "attn_impl", &v->attn_impl, err) != 0)
        return -1;
    struct json_at name = json_member(at, "name"), impl = json_member(at, "attn_impl"),
                   run = json_member(at, "run"), build = json_member(at, "build"),
                   env = json_member(at, "env"), gates = json_member(at, "gates");
    if (!text_is_name(v->name))
        return json_fail(
            &name, err,
            "expected a name of letters, digits, '.', '_' and '-' (it names a folder), found \"%.80s\"",
            v->name);
    for (size_t i = 0; i < p->n_variants; i++)
        if (strcmp(p->variants[i].name, v->name) == 0)
            return json_fail(&name, err, "the variant \"%s\" is there twice", v->name);
    if (*v->attn_impl && !text_is_name(v->attn_impl))
        return json_fail(&impl, err, "expected a name, found \"%.80s\"", v->attn_impl);
    if (check_argv(&run, err) != 0 || check_build(&build, err) != 0 || check_env(&env, err) != 0 ||
        check_gates(&gates, err) != 0)
        return -1;
    v->run = run.value;
    v->build = build.value;
    v->env = env.value;
    v->gates = gates.value;
    return 0;
}

int plan_load_variants(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "variants");
    if (expect_array(&at, "an array of variants", LIMIT_VARIANTS, err) != 0)
        return -1;
    size_t n = json_array_size(at.value);
    p->variants = calloc(n, sizeof *p->variants);
    if (!p->variants)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(&at, i);
        if (load_variant(p, &item, &p->variants[i], err) != 0)
            return -1;
        p->n_variants++;
    }
    return 0;
}

int plan_load_timings(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "timings"), patches = json_member(root, "patches");
    if (patches.value && !json_is_array(patches.value))
        return json_fail(&patches, err, "expected an array of patches");
    p->patches = patches.value;
    if (!at.value || json_is_null(at.value))
        return 0;
    const char *kind = "";
    if (!json_is_object(at.value))
        return json_fail(&at, err, "expected null or an object with \"kind\"");
    if (json_get_str(&at, "kind", &kind, err) != 0)
        return -1;
    if (strcmp(kind, "json") != 0 && strcmp(kind, "regex") != 0)
        return json_fail(&at, err, "expected \"kind\" \"json\" or \"regex\", found \"%.80s\"", kind);
    p->timings = at.value;
    return 0;
}
