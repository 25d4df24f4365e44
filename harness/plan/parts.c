#include "harness/plan/parts.h"

#include "common/base/fs.h"
#include "common/base/regex.h"
#include "common/base/text.h"
#include "common/contract/gate.h"
#include "common/contract/patch.h"
#include "common/contract/subst.h"

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

/* A string that becomes a word of a command or an environment value; allowed: the placeholders that have a
 * value there. */
static int check_word(const struct json_at *at, unsigned allowed, struct err *err)
{
    const char *s = json_string_value(at->value);
    struct err why = {0};
    unsigned used;
    if (!s)
        return json_fail(at, err, "expected a string");
    if (strlen(s) > LIMIT_ARG_BYTES)
        return json_fail(at, err, "expected at most %d bytes, found %zu", LIMIT_ARG_BYTES, strlen(s));
    if (subst_scan(s, &used, &why) != 0)
        return json_fail(at, err, "%s", why.msg);
    if (used & ~allowed)
        return json_fail(
            at, err,
            "a placeholder without a value there: builds have {src} {build} {variant} {attn_impl}, "
            "gates also {out} {run_id}, tests all; {batch} and the like are of kernel plans");
    return 0;
}

/* A shape's placeholders have a value in kernel plans. */
static unsigned allowed_in(const struct plan *p, unsigned placeholders)
{
    return p->shapes ? placeholders : placeholders & ~SUBST_FOR_SHAPE;
}

static int check_argv(const struct json_at *at, unsigned allowed, struct err *err)
{
    if (expect_array(at, "a command as an array of strings", LIMIT_ARGV, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at word = json_element(at, i);
        if (check_word(&word, allowed, err) != 0)
            return -1;
        if (i == 0 && !*json_string_value(word.value))
            return json_fail(&word, err, "expected a program's name, found an empty string");
    }
    return 0;
}

static bool is_env_name(const char *s)
{
    if (!*s || isdigit((unsigned char)*s) || strlen(s) > LIMIT_NAME_OF_ENV)
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
            return false;
    return true;
}

static bool is_secret(const struct plan *p, const char *name)
{
    size_t i;
    json_t *secret;
    json_array_foreach((json_t *)(uintptr_t)p->secrets, i, secret)
    {
        if (strcmp(json_string_value(secret), name) == 0)
            return true;
    }
    return false;
}

/* The value of a secret is passed on as it is: no placeholders in it. */
static int check_env_value(const struct plan *p, const char *name, const struct json_at *at, struct err *err)
{
    if (!is_env_name(name))
        return json_fail(at, err, "\"%.80s\" is no name of an environment variable", name);
    if (!is_secret(p, name) || !json_is_string(at->value))
        return check_word(at, allowed_in(p, SUBST_FOR_TEST), err);
    size_t len = json_string_length(at->value);
    if (len > LIMIT_ARG_BYTES || (len > 0 && len < LIMIT_SECRET_MIN))
        return json_fail(at, err, "expected nothing or %d to %d bytes: it is a secret, found %zu",
                         LIMIT_SECRET_MIN, LIMIT_ARG_BYTES, len);
    return 0;
}

static int check_env(const struct plan *p, const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (!json_is_object(at->value) || json_object_size(at->value) > LIMIT_ENV)
        return json_fail(at, err, "expected an object of at most %d environment variables", LIMIT_ENV);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)at->value, key, value)
    {
        struct json_at member = json_member(at, key);
        if (check_env_value(p, key, &member, err) != 0)
            return -1;
    }
    return 0;
}

static int load_secrets(struct plan *p, const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (!json_is_array(at->value) || json_array_size(at->value) > LIMIT_SECRETS)
        return json_fail(at, err, "expected an array of at most %d names of environment variables",
                         LIMIT_SECRETS);
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at name = json_element(at, i);
        if (!json_is_string(name.value) || !is_env_name(json_string_value(name.value)))
            return json_fail(&name, err, "expected the name of an environment variable");
    }
    p->secrets = at->value;
    return 0;
}

int plan_load_env(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at env = json_member(root, "env"), secrets = json_member(root, "secrets");
    if (load_secrets(p, &secrets, err) != 0 || check_env(p, &env, err) != 0)
        return -1;
    p->env = env.value;
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

static int check_gate(const struct plan *p, const struct json_at *at, struct err *err)
{
    static const char *const command_keys[] = {"kind", "name", "run", "timeout_s", NULL};
    static const char *const number_keys[] = {"kind", "name", "limit", NULL};
    static const char *const check_keys[] = {"kind", "name", "limit", "run", "timeout_s", NULL};
    const char *kind, *name = "command";
    double timeout_s = 60, limit;
    enum gate_kind g;
    struct json_at kind_at = json_member(at, "kind"), name_at = json_member(at, "name"),
                   run = json_member(at, "run");
    if (!json_is_object(at->value))
        return json_fail(at, err, "expected a gate as an object");
    if (json_get_str(at, "kind", &kind, err) != 0)
        return -1;
    if (!gate_kind_from_name(kind, &g))
        return json_fail(&kind_at, err, "expected %s, found \"%.80s\"", gate_kind_list(), kind);
    if (json_keys(at,
                  !gate_has_limit(g)    ? command_keys
                  : gate_has_command(g) ? check_keys
                                        : number_keys,
                  err) != 0 ||
        json_get_str_def(at, "name", &name, err) != 0 ||
        json_get_num_def(at, "timeout_s", 0.1, 86400, &timeout_s, err) != 0 ||
        (gate_has_limit(g) && json_get_num(at, "limit", 0, 1e15, &limit, err) != 0))
        return -1;
    if (!text_is_name(name))
        return json_fail(&name_at, err, "expected a name, found \"%.80s\"", name);
    return gate_has_command(g) ? check_argv(&run, allowed_in(p, SUBST_FOR_GATE), err) : 0;
}

/* An array, perhaps empty or absent, of at most max commands or gates. */
static int check_list(const struct json_at *at, const char *what, size_t max, struct err *err)
{
    if (at->value && (!json_is_array(at->value) || json_array_size(at->value) > max))
        return json_fail(at, err, "expected an array of at most %zu %s", max, what);
    return 0;
}

static int check_build(const struct json_at *at, struct err *err)
{
    if (check_list(at, "commands", LIMIT_BUILD_COMMANDS, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at step = json_element(at, i);
        if (check_argv(&step, SUBST_FOR_BUILD, err) != 0)
            return -1;
    }
    return 0;
}

static int check_gates(const struct plan *p, const struct json_at *at, struct err *err)
{
    if (check_list(at, "gates", LIMIT_GATES, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at gate = json_element(at, i);
        if (check_gate(p, &gate, err) != 0)
            return -1;
    }
    return 0;
}

/* Of the plan or of a variant. */
static int check_patches(const struct plan *p, const struct json_at *at, struct err *err)
{
    struct patch ignored;
    if (check_list(at, "patches", LIMIT_PATCHES, err) != 0)
        return -1;
    if (json_array_size(at->value) > 0 && !p->source_dir)
        return json_fail(at, err, "there is nothing to patch: give \"source\"");
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at patch = json_element(at, i);
        if (patch_decode(&ignored, &patch, err) != 0)
            return -1;
    }
    return 0;
}

static int load_variant(struct plan *p, const struct json_at *at, struct plan_variant *v, struct err *err)
{
    static const char *const keys[] = {"name",  "attn_impl", "build",   "run", "env",
                                       "gates", "patches",   "comment", NULL};
    v->attn_impl = "";
    if (json_keys(at, keys, err) != 0 || json_get_str(at, "name", &v->name, err) != 0 ||
        json_get_str_def(at, "attn_impl", &v->attn_impl, err) != 0)
        return -1;
    struct json_at name = json_member(at, "name"), impl = json_member(at, "attn_impl"),
                   run = json_member(at, "run"), build = json_member(at, "build"),
                   env = json_member(at, "env"), gates = json_member(at, "gates"),
                   patches = json_member(at, "patches");
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
    if (check_argv(&run, allowed_in(p, SUBST_FOR_TEST), err) != 0 || check_build(&build, err) != 0 ||
        check_env(p, &env, err) != 0 || check_gates(p, &gates, err) != 0 ||
        check_patches(p, &patches, err) != 0)
        return -1;
    v->run = run.value;
    v->build = build.value;
    v->env = env.value;
    v->gates = gates.value;
    v->patches = patches.value;
    return 0;
}

int plan_load_variants(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "variants"), patches = json_member(root, "patches");
    if (expect_array(&at, "an array of variants", LIMIT_VARIANTS, err) != 0 ||
        check_patches(p, &patches, err) != 0)
        return -1;
    p->patches = patches.value;
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

static int check_unit(const struct json_at *timings, struct err *err)
{
    const char *unit = "s";
    struct json_at at = json_member(timings, "unit");
    if (json_get_str_def(timings, "unit", &unit, err) != 0)
        return -1;
    if (strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0 && strcmp(unit, "us") != 0)
        return json_fail(&at, err, "expected \"s\", \"ms\" or \"us\", found \"%.80s\"", unit);
    return 0;
}

static int check_map(const struct json_at *map, struct err *err)
{
    size_t n = json_object_size(map->value);
    const char *name;
    json_t *path;
    if (n < 1 || n > LIMIT_TIMINGS)
        return json_fail(map, err, "expected an object of 1 to %d names and JSON paths", LIMIT_TIMINGS);
    json_object_foreach((json_t *)(uintptr_t)map->value, name, path)
    {
        struct json_at at = json_member(map, name);
        if (!text_is_name(name))
            return json_fail(&at, err, "expected a name such as prefill_s as the key");
        if (!json_is_string(path) || json_string_value(path)[0] != '$')
            return json_fail(&at, err, "expected a path such as \"$.results[0].prefill\"");
    }
    return 0;
}

static int check_timings(const struct json_at *timings, struct err *err)
{
    static const char *const json_rule[] = {"kind", "map", "unit", NULL};
    static const char *const regex_rule[] = {"kind", "pattern", "unit", NULL};
    const char *kind, *pattern;
    struct json_at kind_at = json_member(timings, "kind"), map = json_member(timings, "map"),
                   pattern_at = json_member(timings, "pattern");
    if (!json_is_object(timings->value))
        return json_fail(timings, err, "expected null or an object with \"kind\"");
    if (json_get_str(timings, "kind", &kind, err) != 0)
        return -1;
    bool regex = strcmp(kind, "regex") == 0;
    if (!regex && strcmp(kind, "json") != 0)
        return json_fail(&kind_at, err, "expected \"json\" or \"regex\", found \"%.80s\"", kind);
    if (json_keys(timings, regex ? regex_rule : json_rule, err) != 0 || check_unit(timings, err) != 0)
        return -1;
    if (!regex)
        return check_map(&map, err);
    if (json_get_str(timings, "pattern", &pattern, err) != 0)
        return -1;
    if (!*pattern || strlen(pattern) > LIMIT_PATTERN)
        return json_fail(&pattern_at, err, "expected 1 to %d bytes", LIMIT_PATTERN);
    struct regex re;
    struct err why = {0};
    if (regex_compile(&re, pattern, &why) != 0)
        return json_fail(&pattern_at, err, "not a regular expression: %s", why.msg);
    regex_release(&re);
    return 0;
}

int plan_load_timings(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at timings = json_member(root, "timings");
    if (!timings.value || json_is_null(timings.value))
        return 0;
    if (check_timings(&timings, err) != 0)
        return -1;
    p->timings = timings.value;
    return 0;
}
