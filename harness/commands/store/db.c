/* kernsweep db check|backup|vacuum|path: maintenance of the store file. */
#include "common/base/temporary.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/progress.h"
#include "results/store/location.h"
#include "results/store/maintain.h"

#include <stdio.h>
#include <string.h>

struct findings {
    json_t *problems;
    bool json;
};

static void on_problem(void *arg, const char *what)
{
    struct findings *f = arg;
    json_array_append_new(f->problems, json_string(what));
    if (!f->json)
        fprintf(stderr, "kernsweep: %s\n", what);
}

/* Removes what killed commands left beside the store, and returns what had to stay. */
static json_t *sweep(const struct store *s)
{
    static const char *const own[] = {"runs", "sweeps", "nightly", "bisect", "trees"};
    json_t *left = json_array();
    char dir[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (location_own(s->path, own[i], dir, NULL) == 0)
            temporary_sweep(dir, NULL, left);
    return left;
}

static void tell_left(const json_t *left)
{
    char shown[256];
    size_t i;
    const json_t *path;
    json_array_foreach(left, i, path)
    {
        text_printable_fixed(shown, sizeof shown, json_string_value(path), json_string_length(path));
        fprintf(
            stderr,
            "kernsweep: %s: a killed command left it, and it cannot be removed; have its owner remove it\n",
            shown);
    }
}

static void print_check(const struct store *s, const struct check_result *r)
{
    printf("%s: schema %d, %lld run%s, %lld test%s, %lld samples, %lld bytes: %s\n", s->path,
           store_version_known(), (long long)r->runs, text_plural(r->runs), (long long)r->tests,
           text_plural(r->tests), (long long)r->samples, (long long)r->bytes,
           r->problems ? "damaged" : "sound");
}

static int check_store(const struct cmd_env *env, struct store *s, struct err *err)
{
    json_auto_t *problems = json_array(), *left = sweep(s);
    struct findings f = {.problems = problems, .json = env->json};
    struct check_result r;
    if (store_check(s, on_problem, &f, &r, err) != 0)
        return -1;
    int rc = EXIT_DONE;
    if (env->json) {
        rc = cmd_print_json(json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:O, s:O}", "path", s->path, "schema",
                                      store_version_known(), "runs", (json_int_t)r.runs, "tests",
                                      (json_int_t)r.tests, "samples", (json_int_t)r.samples, "bytes",
                                      (json_int_t)r.bytes, "problems", problems, "left", left));
    } else {
        tell_left(left);
        print_check(s, &r);
    }
    return r.problems ? EXIT_LOCAL : rc;
}

static int back_up(struct store *s, const char *path, struct err *err)
{
    if (store_copy(s, path, err) != 0)
        return -1;
    fprintf(stderr, "copied %s to %s\n", s->path, path);
    return EXIT_DONE;
}

static void show_vacuum(void *arg, double done)
{
    progress_show(arg, done);
}

static double mb(int64_t bytes)
{
    return (double)bytes / 1e6;
}

/* Announces the work beforehand, as it takes time and disk space. */
static void announce(const struct store *s, const struct vacuum_need *need, FILE *notes)
{
    if (need->unused > 0)
        fprintf(
            notes,
            "%s: %.1f of %.1f MB are unused; releasing them needs %.1f MB of free space next to the store\n",
            s->path, mb(need->unused), mb(need->bytes), mb(need->temporary));
    else
        fprintf(notes, "%s: nothing is unused in %.1f MB\n", s->path, mb(need->bytes));
}

static int vacuum(const struct cmd_env *env, struct store *s, struct err *err)
{
    struct vacuum_need need;
    struct progress line;
    if (store_vacuum_begin(s, &need, err) != 0)
        return -1;
    announce(s, &need, env->notes);
    progress_begin(&line, stderr, env->quiet, "releasing unused space");
    int rc = store_vacuum(s, &need, show_vacuum, &line, err);
    progress_end(&line);
    return rc;
}

static int print_path(const struct cmd_env *env)
{
    if (env->json)
        return cmd_print_json(json_pack("{s:s}", "path", env->db));
    puts(env->db);
    return EXIT_DONE;
}

static int db(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)args;
    AUTO(store_close) struct store s = {0};
    const char *verb = words->v[0];
    size_t n = words->n;
    if (strcmp(verb, "path") == 0 && n == 1)
        return print_path(env);
    bool reading = strcmp(verb, "backup") == 0 && n == 2;
    bool writing = n == 1 && (strcmp(verb, "check") == 0 || strcmp(verb, "vacuum") == 0);
    if (!reading && !writing)
        return err_set(err, ERR_INPUT, "db: usage: kernsweep db check | backup FILE | vacuum | path");
    if (env->json && strcmp(verb, "check") != 0)
        return err_set(err, ERR_INPUT, "db %s: --json is not supported: it prints no results", verb);
    if (cmd_store_open(env, &s, reading ? STORE_READ : STORE_CHANGE, err) != 0)
        return -1;
    if (reading)
        return back_up(&s, words->v[1], err);
    return strcmp(verb, "check") == 0 ? check_store(env, &s, err) : vacuum(env, &s, err);
}

const struct cmd cmd_db = {
    .name = "db",
    .summary = "check, back up, compact or locate the store",
    .usage = "check | backup FILE | vacuum | path",
    .about = "Checks the store (and migrates an older one, after a backup), backs it up while it is in use, "
             "releases unused space, or prints its path.",
    .min_words = 1,
    .max_words = 2,
    .unlisted = CMD_NODE_OPTIONS,
    .run = db,
};
