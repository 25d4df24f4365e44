#include "results/ingest/b3_89/b3_89.h"
#include "results/ingest/b3_89/build.h"
#include "results/ingest/b3_89/events.h"
#include "results/ingest/b3_89/perf.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/base/word.h"

#include <stdio.h>
#include <string.h>

struct walk {
    const char *dir;
    const struct ingest_options *options;
    struct draft *d;
    char ticket[RUN_NAME_MAX]; /* of the first perf.json; all must agree */
    bool mode_seen;
    struct b3_events events;
    struct b3_builds builds;
};

/* The first executor wrote no mode, only whether it serialised kernels and made launches blocking. */
static int mode_of(const struct json_at *perf, char *mode, size_t size, struct err *err)
{
    const json_t *determinism = json_object_get(perf->value, "determinism");
    const char *word = json_string_value(determinism);
    if (artifact_text(perf, "mode", mode, size, err) != 0)
        return -1;
    if (!*mode && (json_is_true(determinism) || (word && strcmp(word, "on") == 0)))
        snprintf(mode, size, "debug");
    return 0;
}

static int agree_on_mode(struct walk *w, const struct json_at *perf, struct err *err)
{
    char mode[16];
    struct run_info *r = &w->d->info;
    if (mode_of(perf, mode, sizeof mode, err) != 0)
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
    if (w->options && w->options->ticket)
        return 0;
    if (!json_object_get(perf->value, "ticket"))
        return 0;
    if (artifact_name(perf, "ticket", ticket, sizeof ticket, err) != 0)
        return -1;
    if (*w->ticket && strcmp(ticket, w->ticket) != 0)
        return json_fail(perf, err,
                         "ticket is \"%s\", but \"%s\" in earlier files: name each run's folder, or give one "
                         "ticket with --ticket",
                         ticket, w->ticket);
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
    return t->variant == d->n_variants && !draft_add_variant(d, name, err) ? -1 : 0;
}

/* The reason names perf.json instead of its whole path. */
static void disbelieve(struct run_test *t, const struct err *why)
{
    const char *text = strstr(why->msg, ": ");
    t->status = STATUS_INVALID;
    t->reason = word_printf("perf.json: %.480s", text ? text + 2 : why->msg);
}

/* The path says which test it is, so the test is kept without its result. */
static int keep_unreadable(struct walk *w, const struct b3_place *p, const char *full, struct err *err)
{
    const struct json_at none = json_root(NULL, full);
    const struct err why = *err;
    if (draft_leave_out(w->d, err) != 0)
        return -1;
    struct draft_test *t = draft_add_test(w->d, err);
    if (!t || settle_variant(w->d, p, &none, &t->t, err) != 0)
        return -1;
    t->t.context = p->context;
    t->t.repetition = p->repetition;
    disbelieve(&t->t, &why);
    return b3_memory_read(full, w->options && w->options->skip_samples, t, err);
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
    if (!t)
        return -1;
    if (artifact_perf(&root, w->d, t, err) != 0) {
        draft_drop_test(w->d);
        return keep_unreadable(w, &p, full, err);
    }
    if (settle_variant(w->d, &p, &root, &t->t, err) != 0)
        return -1;
    t->t.context = p.context;
    t->t.repetition = p.repetition;
    return b3_memory_read(full, w->options && w->options->skip_samples, t, err);
}

static int read_unparsable(struct walk *w, const char *rel, const char *full, struct err *err)
{
    struct b3_place p;
    struct err odd;
    if (b3_place_parse(rel, full, &p, &odd) == 0 && p.context != RUN_UNKNOWN)
        return keep_unreadable(w, &p, full, err);
    w->d->info.status = RUN_PARTIAL;
    return draft_leave_out(w->d, err);
}

static int read_file(const char *rel, const char *full, void *arg, struct err *err)
{
    struct walk *w = arg;
    if (b3_builds_may_be_in(rel))
        return b3_builds_read(&w->builds, rel, full, err);
    if (b3_events_may_be_in(rel))
        return b3_events_read(&w->events, full, err);
    if (!b3_is_perf(rel))
        return 0;
    json_auto_t *perf = b3_perf_load(full, w->d, err);
    return perf ? read_one(w, rel, full, perf, err) : read_unparsable(w, rel, full, err);
}

/* Marks the first repetitions of a cell, tests[first .. end - 1], as warm-ups; the last one always counts. */
static void discard_first(struct draft *d, size_t first, size_t end, int warmup)
{
    for (size_t i = first; i + 1 < end && i < first + (size_t)warmup; i++)
        d->tests[i].t.warmup = true;
}

/* The summary of that executor discards the first repetition of each cell that has several. */
static void discard_warmup(struct draft *d, int warmup)
{
    size_t repeated = 0;
    for (size_t i = 0, end; i < d->n_tests; i = end) {
        const struct run_test *t = &d->tests[i].t;
        for (end = i + 1; end < d->n_tests && d->tests[end].t.variant == t->variant &&
                          d->tests[end].t.context == t->context;)
            end++;
        repeated += end - i > 1;
        discard_first(d, i, end, warmup);
    }
    if (repeated && warmup == 0)
        snprintf(
            d->note, sizeof d->note,
            "every repetition counts; the summary of the B3.89 executor discards the first one of each cell "
            "(--warmup 1 does)");
}

static int apply_all(struct walk *w, struct err *err)
{
    if (b3_events_apply(&w->events, w->d, err) != 0 || b3_builds_apply(&w->builds, w->d, err) != 0)
        return -1;
    if (!w->mode_seen && *w->events.mode)
        snprintf(w->d->info.mode, sizeof w->d->info.mode, "%s", w->events.mode);
    if (w->d->n_tests == 0 && w->d->n_variants == 0)
        return err_set(err, ERR_INPUT, "%s: no perf.json in it, and its logs have no events of a test",
                       w->dir);
    if (draft_finish(w->d, err) != 0)
        return -1;
    discard_warmup(w->d, w->options ? w->options->warmup : 0);
    return 0;
}

static void walk_release(struct walk *w)
{
    b3_events_release(&w->events);
    b3_builds_release(&w->builds);
}

int b3_89_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err)
{
    AUTO(walk_release) struct walk w = {.dir = dir, .options = options, .d = d};
    b3_events_init(&w.events);
    if (b3_89_identity(dir, options, &d->info, err) != 0)
        return -1;
    snprintf(d->info.mode, sizeof d->info.mode, "perf");
    snprintf(d->info.origin, sizeof d->info.origin, "b3_89");
    return fs_walk(dir, false, read_file, &w, err) != 0 ? -1 : apply_all(&w, err);
}
