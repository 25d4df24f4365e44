/* kernsweep import --map MAP FILE...: stores results of other tools as runs. */
#include "results/ingest/import/import.h"
#include "harness/commands/base/cmd.h"

#include <stdio.h>
#include <string.h>

enum { IMPORT_FILES_MAX = 1024 };

static int list_maps(const struct cmd_env *env)
{
    json_t *names = json_array();
    for (size_t i = 0; import_builtin_name(i); i++) {
        char about[256];
        import_builtin_about(i, about, sizeof about);
        if (!env->json)
            printf("%-18s %s\n", import_builtin_name(i), about);
        json_array_append_new(names, json_string(import_builtin_name(i)));
    }
    int rc = env->json ? cmd_print_json(json_incref(names)) : EXIT_DONE;
    json_decref(names);
    return rc;
}

/* The store is only created once there is something to put into it. */
static int read_and_store(const struct cmd_env *env, struct store *s, const struct import_map *m,
                          const char *const *files, size_t n, const struct import_options *options,
                          struct ingest_result *out, struct err *err)
{
    AUTO(draft_release) struct draft d = {0};
    *out = (struct ingest_result){0};
    draft_init(&d);
    if (import_read(m, files, n, options, &d, err) != 0 ||
        (!s->db && cmd_store_open(env, s, STORE_WRITE, err) != 0))
        return -1;
    return ingest_draft(s, &d, out, err);
}

static void tell(const struct cmd_env *env, const struct ingest_result *r, const char *file, size_t n,
                 json_t *all)
{
    if (!env->json)
        printf("%s  %s, %d test%s\n", r->run_id, ingest_effect_name(r->effect), r->tests,
               text_plural(r->tests));
    cmd_print_warnings(file, r->warnings, r->warning);
    if (*r->note)
        fprintf(stderr, "note: %s\n", r->note);
    json_array_append_new(all, json_pack("{s:s, s:i, s:s, s:b, s:i, s:i}", "file", file, "files", (int)n,
                                         "run_id", r->run_id, "stored", r->effect != INGEST_ALREADY, "tests",
                                         r->tests, "warnings", r->warnings));
}

/* Imports n files as one run. */
static int import_run_of(const struct cmd_env *env, struct store *s, const struct import_map *m,
                         const char *const *files, size_t n, const struct import_options *options,
                         json_t *all)
{
    struct ingest_result r;
    struct err err = {0};
    if (read_and_store(env, s, m, files, n, options, &r, &err) != 0)
        return cmd_fail(&err);
    tell(env, &r, files[0], n, all);
    return EXIT_DONE;
}

struct many {
    const struct cmd_env *env;
    struct store *s;
    const char *file;
    json_t *all;
};

static int store_one(struct draft *d, void *arg, struct err *err)
{
    struct many *m = arg;
    struct ingest_result r = {0};
    if ((!m->s->db && cmd_store_open(m->env, m->s, STORE_WRITE, err) != 0) ||
        ingest_draft(m->s, d, &r, err) != 0)
        return -1;
    tell(m->env, &r, m->file, 1, m->all);
    return 0;
}

/* Imports a file of many runs. */
static int import_runs_of(const struct cmd_env *env, struct store *s, const struct import_map *m,
                          const char *file, const struct import_options *options, json_t *all)
{
    struct many many = {env, s, file, all};
    struct err err = {0};
    return import_each(m, file, options, store_one, &many, &err) != 0 ? cmd_fail(&err) : EXIT_DONE;
}

struct import_args {
    const char *map;
    bool one_run, list;
    struct import_options options; /* from the command line */
};

static int import_all(const struct cmd_env *env, const struct import_args *a, const struct words *files,
                      struct err *err)
{
    AUTO(store_close) struct store s = {0};
    AUTO(import_map_release) struct import_map m = {0};
    json_auto_t *all = json_array();
    int worst = EXIT_DONE;
    size_t step = a->one_run ? files->n : 1;
    if (!a->map)
        return err_set(err, ERR_INPUT, "import: --map is required (--list shows the built-in mappings)");
    if (files->n == 0)
        return err_set(err, ERR_INPUT, "import: expected at least one file");
    if (import_map_load(&m, a->map, err) != 0 ||
        (fs_exists(env->db) && cmd_store_open(env, &s, STORE_WRITE, err) != 0))
        return -1;
    if (a->one_run && import_has_runs(&m))
        return err_set(err, ERR_INPUT, "--one-run: a file of %s has several runs", a->map);
    for (size_t i = 0; i < files->n; i += step) {
        int code = import_has_runs(&m) ? import_runs_of(env, &s, &m, files->v[i], &a->options, all)
                                       : import_run_of(env, &s, &m, files->v + i, step, &a->options, all);
        worst = code > worst ? code : worst;
    }
    if (env->json)
        cmd_print_json(json_incref(all));
    return worst;
}

static int run_import(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct import_args *a = args;
    return a->list ? list_maps(env) : import_all(env, a, words, err);
}

#define AT(member) ARG_AT(struct import_args, member)

static const struct arg options[] = {
    {"--map", "MAP", AT(map), "mapping file, or the name of a built-in mapping"},
    {"--list", NULL, AT(list), "list the built-in mappings"},
    {"--one-run", NULL, AT(one_run), "store all files as one run"},
    {"--replace", NULL, AT(options.replace), "replace stored runs that were read in another way"},
    {"--ticket", "NAME", AT(options.ticket), "override the mapping's ticket"},
    {"--tag", "TAG", AT(options.tag), "override the mapping's tag"},
    {"--node", "NODE", AT(options.node), "override the mapping's node"},
    {"--date", "DATE", AT(options.date), "override the mapping's date: 2026-02-14"},
};

const struct cmd cmd_import = {
    .name = "import",
    .summary = "store the results of other tools",
    .usage = "--map MAP FILE...",
    .about = "Stores the results of other tools, one run per file or one of all files.",
    .options = ARG_TABLE(struct import_args, options),
    .max_words = IMPORT_FILES_MAX,
    .unlisted = CMD_NODE_OPTIONS,
    .run = run_import,
};
