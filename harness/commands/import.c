/* kernsweep import --map MAP FILE...: stores results of other tools as runs. */
#include "results/ingest/import.h"
#include "harness/commands/cmd.h"

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

static int import_one(const struct cmd_env *env, struct store *s, const struct import_map *m,
                      const char *file, const struct import_options *options, json_t *all)
{
    struct ingest_result r;
    struct err err = {0};
    if (import_file(s, m, file, options, &r, &err) != 0)
        return cmd_fail(&err);
    if (!env->json)
        printf("%s  %s, %d tests\n", r.run_id, r.effect == INGEST_ALREADY ? "already stored" : "stored",
               r.tests);
    cmd_print_warnings(file, r.warnings, r.warning);
    json_array_append_new(all,
                          json_pack("{s:s, s:s, s:b, s:i, s:i}", "file", file, "run_id", r.run_id, "stored",
                                    r.effect != INGEST_ALREADY, "tests", r.tests, "warnings", r.warnings));
    return EXIT_DONE;
}

static int import_all(const struct cmd_env *env, const char *map, const char **files, size_t n,
                      const struct import_options *options, struct err *err)
{
    struct store s = {0};
    struct import_map m = {0};
    json_t *all = json_array();
    int worst = EXIT_DONE;
    int rc =
        map ? 0 : err_set(err, ERR_INPUT, "import: --map is required (--list shows the built-in mappings)");
    if (rc == 0 && n == 0)
        rc = err_set(err, ERR_INPUT, "import: expected at least one file");
    if (rc == 0)
        rc = import_map_load(&m, map, err);
    if (rc == 0)
        rc = cmd_store_open(env, &s, STORE_WRITE, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        int code = import_one(env, &s, &m, files[i], options, all);
        worst = code > worst ? code : worst;
    }
    if (rc == 0 && env->json)
        cmd_print_json(json_incref(all));
    json_decref(all);
    import_map_release(&m);
    store_close(&s);
    return rc == 0 ? worst : -1;
}

int cmd_import(struct cmd_env *env, int argc, char **argv)
{
    const char *files[IMPORT_FILES_MAX], *map = NULL;
    struct import_options options = {0};
    bool list = false;
    const struct arg opts[] = {
        {"--map", "MAP", &map, NULL, "mapping file, or the name of a built-in mapping"},
        {"--list", NULL, NULL, &list, "list the built-in mappings"},
        {"--ticket", "NAME", &options.ticket, NULL, "override the mapping's ticket"},
        {"--tag", "TAG", &options.tag, NULL, "override the mapping's tag"},
        {"--node", "NODE", &options.node, NULL, "override the mapping's node"},
        {"--date", "DATE", &options.date, NULL, "override the mapping's date: 2026-02-14"},
    };
    struct args spec = {.command = "import",
                        .usage = "--map MAP FILE...",
                        .about = "Stores the results of other tools, one run per file.",
                        .options = opts,
                        .n_options = sizeof opts / sizeof *opts,
                        .max_words = IMPORT_FILES_MAX};
    struct err err = {0};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, files, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = list ? list_maps(env) : import_all(env, map, files, n, &options, &err);
    return rc < 0 ? cmd_fail(&err) : rc;
}
