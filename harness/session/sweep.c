#include "harness/session/sweep.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "harness/plan/job.h"
#include "results/store/location.h"

#include <stdio.h>
#include <string.h>

#define ID_HEAD "sweep-"

void sweep_begin(struct sweep_record *w, const struct plan *p)
{
    char run_id[JOB_RUN_ID_MAX];
    *w = (struct sweep_record){.count = p->nodes.count};
    job_run_id(p->settings.ticket, run_id);
    snprintf(w->id, sizeof w->id, ID_HEAD "%.58s", run_id);
    snprintf(w->plan, sizeof w->plan, "%s", p->file);
    snprintf(w->ticket, sizeof w->ticket, "%s", p->settings.ticket);
    for (size_t i = 0; i < w->count; i++)
        snprintf(w->member[i].node, sizeof w->member[i].node, "%s", p->nodes.name[i]);
}

static json_t *encode(const struct sweep_record *w)
{
    json_t *nodes = json_array();
    for (size_t i = 0; i < w->count; i++) {
        const struct sweep_member *m = &w->member[i];
        json_array_append_new(nodes, json_pack("{s:s, s:b, s:i, s:s}", "node", m->node, "ended", m->ended,
                                               "exit_code", m->code, "failure", m->failure));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "sweep", w->id, "plan", w->plan, "ticket", w->ticket,
                     "report", w->report, "nodes", nodes);
}

int sweep_save(const struct sweep_record *w, const char *db, struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX], name[LIMIT_NAME + 8];
    snprintf(name, sizeof name, "%s.json", w->id);
    if (location_own(db, "sweeps", dir, err) != 0 || fs_join(path, err, dir, name) != 0 ||
        fs_mkdir_p(dir, 0700, err) != 0)
        return -1;
    json_auto_t *obj = encode(w);
    return obj ? json_save(path, obj, err)
               : err_set(err, ERR_INPUT, "%s: a name that is not UTF-8 cannot be stored", path);
}

static int decode_member(struct sweep_member *m, const struct json_at *at, struct err *err)
{
    const json_t *code = json_object_get(at->value, "exit_code");
    *m = (struct sweep_member){.ended = json_is_true(json_object_get(at->value, "ended"))};
    m->code = json_is_integer(code) ? (int)json_integer_value(code) : 0;
    return json_get_text(at, "node", m->node, sizeof m->node, err) ||
                   json_get_text(at, "failure", m->failure, sizeof m->failure, err)
               ? -1
               : 0;
}

static int decode(struct sweep_record *w, const json_t *obj, const char *file, struct err *err)
{
    struct json_at root = json_root(obj, file), nodes = json_member(&root, "nodes");
    *w = (struct sweep_record){.count = json_array_size(nodes.value)};
    if (w->count < 1 || w->count > PLAN_NODES_MAX)
        return json_expected(&nodes, "an array of 1 to 64 nodes", err);
    if (json_get_text(&root, "sweep", w->id, sizeof w->id, err) ||
        json_get_text(&root, "plan", w->plan, sizeof w->plan, err) ||
        json_get_text(&root, "ticket", w->ticket, sizeof w->ticket, err) ||
        json_get_text(&root, "report", w->report, sizeof w->report, err))
        return -1;
    for (size_t i = 0; i < w->count; i++) {
        struct json_at at = json_element(&nodes, i);
        if (decode_member(&w->member[i], &at, err) != 0)
            return -1;
    }
    return 0;
}

struct find {
    const char *word;
    bool whole; /* word must be a complete id */
    char file[FS_PATH_MAX];
    int matches;
    bool exact; /* the word is the complete id of the file */
};

/* Files are visited in the order of their names. A file whose complete id is the word takes precedence
 * over those whose ids begin with it. */
static int match_file(const char *rel, const char *full, void *arg, struct err *err)
{
    struct find *f = arg;
    size_t n = strlen(rel), len = strlen(f->word);
    (void)err;
    if (f->exact || n < 6 || strcmp(rel + n - 5, ".json") != 0 || strncmp(rel, f->word, len) != 0)
        return 0;
    f->exact = n - 5 == len;
    if (f->whole && !f->exact)
        return 0;
    f->matches = f->exact ? 1 : f->matches + 1;
    snprintf(f->file, sizeof f->file, "%s", full);
    return 0;
}

static int find_file(const char *db, const char *word, bool whole, struct sweep_record *w, bool *found,
                     struct err *err)
{
    char dir[FS_PATH_MAX];
    struct find f = {.word = word, .whole = whole};
    *found = false;
    if (location_own(db, "sweeps", dir, err) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return 0;
    if (fs_walk(dir, true, match_file, &f, err) != 0)
        return -1;
    if (f.matches > 1)
        return err_set(err, ERR_INPUT, "\"%.80s\" matches %d sweeps: type more of the id", word, f.matches);
    if (f.matches == 0)
        return 0;
    json_auto_t *obj = json_load(f.file, 1 << 20, err);
    if (!obj || decode(w, obj, f.file, err) != 0)
        return -1;
    *found = true;
    return 0;
}

int sweep_find(struct sweep_record *w, const char *db, const char *word, bool *found, struct err *err)
{
    struct runrec latest;
    struct err none = {0};
    *found = false;
    if (strncmp(word, ID_HEAD, strlen(ID_HEAD)) == 0)
        return find_file(db, word, false, w, found, err);
    if (runrec_find(&latest, db, word, &none) != 0 || !*latest.sweep)
        return 0;
    bool newest = strcmp(word, "latest") == 0 || strcmp(word, latest.ticket) == 0;
    return newest ? find_file(db, latest.sweep, true, w, found, err) : 0;
}

/* The newest run of the plan on one node, and the sweep to resume there. */
struct newest_run {
    char run_id[JOB_RUN_ID_MAX];
    char node[sizeof((struct runrec *)0)->node];
    char sweep[LIMIT_NAME + 1]; /* "": nothing is left to do */
};

struct unfinished {
    const char *plan;
    struct newest_run of[PLAN_NODES_MAX];
    size_t count;
};

static int note_newest(const struct runrec *r, void *arg, struct err *err)
{
    struct unfinished *u = arg;
    size_t i = 0;
    (void)err;
    if (strcmp(r->plan, u->plan) != 0)
        return 0;
    while (i < u->count && strcmp(u->of[i].node, r->node) != 0)
        i++;
    if (i == PLAN_NODES_MAX)
        return 0;
    if (i < u->count && job_run_id_compare(r->run_id, u->of[i].run_id) < 0)
        return 0;
    u->count = i < u->count ? u->count : i + 1;
    bool over = r->state == RUNREC_INGESTED || *r->set_aside;
    snprintf(u->of[i].run_id, sizeof u->of[i].run_id, "%s", r->run_id);
    snprintf(u->of[i].node, sizeof u->of[i].node, "%s", r->node);
    snprintf(u->of[i].sweep, sizeof u->of[i].sweep, "%s", over ? "" : r->sweep);
    return 0;
}

int sweep_unfinished(struct sweep_record *w, const char *db, const char *plan, bool *found, struct err *err)
{
    struct unfinished u = {.plan = plan};
    const char *newest = "";
    *found = false;
    if (runrec_each(db, note_newest, &u, err) != 0)
        return -1;
    for (size_t i = 0; i < u.count; i++)
        if (*u.of[i].sweep && (!*newest || job_run_id_compare(u.of[i].sweep, newest) > 0))
            newest = u.of[i].sweep;
    return *newest ? find_file(db, newest, true, w, found, err) : 0;
}

struct each {
    const struct sweep_record *sweep;
    int (*fn)(const struct runrec *, void *, struct err *);
    void *arg;
};

static int visit(const struct runrec *r, void *arg, struct err *err)
{
    const struct each *e = arg;
    return strcmp(r->sweep, e->sweep->id) == 0 && r->purpose == PURPOSE_SWEEP ? e->fn(r, e->arg, err) : 0;
}

int sweep_each(const struct sweep_record *w, const char *db,
               int (*fn)(const struct runrec *, void *, struct err *), void *arg, struct err *err)
{
    struct each e = {w, fn, arg};
    return runrec_each(db, visit, &e, err);
}
