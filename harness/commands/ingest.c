/* kernsweep ingest DIR...: stores bundles. */
#include "results/ingest/ingest.h"
#include "harness/commands/cmd.h"

#include <stdio.h>

enum { INGEST_DIRS_MAX = 1024 };

static const char *effect_name(enum ingest_effect o)
{
    switch (o) {
    case INGEST_STORED:
        return "stored";
    case INGEST_ALREADY:
        return "already stored";
    case INGEST_REPLACED:
        return "replaced an incomplete one";
    }
    return "?";
}

/* Collects the results of the folders that are ingested. */
struct progress {
    bool json;
    json_t *all;
    int worst;
};

static void print_ingested(void *arg, const char *dir, const struct ingest_result *r, const struct err *err)
{
    struct progress *p = arg;
    if (!r) {
        int code = cmd_fail(err);
        p->worst = code > p->worst ? code : p->worst;
        return;
    }
    if (!p->json)
        printf("%s  %s, %d tests\n", r->run_id, effect_name(r->effect), r->tests);
    cmd_print_warnings(dir, r->warnings, r->warning);
    json_array_append_new(p->all,
                          json_pack("{s:s, s:s, s:s, s:i, s:i}", "dir", dir, "run_id", r->run_id, "outcome",
                                    effect_name(r->effect), "tests", r->tests, "warnings", r->warnings));
}

int cmd_ingest(struct cmd_env *env, int argc, char **argv)
{
    const char *dirs[INGEST_DIRS_MAX];
    struct ingest_options options = {0};
    const struct arg opts[] = {
        {"--node", "NAME", &options.node, NULL, "node of bundles that do not record it (B3.89)"},
        {"--date", "DATE", &options.date, NULL, "date of bundles whose path has none (B3.89): 2026-02-12"},
        {"--no-samples", NULL, NULL, &options.skip_samples, "omit telemetry samples"},
    };
    struct args spec = {
        .command = "ingest",
        .usage = "DIR...",
        .about = "Stores bundles of kernsweep and of B3.89; bundles that are already stored are left alone.",
        .options = opts,
        .n_options = sizeof opts / sizeof *opts,
        .min_words = 1,
        .max_words = INGEST_DIRS_MAX};
    struct err err = {0};
    struct store s = {0};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, dirs, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc != 0 || cmd_store_open(env, &s, STORE_WRITE, &err) != 0)
        return cmd_fail(&err);
    struct progress p = {.json = env->json, .all = json_array(), .worst = EXIT_DONE};
    rc = ingest_bundles(&s, dirs, n, &options, print_ingested, &p, &err);
    if (rc == 0 && env->json)
        cmd_print_json(json_incref(p.all));
    json_decref(p.all);
    store_close(&s);
    return rc == 0 ? p.worst : cmd_fail(&err);
}
