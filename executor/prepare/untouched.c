#include "executor/prepare/untouched.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/prepare/prepare.h"
#include "executor/suite/perf.h"
#include "executor/suite/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TOLD_MAX = 20, SHOWN_MAX = 160, LOOKS_MAX = 3 };

static const double look_short_s = 0.005;

struct look {
    struct suite *s;
    size_t variant, told;
    bool quiet;                    /* nothing is told */
    bool seen;                     /* something has changed, or could not be read */
    char changed[SEAL_REASON_MAX]; /* the first change, "" while there is none */
    char unread[SEAL_REASON_MAX];  /* the first thing that could not be read; "" */
    int rc;
    struct err *err;
};

static int note(struct suite *s, size_t variant, const char *what, const char *then, struct err *err)
{
    return suite_note(s, err, "build and sources of %s: %.300s%s", s->job.variant[variant].name, what, then);
}

static void on_change(void *arg, const struct seal_change *c)
{
    struct look *l = arg;
    char name[SHOWN_MAX], what[SEAL_REASON_MAX], *first = c->unread ? l->unread : l->changed;
    l->seen = true;
    secrets_printable(&l->s->secrets, c->name, strlen(c->name), name, sizeof name);
    snprintf(what, sizeof what, "%s%s%s", name, *name ? " " : "", c->how);
    if (!c->added && !*first)
        snprintf(first, SEAL_REASON_MAX, "%s", what);
    if (!l->quiet && !c->unread && l->rc == 0 && ++l->told <= TOLD_MAX)
        l->rc = note(l->s, l->variant, what, "", l->err);
}

/* Without its seal nothing vouches for a build, whatever its files look like. */
static void miss_seal(struct look *l, const struct err *unread)
{
    char how[SEAL_REASON_MAX] = "its seal is gone";
    if (unread->kind != ERR_NONE)
        snprintf(how, sizeof how, "its seal cannot be read (%.150s)", unread->msg);
    on_change(l, &(struct seal_change){.name = "", .how = how});
}

static int look(struct look *l)
{
    struct err unread = {.kind = ERR_NONE};
    int intact = built_look(l->s, l->variant, on_change, l, &unread);
    if (intact != 1 && !l->seen)
        miss_seal(l, &unread);
    return l->rc;
}

/* A passing failure may be over a moment later, so what could not be read is tried again. */
static int look_again(struct look *l)
{
    static const struct timespec moment = {.tv_nsec = 100000000};
    int rc = look(l);
    for (int again = 1; rc == 0 && *l->unread && !*l->changed && again < LOOKS_MAX; again++) {
        *l->unread = '\0';
        nanosleep(&moment, NULL);
        rc = look(l);
    }
    return rc;
}

/* A build that jobs of a scheduler made is watched by them: the submitter has its key, not its folder. */
static bool is_watched(const struct suite *s, size_t variant)
{
    const struct variant_state *v = &s->variant[variant];
    return v->status == STATUS_OK && v->build_key[0] && v->build[0] && !v->seal.changed_before &&
           !s->job.variant[variant].in_tree;
}

/* Whether an earlier variant shares its build or, if it has no copy of its own, its sources. */
static bool is_looked_at(const struct suite *s, size_t variant)
{
    const struct variant_state *v = &s->variant[variant];
    for (size_t i = 0; i < variant; i++)
        if (strcmp(s->variant[i].build, v->build) == 0 ||
            (!v->base[0] && v->src[0] && strcmp(s->variant[i].src, v->src) == 0))
            return true;
    return false;
}

static int look_when_prepared(struct suite *s, size_t variant, struct err *err)
{
    struct look l = {.s = s, .variant = variant, .quiet = true, .err = err};
    if (!is_watched(s, variant))
        return 0;
    (void)look(&l);
    if (!*l.changed)
        return 0;
    s->variant[variant].seal.changed_before = true;
    return note(s, variant, l.changed, " while builds and gates ran; what tests change there is not noticed",
                err);
}

int untouched_prepared(struct suite *s, struct err *err)
{
    for (size_t i = 0; i < s->job.variant_count; i++)
        if (look_when_prepared(s, i, err) != 0)
            return -1;
    return 0;
}

static int disbelieve(struct suite *s, size_t variant, const char *reason, struct err *err)
{
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (s->job.test[i].variant == variant && t->final && t->status == STATUS_OK && t->unverified &&
            test_disbelieve(s, i, reason, err) != 0)
            return -1;
    }
    return 0;
}

static void explain(const char *what, char *reason)
{
    reason_set(reason,
               "began with a build or sources that were changed: %.200s (if that is intended: \"in_tree\")",
               what);
}

int untouched_disbelieve(struct suite *s, size_t variant, const char *what, struct err *err)
{
    char reason[REASON_MAX];
    explain(what, reason);
    return disbelieve(s, variant, reason, err);
}

static int disbelieve_unread(const struct look *l)
{
    char reason[REASON_MAX];
    reason_set(reason,
               "it cannot be shown that its build and sources were unchanged when it began: %.200s when the "
               "run ended",
               l->unread);
    return note(l->s, l->variant, l->unread, "; tests that began without this check are not trusted",
                l->err) != 0
               ? -1
               : disbelieve(l->s, l->variant, reason, l->err);
}

static int look_at_variant(struct suite *s, size_t variant, struct err *err)
{
    const char *damage = s->variant[variant].seal.damage;
    struct look l = {.s = s, .variant = variant, .quiet = is_looked_at(s, variant), .err = err};
    if (!is_watched(s, variant))
        return 0;
    if (look_again(&l) != 0)
        return -1;
    if (damage || *l.changed)
        return untouched_disbelieve(s, variant, damage ? damage : l.changed, err);
    return *l.unread ? disbelieve_unread(&l) : 0;
}

/* Looks may take a fiftieth of the time; those that are short are always made. */
static bool is_due(const struct seal_state *v)
{
    return v->look_cost_s < look_short_s || clock_mono_s() - v->looked_s >= 50 * v->look_cost_s;
}

/* What is unchanged now was also unchanged when the earlier tests began. */
static void verify(struct suite *s, size_t variant)
{
    for (size_t i = 0; i < s->job.test_count; i++)
        if (s->job.test[i].variant == variant)
            s->test[i].unverified = false;
}

/* The look is quiet: what has changed is told once, at the end of the run. */
static int look_before(struct suite *s, size_t variant, struct err *err)
{
    struct seal_state *v = &s->variant[variant].seal;
    struct look l = {.s = s, .variant = variant, .quiet = true, .err = err};
    double cpu_s = clock_cpu_s();
    (void)look(&l);
    v->look_cost_s = clock_cpu_s() - cpu_s;
    v->looked_s = clock_mono_s();
    if (*l.changed)
        v->damage = xstrdup(l.changed);
    else if (!*l.unread)
        verify(s, variant);
    else if (!v->told_unread) {
        v->told_unread = true;
        return note(s, variant, l.unread, "; it is tried again", err);
    }
    return 0;
}

int untouched_before(struct suite *s, size_t test, struct err *err)
{
    const size_t variant = s->job.test[test].variant;
    const struct seal_state *v = &s->variant[variant].seal;
    struct test_state *t = &s->test[test];
    char reason[REASON_MAX];
    t->unverified = is_watched(s, variant);
    if (!t->unverified)
        return 0;
    if (!v->damage && is_due(v) && look_before(s, variant, err) != 0)
        return -1;
    if (!v->damage)
        return 0;
    explain(v->damage, reason);
    free(t->doubt);
    t->doubt = xstrdup(reason);
    return 0;
}

static int look_at_record(struct suite *s, size_t test, struct err *err)
{
    char rel[FS_PATH_MAX], found[160], reason[REASON_MAX];
    suite_test_rel(s, test, rel);
    if (!s->test[test].seal[0] || perf_is_sealed(s->dir, rel, s->test[test].seal))
        return 0;
    perf_difference(s, test, rel, found, sizeof found);
    reason_set(reason, "its perf.json was changed after it had ended%s; tests may write to {out} only",
               found);
    return test_disbelieve(s, test, reason, err);
}

int untouched_run(struct suite *s, struct err *err)
{
    for (size_t i = 0; i < s->job.variant_count; i++)
        if (look_at_variant(s, i, err) != 0)
            return -1;
    for (size_t i = 0; i < s->job.test_count; i++)
        if (s->test[i].final && look_at_record(s, i, err) != 0)
            return -1;
    return 0;
}
