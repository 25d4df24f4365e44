#include "harness/session/runrec.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/temporary.h"
#include "common/base/text.h"
#include "results/store/location.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const state_names[RUNREC_STATE_COUNT] = {"starting", "running", "pulled", "ingested"};

const char *runrec_state_name(enum runrec_state s)
{
    return state_names[s];
}

/* The id becomes a file name and may come from a node; JSON can only hold paths in valid UTF-8. */
static int check_record(const struct runrec *r, struct err *err)
{
    const char *const texts[] = {r->node, r->ssh_config, r->workdir,     r->bundle,
                                 r->plan, r->source_dir, r->request.plan};
    if (!text_is_name(r->run_id))
        return err_set(err, ERR_INPUT, "\"%.80s\" is not a run id", r->run_id);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!text_is_utf8(texts[i], strlen(texts[i])))
            return err_set(err, ERR_INPUT, "%.500s: a name that is not UTF-8 cannot be stored: rename it",
                           texts[i]);
    return 0;
}

static int record_path(const struct runrec *r, const char *db, char *dir, char *path, struct err *err)
{
    char name[JOB_RUN_ID_MAX + 8];
    snprintf(name, sizeof name, "%s.json", r->run_id);
    return check_record(r, err) != 0 || location_own(db, "runs", dir, err) != 0
               ? -1
               : fs_join(path, err, dir, name);
}

/* Returns NULL if there is no request to keep. */
static json_t *encode_request(const struct runrec *r)
{
    const struct runrec_request *o = &r->request;
    if (r->state != RUNREC_STARTING || !o->known)
        return NULL;
    json_t *obj = json_pack("{s:s, s:s, s:s}", "plan", o->plan, "plan_sha256", o->plan_sha256,
                            "source_sha256", o->source_sha256);
    if (overrides_encode(&o->overrides, obj) == 0)
        return obj;
    json_decref(obj);
    return NULL;
}

int runrec_save(const struct runrec *r, const char *db, struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    if (record_path(r, db, dir, path, err) != 0 || fs_mkdir_p(dir, 0700, err) != 0)
        return -1;
    temporary_sweep(dir, NULL, NULL);
    json_auto_t *obj =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:s, s:s*, s:s*, s:o*}",
                  "run_id", r->run_id, "purpose", run_purpose_name(r->purpose), "node", r->node, "ssh_config",
                  r->ssh_config, "workdir", r->workdir, "bundle", r->bundle, "plan", r->plan, "source_dir",
                  r->source_dir, "ticket", r->ticket, "baseline", r->baseline, "threshold", r->threshold,
                  "connect_timeout_s", r->connect_timeout_s, "patience_s", r->patience_s, "state",
                  runrec_state_name(r->state), "set_aside", *r->set_aside ? r->set_aside : NULL, "sweep",
                  *r->sweep ? r->sweep : NULL, "order", encode_request(r));
    return obj ? json_save(path, obj, err)
               : err_set(err, ERR_INPUT, "%s: a name that is not UTF-8 cannot be stored", path);
}

int runrec_remove(const struct runrec *r, const char *db, struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    if (record_path(r, db, dir, path, err) != 0)
        return -1;
    if (unlink(path) != 0 && errno != ENOENT)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot remove", path);
    return 0;
}

static int decode_request(struct runrec_request *o, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "order");
    if (!at.value)
        return 0;
    if (json_get_text(&at, "plan", o->plan, sizeof o->plan, err) ||
        json_get_text(&at, "plan_sha256", o->plan_sha256, sizeof o->plan_sha256, err) ||
        json_get_text(&at, "source_sha256", o->source_sha256, sizeof o->source_sha256, err) ||
        overrides_decode(&o->overrides, &at, err) != 0)
        return -1;
    o->known = true;
    return 0;
}

static int decode_purpose(const struct json_at *root, struct runrec *r, struct err *err)
{
    const char *purpose;
    if (json_get_str(root, "purpose", &purpose, err) != 0)
        return -1;
    if (run_purpose_from_name(purpose, &r->purpose))
        return 0;
    struct json_at at = json_member(root, "purpose");
    return json_fail(&at, err, "unknown purpose \"%.40s\"", purpose);
}

static int decode(struct runrec *r, const json_t *obj, const char *file, struct err *err)
{
    struct json_at root = json_root(obj, file);
    char state[16];
    *r = (struct runrec){0};
    if (json_get_text(&root, "run_id", r->run_id, sizeof r->run_id, err) ||
        json_get_text(&root, "node", r->node, sizeof r->node, err) ||
        json_get_text(&root, "ssh_config", r->ssh_config, sizeof r->ssh_config, err) ||
        json_get_text(&root, "workdir", r->workdir, sizeof r->workdir, err) ||
        json_get_text(&root, "bundle", r->bundle, sizeof r->bundle, err) ||
        json_get_text(&root, "plan", r->plan, sizeof r->plan, err) ||
        (json_object_get(obj, "set_aside") &&
         json_get_text(&root, "set_aside", r->set_aside, sizeof r->set_aside, err)) ||
        (json_object_get(obj, "sweep") && json_get_text(&root, "sweep", r->sweep, sizeof r->sweep, err)) ||
        json_get_text(&root, "source_dir", r->source_dir, sizeof r->source_dir, err) ||
        json_get_text(&root, "ticket", r->ticket, sizeof r->ticket, err) ||
        json_get_text(&root, "baseline", r->baseline, sizeof r->baseline, err) ||
        json_get_text(&root, "state", state, sizeof state, err) ||
        json_get_num(&root, "threshold", 0, 1e6, &r->threshold, err) ||
        json_get_num(&root, "connect_timeout_s", 0, 1e6, &r->connect_timeout_s, err) ||
        json_get_num(&root, "patience_s", 0, 1e7, &r->patience_s, err) || decode_purpose(&root, r, err) ||
        decode_request(&r->request, &root, err))
        return -1;
    for (int i = 0; i < RUNREC_STATE_COUNT; i++)
        if (strcmp(state, state_names[i]) == 0) {
            r->state = (enum runrec_state)i;
            return 0;
        }
    struct json_at at = json_member(&root, "state");
    return json_fail(&at, err, "unknown state \"%.40s\"", state);
}

struct each {
    int (*fn)(const struct runrec *, void *, struct err *);
    void *arg;
};

/* A record that cannot be read is in the way of every command, and only a person knows whether its run is
 * still needed. */
static int tell_broken(const char *rel, const struct err *why, struct err *err)
{
    return err_set(err, why->kind,
                   "%.700s: move the file away; `kernsweep attach %.*s --node NODE` finds its run without it",
                   why->msg, (int)(strlen(rel) - strlen(".json")), rel);
}

static int load_record(const char *rel, const char *full, void *arg, struct err *err)
{
    const struct each *each = arg;
    size_t n = strlen(rel);
    if (n < 6 || strcmp(rel + n - 5, ".json") != 0)
        return 0;
    struct runrec r;
    struct err why = {0};
    json_auto_t *obj = json_load(full, 1 << 20, &why);
    if (!obj && !fs_exists(full))
        return 0; /* another command has removed the record meanwhile */
    if (!obj || decode(&r, obj, full, &why) != 0)
        return tell_broken(rel, &why, err);
    return each->fn(&r, each->arg, err);
}

int runrec_each(const char *db, int (*fn)(const struct runrec *, void *, struct err *), void *arg,
                struct err *err)
{
    char dir[FS_PATH_MAX];
    if (location_own(db, "runs", dir, err) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return 0;
    struct each each = {fn, arg};
    return fs_walk(dir, true, load_record, &each, err);
}

struct find {
    const char *word;
    const char *node, *workdir; /* NULL: any */
    char bundle[FS_PATH_MAX];   /* word as an absolute path; "" if it is not a path */
    struct runrec *out;
    bool exact;
    int matches;
    struct runrec of_ticket; /* the newest sweep whose ticket is the word */
    bool is_ticket;
};

/* Records are visited oldest first, except that runs of the same second may be in any order. */
static void match_ticket(const struct runrec *r, struct find *f)
{
    if (r->purpose != PURPOSE_SWEEP || !*f->word || strcmp(f->word, r->ticket) != 0)
        return;
    if (f->is_ticket && job_run_id_compare(r->run_id, f->of_ticket.run_id) < 0)
        return;
    f->of_ticket = *r;
    f->is_ticket = true;
}

static int match_record(const struct runrec *r, void *arg, struct err *err)
{
    struct find *f = arg;
    (void)err;
    if ((f->node && strcmp(f->node, r->node) != 0) || (f->workdir && strcmp(f->workdir, r->workdir) != 0))
        return 0;
    bool exact = strcmp(f->word, r->run_id) == 0 || (*f->bundle && strcmp(f->bundle, r->bundle) == 0);
    bool latest = strcmp(f->word, "latest") == 0 && r->purpose == PURPOSE_SWEEP;
    bool prefix = *f->word && strncmp(r->run_id, f->word, strlen(f->word)) == 0;
    match_ticket(r, f);
    if (!exact && (f->exact || (!latest && !prefix)))
        return 0;
    if (latest && !exact && f->matches && job_run_id_compare(r->run_id, f->out->run_id) < 0)
        return 0;
    f->exact = exact;
    f->matches = exact || latest ? 1 : f->matches + 1;
    *f->out = *r;
    return 0;
}

int runrec_find(struct runrec *r, const char *db, const char *word, struct err *err)
{
    return runrec_find_at(r, db, word, NULL, NULL, err);
}

int runrec_find_at(struct runrec *r, const char *db, const char *word, const char *node, const char *workdir,
                   struct err *err)
{
    struct find f = {.word = word, .node = node, .workdir = workdir, .out = r};
    char *abs = fs_is_dir(word) ? realpath(word, NULL) : NULL;
    if (abs)
        snprintf(f.bundle, sizeof f.bundle, "%s", abs);
    free(abs);
    if (runrec_each(db, match_record, &f, err) != 0)
        return -1;
    if (f.matches != 1 && f.is_ticket) {
        *r = f.of_ticket;
        return 0;
    }
    if (f.matches == 0)
        return err_set(
            err, ERR_INPUT,
            "no run or ticket \"%.80s\" was started from here: see `kernsweep runs`, or give --node for a "
            "run started elsewhere",
            word);
    if (f.matches > 1)
        return err_set(err, ERR_INPUT, "\"%.80s\" matches %d runs: type more of the run id", word, f.matches);
    return 0;
}

struct newest {
    const char *plan; /* NULL: any that has not ended */
    const char *node; /* NULL: any */
    struct runrec *out;
    bool found;
};

static int take_newest(const struct runrec *r, void *arg, struct err *err)
{
    struct newest *n = arg;
    (void)err;
    if (n->node && strcmp(r->node, n->node) != 0)
        return 0;
    if (n->found && job_run_id_compare(r->run_id, n->out->run_id) < 0)
        return 0;
    if (n->plan ? strcmp(r->plan, n->plan) == 0 : r->state < RUNREC_PULLED) {
        *n->out = *r;
        n->found = true;
    }
    return 0;
}

int runrec_newest(struct runrec *r, const char *db, const char *plan, const char *node, bool *found,
                  struct err *err)
{
    struct newest n = {.plan = plan, .node = node, .out = r};
    int rc = runrec_each(db, take_newest, &n, err);
    *found = rc == 0 && n.found;
    return rc;
}

int runrec_unfinished(struct runrec *r, const char *db, bool *found, struct err *err)
{
    return runrec_newest(r, db, NULL, NULL, found, err);
}
