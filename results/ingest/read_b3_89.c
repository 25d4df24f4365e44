#include "results/ingest/b3_89_events.h"
#include "results/ingest/b3_89_memory.h"
#include "results/ingest/b3_89_perf.h"
#include "results/ingest/readers.h"

#include "common/base/text.h"

#include <stdio.h>
#include <string.h>

struct walk {
    const char *dir;
    const struct ingest_options *options;
    struct draft *d;
    char ticket[RUN_NAME_MAX]; /* of the first perf.json; all must agree */
    bool mode_seen;
    struct b3_events events;
};

static int agree_on_mode(struct walk *w, const struct json_at *perf, struct err *err)
{
    char mode[16];
    struct run_info *r = &w->d->info;
    if (artifact_text(perf, "mode", mode, sizeof mode, err) != 0)
        return -1;
    if (!*mode)
        return 0;
    if (strcmp(mode, "perf") != 0 && strcmp(mode, "debug") != 0)
        return json_fail(perf, err, "mode is \"%s\", expected \"perf\" or \"debug\"", mode);
    if (w->mode_seen && strcmp(mode, r->mode) != 0)
        return json_fail(perf, err, "mode is \"%s\", but \"%s\" in earlier files: one mode per folder", mode,
                         r->mode);
    snprintf(r->mode, sizeof r->mode, "%s", mode);
    w->mode_seen = true;
    return 0;
}

static int agree_on_ticket(struct walk *w, const struct json_at *perf, struct err *err)
{
    char ticket[RUN_NAME_MAX];
    if (artifact_name(perf, "ticket", ticket, sizeof ticket, err) != 0)
        return -1;
    if (*w->ticket && strcmp(ticket, w->ticket) != 0)
        return json_fail(perf, err, "ticket is \"%s\", but \"%s\" in earlier files", ticket, w->ticket);
    snprintf(w->ticket, sizeof w->ticket, "%s", ticket);
    return 0;
}

/* The first executor built only the baseline and did not name it. */
static int settle_variant(struct draft *d, const struct b3_place *p, const struct json_at *perf,
                          struct run_test *t, struct err *err)
{
    const char *name = *p->variant ? p->variant : "baseline";
    if (!text_is_name(name))
        return json_fail(perf, err, "\"%.80s\" is not a valid variant name", name);
    t->variant = draft_variant(d, name);
    if (t->variant == d->n_variants && !draft_add_variant(d, name, err))
        return -1;
    return 0;
}

static int read_one(struct walk *w, const char *rel, const char *full, json_t *perf, struct err *err)
{
    struct json_at root = json_root(perf, full);
    struct b3_place p;
    if (!json_is_object(perf))
        return json_fail(&root, err, "expected an object");
    if (b3_place_parse(rel, full, &p, err) != 0 || b3_place_settle(&root, &p, err) != 0 ||
        agree_on_ticket(w, &root, err) != 0 || agree_on_mode(w, &root, err) != 0)
        return -1;
    struct draft_test *t = draft_add_test(w->d, err);
    if (!t || artifact_perf(&root, w->d, t, err) != 0 || settle_variant(w->d, &p, &root, &t->t, err) != 0)
        return -1;
    t->t.context = p.context;
    t->t.repetition = p.repetition;
    return b3_memory_read(full, w->options && w->options->skip_samples, t, err);
}

static int read_file(const char *rel, const char *full, void *arg, struct err *err)
{
    struct walk *w = arg;
    if (b3_events_may_be_in(rel))
        return b3_events_read(&w->events, full, err);
    if (!b3_is_perf(rel))
        return 0;
    json_t *perf = b3_perf_load(full, w->d, err);
    if (!perf)
        return -1;
    int rc = read_one(w, rel, full, perf, err);
    json_decref(perf);
    return rc;
}

int b3_89_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err)
{
    struct walk w = {.dir = dir, .options = options, .d = d};
    if (b3_89_identity(dir, options, &d->info, err) != 0)
        return -1;
    snprintf(d->info.mode, sizeof d->info.mode, "perf");
    snprintf(d->info.origin, sizeof d->info.origin, "b3_89");
    b3_events_init(&w.events);
    int rc = fs_walk(dir, false, read_file, &w, err);
    if (rc == 0)
        rc = b3_events_apply(&w.events, d, err);
    b3_events_release(&w.events);
    return rc == 0 ? draft_finish(d, err) : -1;
}
