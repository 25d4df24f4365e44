#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "harness/session/bundle_dir.h"
#include "harness/session/internal.h"
#include "harness/session/sources.h"
#include "results/judge/verdict.h"
#include "results/store/placing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double submit_deadline_s = 60;
static const double probe_deadline_s = 60;
enum { RETRIES_MAX = 3 };

static int set_text(char *out, size_t cap, const char *what, const char *text, struct err *err)
{
    if (strlen(text) >= cap)
        return err_set(err, ERR_INPUT, "%s: longer than %zu bytes", what, cap - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

/* Returns false if a value is too long or the plan's file is gone, which does no harm, as the run itself
 * does not need the request. */
static bool fill_request(struct runrec_request *o, const struct session *s, const struct plan *p,
                         const char *date)
{
    struct overrides effective = s->opt.overrides;
    effective.date = date;
    effective.tag = p->settings.tag;
    effective.mode = p->settings.mode;
    char *plan = s->opt.repeatable ? realpath(p->file, NULL) : NULL;
    bool fits = plan && set_text(o->plan, sizeof o->plan, "plan", plan, NULL) == 0 &&
                overrides_keep(&o->overrides, &effective);
    free(plan);
    snprintf(o->plan_sha256, sizeof o->plan_sha256, "%s", p->sha256);
    return fits;
}

static int fill_record(struct session *s, const struct plan *p, const char *date, struct err *err)
{
    struct runrec *r = &s->rec;
    char *config = s->opt.ssh_config ? realpath(s->opt.ssh_config, NULL) : xstrdup("");
    if (!config)
        return err_set(err, ERR_INPUT, "--ssh-config: cannot find %.500s", s->opt.ssh_config);
    job_run_id(p->settings.ticket, r->run_id);
    int rc = set_text(r->ssh_config, sizeof r->ssh_config, "--ssh-config", config, err) ||
                     set_text(r->node, sizeof r->node, "node", p->node, err) ||
                     set_text(r->workdir, sizeof r->workdir, "workdir", p->workdir, err) ||
                     set_text(r->plan, sizeof r->plan, "plan", p->file, err) ||
                     set_text(r->source_dir, sizeof r->source_dir, "source",
                              p->source.dir ? p->source.dir : "", err) ||
                     set_text(r->ticket, sizeof r->ticket, "ticket", p->settings.ticket, err) ||
                     set_text(r->baseline, sizeof r->baseline, "baseline", p->baseline, err)
                 ? -1
                 : 0;
    free(config);
    r->purpose = s->opt.purpose;
    if (rc == 0 && s->opt.sweep)
        rc = set_text(r->sweep, sizeof r->sweep, "sweep", s->opt.sweep, err);
    r->threshold = p->threshold;
    r->connect_timeout_s = p->connect.timeout_s;
    r->patience_s = p->connect.patience_s;
    r->request.known = fill_request(&r->request, s, p, date);
    if (rc != 0)
        return -1;
    return bundle_dir_reserve(r->bundle, s->opt.artifacts, date, p->settings.ticket, p->settings.tag, err);
}

static void add_place(void *arg, const struct last_place *place)
{
    struct gpu_hints *out = arg;
    out->item = xrealloc(out->item, (out->count + 1) * sizeof *out->item);
    struct gpu_hint *h = &out->item[out->count++];
    *h = (struct gpu_hint){.context = place->context, .expected_s = place->wall_s, .since = place->since};
    snprintf(h->measured, sizeof h->measured, "%s", place->date);
    snprintf(h->variant, sizeof h->variant, "%.64s", place->variant);
    snprintf(h->gpu, sizeof h->gpu, "%.1023s", place->gpu);
}

/* Loads what the store knows of the plan's cells on this node: the GPU that last measured each cell, how
 * long a test took, and the variants that `noise --gpus` found to suffer from neighbours, which run alone
 * (except for `noise`, which measures that again). This only improves the placement, so an unreadable
 * store does not stop the run. */
static void load_placing(const struct session *s, const struct plan *p, struct gpu_hints *hints,
                         struct suffering *room)
{
    AUTO(store_close) struct store store = {0};
    struct err ignored = {0};
    room->count = 0;
    if (!fs_exists(s->opt.db) || store_open(&store, s->opt.db, STORE_READ, &ignored) != 0)
        return;
    (void)last_places(&store, p->scheduler.on ? p->scheduler.node_class : p->node, p->settings.ticket,
                      p->settings.mode, add_place, hints, &ignored);
    if (s->rec.purpose == PURPOSE_NOISE || (p->gpus.amount == GPUS_ONE && p->gpus.per_test <= 1) ||
        suffering_load(&store, s->rec.node, p->settings.ticket, p->settings.mode,
                       compare_defaults().practical, room, &ignored) != 0)
        room->count = 0;
}

static int submit_job(struct session *s, const struct plan *p, const char *sha, json_t *git, const char *date,
                      struct err *err)
{
    struct suffering suffering;
    const char *alone[NEIGHBOURS_MAX];
    struct gpu_hints hints = {.count = 0};
    struct changed_hints changed = {.count = 0};
    double budget_s = 0;
    bool some = s->rec.purpose == PURPOSE_SWEEP && overrides_some(&s->opt.overrides);
    if (some && (s->opt.find_changed(s->opt.find_changed_arg, p, &changed, err) != 0 ||
                 overrides_budget(s->opt.overrides.budget, &budget_s, err) != 0)) {
        free(changed.item);
        return -1;
    }
    load_placing(s, p, &hints, &suffering);
    for (size_t i = 0; i < suffering.count; i++)
        alone[i] = suffering.name[i];
    const struct job_request req = {.run_id = s->rec.run_id,
                                    .purpose = s->rec.purpose,
                                    .sweep = s->rec.sweep,
                                    .date = date,
                                    .source_sha256 = sha,
                                    .git = git,
                                    .counters = s->opt.counters,
                                    .fresh = s->opt.overrides.fresh,
                                    .build_only = s->opt.build_only,
                                    .compile_only = s->opt.compile_only,
                                    .hints = hints,
                                    .changed = some ? &changed : NULL,
                                    .budget_s = budget_s,
                                    .gpu_groups = s->gpu_groups,
                                    .alone = alone,
                                    .n_alone = suffering.count,
                                    .preflight = preflight_encode(&s->preflight, PREFLIGHT_WARNING)};
    json_auto_t *body = json_pack("{s:O, s:o}", "plan", p->root, "job", job_encode(p, &req));
    json_decref(req.preflight);
    free(hints.item);
    free(changed.item);
    AUTO(buf_release) struct buf text = {.max = REMOTE_MAX_JSON};
    if (!body)
        return err_set(err, ERR_INPUT, "%s: the job has text that is not UTF-8", p->file);
    if (json_encode(body, &text, err) != 0)
        return -1;
    json_auto_t *answer = remote_call(&s->remote, "submit", NULL, buf_str(&text), text.len,
                                      submit_deadline_s + p->settings.lock_wait_s, err);
    return answer ? 0 : -1;
}

/* Parses "2026-02-14T03:15:09.123Z" to seconds since the epoch; returns NaN for anything else. */
static double parse_time(const char *text)
{
    struct tm tm = {0};
    double seconds;
    if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%lfZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
                        &tm.tm_min, &seconds) != 6)
        return NAN;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (double)timegm(&tm) + seconds;
}

/* Whether a build command contains the text, such as "PLATFORM=amd" or "/opt/rocm/bin/hipcc". */
static bool builds_with(const struct plan *p, const char *text)
{
    for (size_t v = 0; v < p->variants.read_count; v++)
        for (size_t c = 0; c < p->variants.read[v].build_count; c++)
            for (size_t w = 0; w < p->variants.read[v].build[c].argc; w++)
                if (strstr(p->variants.read[v].build[c].argv[w], text))
                    return true;
    return false;
}

json_t *session_preflight(struct session *s, const struct plan *p, struct preflight *out, struct err *err)
{
    const char *model = p->scheduler.on || s->opt.compile_only ? NULL : p->settings.model;
    const char *args[] = {"--model", model, NULL};
    double before = clock_real_s();
    json_t *node = remote_call(&s->remote, "probe", model ? args : NULL, NULL, 0, probe_deadline_s, err);
    double after = clock_real_s();
    if (!node)
        return NULL;
    const char *time = json_string_value(json_object_get(node, "time"));
    const struct preflight_needs needs = {.largest_context = plan_largest_context(p),
                                          .limit_memory = p->settings.limit_memory,
                                          .limit_processes = p->settings.limit_processes,
                                          .gpus = p->gpus.given ? &p->gpus : NULL,
                                          .engines = plan_engines(p),
                                          .isolate = p->settings.isolate,
                                          .by_scheduler = p->scheduler.on,
                                          .compile_only = s->opt.compile_only,
                                          .hipcc = builds_with(p, "hipcc") || builds_with(p, "PLATFORM=amd"),
                                          .nvcc = builds_with(p, "nvcc") || builds_with(p, "PLATFORM=nvidia"),
                                          .debug = p->settings.mode && strcmp(p->settings.mode, "debug") == 0,
                                          .env = json_object_get(p->root, "env"),
                                          .clock_offset_s = parse_time(time) - (before + after) / 2,
                                          .clock_error_s = (after - before) / 2};
    preflight_check(out, node, &needs);
    return node;
}

/* With the placement "every", the size of the plan depends on the node's GPUs, so it is checked here. */
static int place_on_every(struct session *s, const struct plan *p, const json_t *node, struct err *err)
{
    if (p->settings.placement != PLACEMENT_EVERY || s->gpu_groups)
        return 0;
    const json_t *gpus = json_object_get(node, "gpus");
    if (json_array_size(gpus) < s->opt.gpus_at_once)
        return err_set(err, ERR_NODE,
                       "node %s shows %zu GPU%s, but %zu at once are needed: see `kernsweep check %s`",
                       s->rec.node, json_array_size(gpus), json_array_size(gpus) == 1 ? "" : "s",
                       s->opt.gpus_at_once, s->rec.node);
    s->gpu_groups = gpu_tests_groups(&p->gpus, gpus, err);
    if (!s->gpu_groups)
        return err_wrap(err, "%s", p->file);
    return gpu_tests_check_size(p, json_array_size(s->gpu_groups), err);
}

/* Warnings are shown and added to the job, for node.json; a blocker aborts the start. */
static int check_node(struct session *s, const struct plan *p, struct err *err)
{
    struct preflight *found = &s->preflight;
    char line[2 * PREFLIGHT_TEXT_MAX + 64];
    json_t *node = session_preflight(s, p, found, err);
    if (!node)
        return -1;
    int placed = place_on_every(s, p, node, err);
    json_decref(node);
    if (placed != 0)
        return -1;
    const struct finding *blocker = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct finding *f = &found->findings[i];
        snprintf(line, sizeof line, "warning: %s: %s (%s)", f->subject, f->text, f->remedy);
        if (f->level == PREFLIGHT_WARNING)
            session_say(s, line);
        if (f->level == PREFLIGHT_BLOCKER && !blocker)
            blocker = f;
    }
    return blocker ? err_set(err, ERR_NODE, "node %s is not fit for this run: %s: %s; %s", s->rec.node,
                             blocker->subject, blocker->text, blocker->remedy)
                   : 0;
}

/* Cached builds are identified by their commands, which an edit on the node does not change. */
static void warn_unwatched(struct session *s, const struct plan *p)
{
    bool builds = false;
    for (size_t i = 0; i < p->variants.read_count; i++)
        builds = builds || p->variants.read[i].build_count > 0;
    if (builds && !s->opt.overrides.fresh)
        session_say(s,
                    "note: the plan has no \"source\", so changes to the sources on the node go unnoticed: "
                    "as long as the build commands are the same, the cached build is used; --fresh rebuilds");
}

/* May be repeated: what is already on the node is kept. */
static int prepare_and_submit(struct session *s, const struct plan *p, json_t *git, const char *date,
                              struct err *err)
{
    char sha[SHA256_HEX_LEN + 1];
    bool sources = plan_source_given(&p->source) || s->opt.source_sha256;
    if (remote_install(&s->remote, s->executor, err) != 0 ||
        (s->preflight.count == 0 && check_node(s, p, err) != 0))
        return -1;
    if (sources && sources_stage(s, p, sha, err) != 0)
        return -1;
    if (!sources)
        warn_unwatched(s, p);
    s->offered = true;
    return submit_job(s, p, sources ? sha : NULL, git, date, err);
}

/* Reconnects up to RETRIES_MAX times. */
static int submit_surely(struct session *s, const struct plan *p, const char *date, struct err *err)
{
    json_auto_t *git = sources_revision(s, p);
    int rc;
    for (int tries = 0; (rc = prepare_and_submit(s, p, git, date, err)) != 0; tries++) {
        struct err why = *err;
        if (!s->remote.link_lost || err->kind != ERR_NODE || tries == RETRIES_MAX ||
            session_reconnect(s, &why, err) != 0)
            break;
    }
    return rc;
}

static int start_on_node(struct session *s, const struct plan *p, const char *date, struct err *err)
{
    char line[512];
    snprintf(line, sizeof line, "run %s on node %s (%s)", s->rec.run_id, transport_describe(s->t),
             transport_backend_name(s->t));
    session_say(s, line);
    if (submit_surely(s, p, date, err) != 0)
        return -1;
    s->rec.state = RUNREC_RUNNING;
    snprintf(line, sizeof line, "run %s started", s->rec.run_id);
    session_say(s, line);
    return runrec_save(&s->rec, s->opt.db, err);
}

/* If the executor refused the job, the record can go; if the node does not answer, it stays for `attach`. */
static void ask_whether_taken(struct session *s)
{
    bool has = true;
    struct err ignored = {0};
    if (remote_has_run(&s->remote, s->rec.run_id, &has, &ignored) == 0 && !has)
        s->offered = false;
}

int session_start(struct session *s, const struct plan *p, const struct session_options *opt, struct err *err)
{
    char date[16];
    session_init(s, opt);
    clock_today(date);
    if (opt->overrides.date)
        snprintf(date, sizeof date, "%s", opt->overrides.date);
    if (fill_record(s, p, date, err) != 0)
        return -1;
    if (runrec_save(&s->rec, s->opt.db, err) == 0 && session_connect(s, err) == 0 &&
        start_on_node(s, p, date, err) == 0)
        return 0;
    if (s->offered && !s->remote.link_lost)
        ask_whether_taken(s);
    if (!s->offered) { /* the node certainly does not have the run */
        rmdir(s->rec.bundle);
        runrec_remove(&s->rec, s->opt.db, NULL);
    }
    return -1;
}

static int load_requested(struct plan *p, const struct runrec *r, const struct overrides *overrides,
                          struct err *err)
{
    const struct runrec_request *o = &r->request;
    if (!o->known)
        return err_set(err, ERR_INPUT, "run %s was interrupted before it reached node %s: start a new run",
                       r->run_id, r->node);
    if (plan_load(p, o->plan, err) != 0)
        return -1;
    int rc =
        strcmp(p->sha256, o->plan_sha256) == 0
            ? 0
            : err_set(err, ERR_INPUT,
                      "%s: changed since run %s was started: `kernsweep cancel %s`, then start a new run",
                      o->plan, r->run_id, r->run_id);
    if (rc == 0)
        rc = overrides_apply(overrides, p, err);
    if (rc != 0)
        plan_release(p);
    return rc;
}

int session_start_again(struct session *s, struct err *err)
{
    struct overrides *overrides = &s->opt.overrides;
    struct plan p = {0};
    *overrides = overrides_kept(&s->rec.request.overrides);
    overrides->node = s->rec.node;
    if (load_requested(&p, &s->rec, overrides, err) != 0)
        return -1;
    int rc = start_on_node(s, &p, overrides->date, err);
    plan_release(&p);
    return rc;
}
