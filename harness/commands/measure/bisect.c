/* kernsweep bisect PLAN --good REV --bad REV: searches the commits between the two for the one that made a
 * cell slower. */
#include "common/base/alloc.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/measure/bisect_code.h"
#include "harness/commands/measure/bisect_output.h"
#include "harness/commands/measure/bisect_run.h"
#include "harness/session/bisect_request.h"
#include "results/store/bisect_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20 };

struct bisect_args {
    const char *good, *bad, *variants, *contexts, *path, *rounds, *node, *artifacts;
    bool first_parent, force, fresh, go_on, detach, list, show;
};

static int set_text(char *out, size_t cap, const char *option, const char *text, struct err *err)
{
    if (text && strlen(text) >= cap)
        return err_set(err, ERR_INPUT, "%s: longer than %zu bytes", option, cap - 1);
    snprintf(out, cap, "%s", text ? text : "");
    return 0;
}

static int set_path(char *out, const char *path, struct err *err)
{
    AUTO_FREE char *full = realpath(path, NULL);
    if (!full)
        return err_set(err, ERR_INPUT, "%.500s: no such file or folder", path);
    return set_text(out, FS_PATH_MAX, "path", full, err);
}

static int fill_request(const struct bisect_args *a, const char *plan, struct bisect_request *r,
                        struct err *err)
{
    const char *artifacts = a->artifacts ? a->artifacts : "artifacts_remote";
    int64_t rounds = 0;
    r->first_parent = a->first_parent;
    r->force = a->force;
    if (set_path(r->plan, plan, err) != 0 || fs_mkdir_p(artifacts, 0755, err) != 0 ||
        set_path(r->artifacts, artifacts, err) != 0 ||
        set_text(r->node, sizeof r->node, "--node", a->node, err) != 0 ||
        set_text(r->variants, sizeof r->variants, "--variant", a->variants, err) != 0 ||
        set_text(r->contexts, sizeof r->contexts, "--point", a->contexts, err) != 0 ||
        set_text(r->path, sizeof r->path, "--path", a->path, err) != 0 ||
        cmd_number("--rounds", a->rounds, 1, CONFIRM_ROUNDS_MAX, &rounds, err) != 0)
        return -1;
    r->rounds = (int)rounds;
    return 0;
}

/* Notes unfinished searches of the same commits that are not resumed because plan or options have changed. */
static int note_unfinished(const struct cmd_env *env, struct store *s, const struct bisect_state *b,
                           struct err *err)
{
    AUTO(bisect_rows_release) struct bisect_rows rows = {.items = NULL};
    const char *good = b->commits[0].id, *bad = b->commits[b->count - 1].id;
    if (bisect_rows_list(s, &rows, err) != 0)
        return -1;
    for (size_t i = 0; i < rows.count; i++) {
        const struct bisect_row *r = &rows.items[i];
        if (!*r->outcome && strcmp(r->ticket, b->ticket) == 0 && strcmp(r->good, good) == 0 &&
            strcmp(r->bad, bad) == 0)
            fprintf(env->notes,
                    "bisect %s of the same commits is unfinished, but its plan or options were different, so "
                    "this is a new search\n",
                    r->name);
    }
    return 0;
}

/* Resumes a search with the same words and the same plan; --fresh begins it again. */
static int begin(const struct cmd_env *env, const struct bisect_args *a, const char *plan, struct store *s,
                 struct bisect_state *b, struct err *err)
{
    struct bisect_state stored = {.commits = NULL};
    bool found;
    if (!a->good || !a->bad)
        return err_set(err, ERR_INPUT, "bisect: expected --good REV and --bad REV");
    if (fill_request(a, plan, &b->request, err) != 0 || bisect_prepare(b, a->good, a->bad, err) != 0)
        return -1;
    if (a->fresh)
        return bisect_row_remove(s, b->name, err);
    if (bisect_state_load(&stored, s, b->name, true, &found, err) != 0)
        return -1;
    if (!found)
        return note_unfinished(env, s, b, err);
    fprintf(env->notes,
            *stored.ended_at ? "bisect %s already has its answer: --fresh searches again\n"
                             : "bisect %s resumes where it stopped\n",
            b->name);
    bisect_state_release(b);
    *b = stored;
    return 0;
}

static int print_state(const struct cmd_env *env, const struct bisect_state *b, struct store *s)
{
    AUTO(buf_release) struct buf text = {.max = TEXT_MAX};
    if (env->json) {
        AUTO(bisect_code_release) struct bisect_code code = {.rows = NULL};
        json_t *all = bisect_state_encode(b);
        bisect_code_load(b, s, &code);
        json_object_set_new(all, "changed_code", bisect_code_encode(&code));
        return cmd_print_json(all);
    }
    bisect_write_text(b, s, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
    return EXIT_DONE;
}

static void print_list(const struct bisect_rows *rows)
{
    AUTO(table_release) struct table t = {0};
    for (size_t i = 0; rows->count > 0 && i < 3; i++)
        table_column(&t, (const char *const[]){"NAME", "STARTED", "OUTCOME"}[i], false);
    for (size_t i = 0; i < rows->count; i++) {
        const struct bisect_row *r = &rows->items[i];
        char started[32];
        snprintf(started, sizeof started, "%.19sZ", r->started_at);
        table_code(&t, r->name);
        table_code(&t, started);
        table_text(&t, *r->outcome ? r->outcome : "not finished");
    }
    cmd_print_table(&t);
}

static int list(const struct cmd_env *env, struct store *s, struct err *err)
{
    AUTO(bisect_rows_release) struct bisect_rows rows = {.items = NULL};
    json_auto_t *all = json_array();
    if (bisect_rows_list(s, &rows, err) != 0)
        return -1;
    for (size_t i = 0; i < rows.count; i++) {
        const struct bisect_row *r = &rows.items[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name", r->name,
                                             "ticket", r->ticket, "node", r->node, "good", r->good, "bad",
                                             r->bad, "started_at", r->started_at, "ended_at", r->ended_at,
                                             "outcome", r->outcome));
    }
    if (env->json)
        return cmd_print_json(json_incref(all));
    print_list(&rows);
    return EXIT_DONE;
}

static int show(const struct cmd_env *env, struct store *s, const char *word, struct err *err)
{
    AUTO(bisect_state_release) struct bisect_state b = {.commits = NULL};
    bool found;
    return bisect_state_load(&b, s, word, false, &found, err) != 0 ? -1 : print_state(env, &b, s);
}

static int detach(const struct cmd_env *env, const struct bisect_state *b, struct store *s, struct err *err)
{
    char log[FS_PATH_MAX];
    if (!*b->ended_at && (bisect_state_save(b, s, err) != 0 || bisect_detach(env, b->name, log, err) != 0))
        return -1;
    if (*b->ended_at)
        return print_state(env, b, s);
    fprintf(env->notes,
            "the search continues in the background and writes to %s; `kernsweep bisect --continue %s` waits "
            "for it\n",
            log, b->name);
    if (env->json)
        return cmd_print_json(json_pack("{s:s, s:s, s:s}", "name", b->name, "state", "running", "log", log));
    puts(b->name);
    return EXIT_DONE;
}

static int search(struct cmd_env *env, const struct bisect_args *a, const char *word, struct store *s,
                  struct err *err)
{
    AUTO(bisect_state_release) struct bisect_state b = {.commits = NULL};
    struct bisect_settings o = {.time_s = 0};
    bool found;
    const struct attach_args where = {.artifacts = a->artifacts};
    attach_options(env, &where, &o.session);
    int rc = cmd_backend(env, &o.session.backend, err);
    if (rc == 0)
        rc = a->go_on ? bisect_state_load(&b, s, word, false, &found, err) : begin(env, a, word, s, &b, err);
    if (rc == 0 && a->detach)
        return detach(env, &b, s, err);
    if (rc == 0)
        rc = bisect_run_locked(&b, s, &o, err);
    if (rc == 0)
        rc = print_state(env, &b, s);
    else if (b.commits)
        fprintf(env->notes, "bisect: `kernsweep bisect --continue %s` resumes the search\n", b.name);
    return rc == EXIT_DONE && b.step.outcome == BISECT_STOPPED ? EXIT_TEST_FAILED : rc;
}

static int bisect(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct bisect_args *a = args;
    const char *word = words->v[0];
    AUTO(store_close) struct store s = {0};
    if (a->list + a->show + a->go_on > 1)
        return err_set(err, ERR_INPUT, "bisect: give only one of --list, --show and --continue");
    if (!a->list && !a->show && !a->go_on && !word)
        return err_set(err, ERR_INPUT, "bisect: expected a plan, or --continue, --show or --list");
    const char *name = word ? word : "latest";
    if (cmd_store_open(env, &s, a->list || a->show ? STORE_READ : STORE_WRITE, err) != 0)
        return -1;
    return a->list ? list(env, &s, err) : a->show ? show(env, &s, name, err) : search(env, a, name, &s, err);
}

#define AT(member) ARG_AT(struct bisect_args, member)

static const struct arg options[] = {
    {"--good", "REV", AT(good), "a revision of source.dir that is fast"},
    {"--bad", "REV", AT(bad), "a later one that is slow"},
    {"--variant", "LIST", AT(variants), "only these variants: v3,v4"},
    {"--point", "LIST", AT(contexts), "only these contexts: 4096,8192"},
    {"--first-parent", NULL, AT(first_parent), "of merges, follow the first parent only"},
    {"--path", "PATH", AT(path), "only commits that change this path below source.dir"},
    {"--rounds", "N", AT(rounds),
     "maximum number of rounds per commit (default: confirm.rounds of the plan)"},
    {"--node", "NODE", AT(node), "override the plan's node"},
    {"--artifacts", "DIR", AT(artifacts), "folder for bundles and the report (default ./artifacts_remote)"},
    {"--force", NULL, AT(force), "measure commits with the same machine code too"},
    {"--fresh", NULL, AT(fresh), "search again from the start"},
    {"--continue", NULL, AT(go_on), "resume an interrupted search (default the latest)"},
    {"--detach", NULL, AT(detach), "return at once; --continue waits for the search"},
    {"--list", NULL, AT(list), "list the searches"},
    {"--show", NULL, AT(show), "print a search (default the latest)"},
};

const struct cmd cmd_bisect = {
    .name = "bisect",
    .summary = "find the commit that made a cell slower",
    .usage = "PLAN --good REV --bad REV [options] | --continue|--show [NAME] | --list",
    .about = "Finds the commit between two revisions that made a cell slower. Every commit tried is built on "
             "the node and, unless its machine code has been measured by then, measured in alternation with "
             "the good one.",
    .options = ARG_TABLE(struct bisect_args, options),
    .max_words = 1,
    .run = bisect,
};
