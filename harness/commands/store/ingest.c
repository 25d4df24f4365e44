/* kernsweep ingest DIR...: stores bundles, and folders of a B3.89 executor. */
#include "results/ingest/ingest.h"
#include "harness/commands/base/cmd.h"
#include "results/ingest/source.h"

#include <stdio.h>
#include <stdlib.h>

enum { INGEST_DIRS_MAX = 1024 };

struct progress {
    bool json;
    FILE *notes;
    json_t *all;
    int worst;
    size_t interrupted; /* folders not stored because of an interruption */
};

static void print_failure(struct progress *p, const struct err *err)
{
    int code = err->kind == ERR_INTERRUPTED ? EXIT_INTERRUPTED : cmd_fail(err);
    p->interrupted += err->kind == ERR_INTERRUPTED;
    p->worst = code > p->worst ? code : p->worst;
}

static void print_ingested(void *arg, const char *dir, const struct ingest_result *r, const struct err *err)
{
    struct progress *p = arg;
    if (!r) {
        print_failure(p, err);
        return;
    }
    if (!p->json)
        printf("%s  %s, %d test%s\n", r->run_id, ingest_effect_name(r->effect), r->tests,
               text_plural(r->tests));
    cmd_print_warnings(dir, r->warnings, r->warning);
    if (*r->note)
        fprintf(p->notes, "%s: note: %s\n", dir, r->note);
    json_array_append_new(p->all, json_pack("{s:s, s:s, s:s, s:i, s:i}", "dir", dir, "run_id", r->run_id,
                                            "outcome", ingest_effect_name(r->effect), "tests", r->tests,
                                            "warnings", r->warnings));
}

static int read_folder(const char *dir, const struct ingest_options *options, struct err *err)
{
    AUTO(source_release) struct source f = {0};
    AUTO(draft_release) struct draft d = {0};
    struct run_info info = {0};
    draft_init(&d);
    return source_open(&f, dir, options, &info, err) != 0 ? -1 : source_read(&f, &d, err);
}

static bool is_any_a_run(const char *const *dirs, size_t n, const struct ingest_options *options)
{
    struct err ignored = {0};
    for (size_t i = 0; i < n; i++)
        if (read_folder(dirs[i], options, &ignored) == 0)
            return true;
    return false;
}

static int store_folders(const struct cmd_env *env, const char *const *dirs, size_t n,
                         const struct ingest_options *options, struct progress *p, struct err *err)
{
    AUTO(store_close) struct store s = {0};
    return cmd_store_open(env, &s, STORE_WRITE, err) != 0
               ? -1
               : ingest_bundles(&s, dirs, n, options, print_ingested, p, err);
}

/* Without any folder of a whole run, the store is not created. */
static int ingest_folders(const struct cmd_env *env, const char *const *dirs, size_t n,
                          const struct ingest_options *options, struct progress *p, struct err *err)
{
    if (fs_exists(env->db) || is_any_a_run(dirs, n, options))
        return store_folders(env, dirs, n, options, p, err);
    for (size_t i = 0; i < n; i++) {
        struct err why = {0};
        if (read_folder(dirs[i], options, &why) != 0)
            print_ingested(p, dirs[i], NULL, &why);
    }
    return 0;
}

static int parse_warmup(const char *text, int *out, struct err *err)
{
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;
    if (text && (end == text || *end || n < 0 || n > LIMIT_REPETITIONS))
        return err_set(err, ERR_INPUT, "--warmup: expected a number of repetitions from 0 to %d",
                       LIMIT_REPETITIONS);
    *out = (int)n;
    return 0;
}

struct ingest_args {
    const char *warmup;
    struct ingest_options options;
};

static int ingest(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    struct ingest_args *a = args;
    json_auto_t *all = json_array();
    struct progress p = {.json = env->json, .notes = env->notes, .all = all, .worst = EXIT_DONE};
    if (parse_warmup(a->warmup, &a->options.warmup, err) != 0)
        return -1;
    int rc = ingest_folders(env, words->v, words->n, &a->options, &p, err);
    if (rc == 0 && env->json)
        cmd_print_json(json_incref(all));
    if (p.interrupted)
        fprintf(stderr,
                "kernsweep: interrupted: %zu of %zu folders are not stored; the same command stores them\n",
                p.interrupted, words->n);
    return rc == 0 ? p.worst : -1;
}

#define AT(member) ARG_AT(struct ingest_args, member)

static const struct arg options[] = {
    {"--node", "NAME", AT(options.node), "node of bundles that do not record it (B3.89)"},
    {"--date", "DATE", AT(options.date), "date of bundles whose path has none (B3.89): 2026-02-12"},
    {"--ticket", "NAME", AT(options.ticket), "ticket of bundles whose files name none (B3.89)"},
    {"--warmup", "N", AT(warmup), "do not count the first N repetitions of each cell (B3.89)"},
    {"--replace", NULL, AT(options.replace), "replace stored runs that were read in another way"},
    {"--no-samples", NULL, AT(options.skip_samples), "omit telemetry samples"},
};

const struct cmd cmd_ingest = {
    .name = "ingest",
    .summary = "store bundles in the results database",
    .usage = "DIR...",
    .about = "Stores bundles of kernsweep and of B3.89; bundles that are already stored are left alone.",
    .options = ARG_TABLE(struct ingest_args, options),
    .min_words = 1,
    .max_words = INGEST_DIRS_MAX,
    .unlisted = CMD_NODE_OPTIONS,
    .run = ingest,
};
