#include "executor/prepare/untouched.h"

#include "common/base/clock.h"
#include "executor/prepare/built.h"
#include "executor/trial/disbelief.h"
#include "executor/trial/perf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { TOLD_MAX = 20, SHOWN_MAX = 160, LOOKS_MAX = 3 };

static const double tick_s = 0.02; /* files have the time of the kernel's last one */
static const double look_short_s = 0.005;

struct inquiry {
    struct suite *s;
    size_t variant, told;
    bool seen;                    /* something has changed, or could not be read */
    bool again;                   /* an earlier variant has the same folder: its changes have been told */
    char what[SEAL_REASON_MAX];   /* the first change, "" while there is none */
    char unread[SEAL_REASON_MAX]; /* the first thing that could not be read for now; "" */
    double real_s;
    int rc;
    struct err *err;
};

/* What the clock of the file system, which may be a server's, is ahead of ours: a test's last file was
 * written between two of our times, and the closest two say it best. */
static double clock_ahead_s(const struct suite *s)
{
    double closest = INFINITY, least = 0, most = 0;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        double apart = t->read_real_s - t->writing_real_s; /* negative if our clock was set back */
        if (t->written_real_s <= 0 || t->writing_real_s <= 0 || apart < 0 || apart >= closest)
            continue;
        closest = apart;
        least = t->written_real_s - t->read_real_s;
        most = t->written_real_s - t->writing_real_s + tick_s;
    }
    return least <= 0 && most >= 0 ? 0 : (least + most) / 2;
}

/* A time of the file system's in ours; 0: unknown. */
static double our_time(const struct suite *s, double real_s)
{
    return real_s > 0 ? real_s - clock_ahead_s(s) : real_s;
}

/* The test that ran at that time, the last one to begin; test_count: none. */
static size_t test_within(const struct suite *s, double real_s, size_t but, double before_s)
{
    size_t found = s->job.test_count;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        bool ran = t->began_real_s > 0 && t->began_real_s - before_s <= real_s &&
                   (t->ended_real_s <= 0 || real_s <= t->ended_real_s);
        if (ran && i != but && (found == s->job.test_count || s->test[found].began_real_s < t->began_real_s))
            found = i;
    }
    return found;
}

static bool is_prepared_at(const struct suite *s, double real_s)
{
    return real_s >= s->preparing_real_s - tick_s && real_s <= s->prepared_real_s;
}

/* A time up to a tick before a test may be the test's, unless gates still ran then. */
static size_t test_at(const struct suite *s, double real_s, size_t but)
{
    size_t i = test_within(s, real_s, but, 0);
    return i < s->job.test_count || is_prepared_at(s, real_s) ? i : test_within(s, real_s, but, tick_s);
}

/* "while test 2 (v, context 64) ran" */
static void describe_time(const struct suite *s, double real_s, size_t but, char *out, size_t cap)
{
    size_t i = real_s > 0 ? test_at(s, real_s, but) : s->job.test_count;
    if (i < s->job.test_count)
        snprintf(out, cap, "while test %zu (%s, context %" PRId64 ") ran", i + 1,
                 s->job.variant[s->job.test[i].variant].name, s->job.test[i].context);
    else
        snprintf(out, cap, "%s",
                 real_s > 0 && is_prepared_at(s, real_s) ? "while builds and gates ran"
                                                         : "while no test ran");
}

static void tell(struct inquiry *q, const char *of, const char *what, double real_s, size_t but)
{
    char when[160], text[REASON_MAX];
    if (q->again || q->rc != 0 || ++q->told > TOLD_MAX)
        return;
    describe_time(q->s, real_s, but, when, sizeof when);
    reason_set(text, "%s%.300s %s", of, what, when);
    q->rc = suite_note(q->s, text, q->err);
}

static void on_change(void *arg, const struct seal_change *c)
{
    struct inquiry *q = arg;
    double real_s = our_time(q->s, c->real_s);
    char of[LIMIT_NAME + 32], name[SHOWN_MAX], what[SEAL_REASON_MAX];
    q->seen = true;
    secrets_printable(&q->s->secrets, c->name, strlen(c->name), name, sizeof name);
    snprintf(what, sizeof what, "%s%s%s", name, *name ? " " : "", c->how);
    if (c->unread && !*q->unread)
        snprintf(q->unread, sizeof q->unread, "%s", what);
    if (c->unread)
        return;
    snprintf(of, sizeof of, "build and sources of %s: ", q->s->job.variant[q->variant].name);
    tell(q, of, what, real_s, q->s->job.test_count);
    if (c->added || is_prepared_at(q->s, real_s))
        return;
    if (!*q->what || real_s < q->real_s) {
        snprintf(q->what, sizeof q->what, "%s", what);
        q->real_s = real_s;
    }
}

static void explain(const struct suite *s, const char *what, double real_s, char *reason)
{
    char when[160];
    describe_time(s, real_s, s->job.test_count, when, sizeof when);
    reason_set(
        reason,
        "began with a build or sources that were changed: %.200s %s (if that is intended: \"in_tree\")", what,
        when);
}

/* It may have begun with what was changed first, of which the time is not known. */
static bool began_since_look(const struct suite *s, size_t test)
{
    double verified_real_s = s->variant[s->job.test[test].variant].verified_real_s;
    return verified_real_s > 0 && s->test[test].began_real_s > verified_real_s;
}

/* Those of the variant that began after its build or sources had been changed. */
static int disbelieve_later(struct inquiry *q)
{
    struct suite *s = q->s;
    char reason[REASON_MAX];
    size_t culprit = test_at(s, q->real_s, s->job.test_count);
    explain(s, q->what, q->real_s, reason);
    for (size_t i = 0; q->rc == 0 && i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (s->job.test[i].variant == q->variant && t->final && t->status == STATUS_OK && !t->proven &&
            (began_since_look(s, i) || (i != culprit && t->began_real_s > q->real_s)))
            q->rc = disbelief_of(s, i, reason, q->err);
    }
    return q->rc;
}

/* Whether an earlier variant shares its build, or without one its sources. */
static bool is_looked_at(const struct suite *s, size_t variant)
{
    const struct variant_state *v = &s->variant[variant];
    for (size_t i = 0; i < variant; i++)
        if (strcmp(s->variant[i].build, v->build) == 0 ||
            (!v->base[0] && v->src[0] && strcmp(s->variant[i].src, v->src) == 0))
            return true;
    return false;
}

/* Without its seal nothing vouches for a build, whatever its files look like. */
static void miss_seal(struct inquiry *q, const struct err *unread)
{
    const struct variant_state *v = &q->s->variant[q->variant];
    char seal[FS_PATH_MAX], how[SEAL_REASON_MAX] = "its seal is gone";
    struct seal_change c = {.name = "", .how = how};
    if (fs_join(seal, NULL, *v->build ? v->build : v->src, "seal") == 0)
        c.real_s = seal_time_of_going(seal);
    if (unread)
        snprintf(how, sizeof how, "its seal cannot be read (%.150s)", unread->msg);
    on_change(q, &c);
}

/* A build that jobs of a scheduler made is watched by them: the submitter has its key, not its folder. */
static bool is_watched(const struct suite *s, size_t variant)
{
    const struct variant_state *v = &s->variant[variant];
    return v->status == STATUS_OK && v->build_key[0] && v->build[0] && !s->job.variant[variant].in_tree;
}

static int look(struct inquiry *q)
{
    struct err unread = {.kind = ERR_NONE};
    int intact = built_look(q->s, q->variant, on_change, q, &unread);
    if (intact != 1 && !q->seen)
        miss_seal(q, intact < 0 ? &unread : NULL);
    return q->rc;
}

/* What passes may have passed a moment later. */
static int look_again(struct inquiry *q)
{
    static const struct timespec moment = {.tv_nsec = 100000000};
    int rc = look(q);
    for (int again = 1; rc == 0 && *q->unread && !*q->what && again < LOOKS_MAX; again++) {
        *q->unread = '\0';
        nanosleep(&moment, NULL);
        rc = look(q);
    }
    return rc;
}

/* Those of the variant that began after the last look that could read all, without a look of their own. */
static int disbelieve_unread(struct inquiry *q)
{
    struct suite *s = q->s;
    char reason[REASON_MAX], text[REASON_MAX];
    reason_set(text, "build and sources of %s: %.300s; tests that began without this check are not trusted",
               s->job.variant[q->variant].name, q->unread);
    int rc = suite_note(s, text, q->err);
    reason_set(reason,
               "it cannot be shown that its build and sources were unchanged when it began: %.200s when the "
               "run ended",
               q->unread);
    for (size_t i = 0; rc == 0 && i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (s->job.test[i].variant == q->variant && t->final && t->status == STATUS_OK && !t->proven &&
            t->began_real_s > s->variant[q->variant].verified_real_s)
            rc = disbelief_of(s, i, reason, q->err);
    }
    return rc;
}

int untouched_variant(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *v = &s->variant[variant];
    struct inquiry q = {.s = s, .variant = variant, .again = is_looked_at(s, variant), .err = err};
    if (!is_watched(s, variant))
        return 0;
    if (look_again(&q) != 0)
        return -1;
    if (v->damage && (!*q.what || v->damage_real_s < q.real_s)) {
        snprintf(q.what, sizeof q.what, "%s", v->damage);
        q.real_s = v->damage_real_s;
    }
    if (*q.what)
        return disbelieve_later(&q);
    return *q.unread ? disbelieve_unread(&q) : 0;
}

/* A look may take a fiftieth of the time; short ones are no matter. */
static bool is_due(const struct variant_state *v)
{
    return v->look_cost_s < look_short_s || clock_mono_s() - v->looked_s >= 50 * v->look_cost_s;
}

static int note_unread(struct inquiry *q)
{
    struct variant_state *v = &q->s->variant[q->variant];
    char text[REASON_MAX];
    if (v->told_unread)
        return 0;
    v->told_unread = true;
    reason_set(text, "build and sources of %s: %.300s; it is tried again", q->s->job.variant[q->variant].name,
               q->unread);
    return suite_note(q->s, text, q->err);
}

/* What has changed is told at the end. */
static int look_before(struct suite *s, size_t variant, bool *whole, struct err *err)
{
    struct variant_state *v = &s->variant[variant];
    struct inquiry q = {.s = s, .variant = variant, .again = true, .err = err};
    double now_real_s = clock_real_s(), cpu_s = clock_cpu_s();
    if (look(&q) != 0)
        return -1;
    v->look_cost_s = clock_cpu_s() - cpu_s;
    v->looked_s = clock_mono_s();
    *whole = !*q.what && !*q.unread;
    if (*whole)
        v->verified_real_s = now_real_s;
    if (!*q.what)
        return *whole ? 0 : note_unread(&q);
    v->damage = strdup(q.what);
    v->damage_real_s = q.real_s;
    return v->damage ? 0 : err_set(err, ERR_INTERNAL, "no memory to tell of changes");
}

int untouched_before(struct suite *s, size_t test, struct err *err)
{
    const size_t variant = s->job.test[test].variant;
    const struct variant_state *v = &s->variant[variant];
    struct test_state *t = &s->test[test];
    char reason[REASON_MAX];
    t->proven = false;
    if (!is_watched(s, variant) || (!v->damage && !is_due(v)))
        return 0;
    if (!v->damage && look_before(s, variant, &t->proven, err) != 0)
        return -1;
    if (!v->damage)
        return 0;
    explain(s, v->damage, v->damage_real_s, reason);
    free(t->doubt);
    t->doubt = strdup(reason);
    return t->doubt ? 0 : err_set(err, ERR_INTERNAL, "no memory to tell of changes");
}

struct folder {
    struct inquiry *q;
    size_t test;
    const char *rel;
    double end_real_s; /* what has a later time was changed after the test */
};

static double time_of(const struct stat *st)
{
    return (double)st->st_ctim.tv_sec + (double)st->st_ctim.tv_nsec * 1e-9;
}

/* Whatever is there was there when the test ended. */
static int look_at_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    const struct folder *f = arg;
    char what[SEAL_REASON_MAX], shown[100]; /* names may hold any bytes */
    struct stat st;
    (void)err;
    if (strcmp(relpath, "perf.json") == 0 || lstat(fullpath, &st) != 0)
        return 0;
    double real_s = time_of(&st);
    if (real_s <= f->end_real_s)
        return 0;
    secrets_printable(&f->q->s->secrets, relpath, strlen(relpath), shown, sizeof shown);
    snprintf(what, sizeof what, "%.100s/%s was changed after its test had ended,", f->rel, shown);
    tell(f->q, "", what, our_time(f->q->s, real_s), f->test);
    return f->q->rc;
}

static int look_at_record(struct inquiry *q, size_t test, const char *rel)
{
    const struct test_state *t = &q->s->test[test];
    char path[FS_PATH_MAX], found[160], when[160], reason[REASON_MAX];
    struct stat st;
    if (!t->seal[0] || perf_is_sealed(q->s->dir, rel, t->seal))
        return 0;
    bool there = fs_join(path, NULL, q->s->dir, rel) == 0 && fs_join(path, NULL, path, "perf.json") == 0 &&
                 lstat(path, &st) == 0;
    describe_time(q->s, there ? our_time(q->s, time_of(&st)) : 0, test, when, sizeof when);
    perf_difference(q->s, test, rel, found, sizeof found);
    reason_set(reason, "its perf.json was changed after it had ended, %s%s", when, found);
    return disbelief_of(q->s, test, reason, q->err);
}

/* By the file system's clock, as far as it is known. Of a test under an earlier supervisor only our time is
 * left, and the record's, which is written last. */
static double end_of(const struct suite *s, size_t test, const char *rel, const char *dir)
{
    const struct test_state *t = &s->test[test];
    char path[FS_PATH_MAX];
    struct stat st;
    if (t->written_real_s > 0 || t->ended_real_s <= 0)
        return t->written_real_s;
    bool sealed = t->seal[0] && perf_is_sealed(s->dir, rel, t->seal) &&
                  fs_join(path, NULL, dir, "perf.json") == 0 && lstat(path, &st) == 0;
    return sealed && time_of(&st) > t->ended_real_s ? time_of(&st) : t->ended_real_s;
}

static int look_at_test(struct inquiry *q, size_t test)
{
    char rel[FS_PATH_MAX], dir[FS_PATH_MAX];
    struct folder f = {.q = q, .test = test, .rel = rel};
    suite_test_rel(q->s, test, rel);
    if (look_at_record(q, test, rel) != 0 || fs_join(dir, q->err, q->s->dir, rel) != 0)
        return -1;
    struct err ignored;
    f.end_real_s = end_of(q->s, test, rel, dir);
    if (f.end_real_s > 0)
        (void)fs_walk(dir, true, look_at_file, &f, &ignored); /* odd folders are named by the manifest */
    return q->rc;
}

int untouched_run(struct suite *s, struct err *err)
{
    struct inquiry q = {.s = s, .err = err};
    char text[REASON_MAX];
    for (size_t i = 0; i < s->job.variant_count; i++)
        if (untouched_variant(s, i, err) != 0)
            return -1;
    for (size_t i = 0; i < s->job.test_count; i++)
        if (s->test[i].final && look_at_test(&q, i) != 0)
            return -1;
    if (q.told <= TOLD_MAX)
        return 0;
    size_t more = q.told - TOLD_MAX;
    reason_set(text, "%zu further file%s changed after the end of a test", more,
               more == 1 ? " was" : "s were");
    return suite_note(s, text, err);
}
