/* What ended the tests of a cell that broke, or ends them no more: the limits that they were given. */
#include "results/judge/causes/cause_finding.h"

#include "common/contract/size.h"

#include <math.h>
#include <stdio.h>

/* A limit may have ended the tests only if they took at least this share of it on the side that is OK. */
static const double close_to_limit = 0.5;

/* The side that is OK, and the side that is not. */
struct sides {
    const struct cell *ok, *ended;
    const struct cause_run *ok_run, *ended_run;
    bool broke; /* tonight is the one that ended */
};

static bool sides_of(const struct finding *f, struct sides *s)
{
    const struct cell *then = run_data_cell(f->before->run, f->d->variant, f->d->context),
                      *now = run_data_cell(f->in->now.run, f->d->variant, f->d->context);
    if (!then || !now || (then->status == STATUS_OK) == (now->status == STATUS_OK))
        return false;
    bool broke = then->status == STATUS_OK;
    *s = (struct sides){.ok = broke ? then : now,
                        .ended = broke ? now : then,
                        .ok_run = broke ? f->before : &f->in->now,
                        .ended_run = broke ? &f->in->now : f->before,
                        .broke = broke};
    return true;
}

static void add_limit(struct finding *f, const struct sides *s, const char *key, const char *of_ok,
                      const char *of_ended)
{
    cause_add_change(&f->differs.method[SCOPE_VARIANT], key, s->broke ? of_ok : of_ended,
                     s->broke ? of_ended : of_ok);
}

/* A limit below what the tests took ends them; whether one only close to that did is doubtful. */
static void compare_time_limits(struct finding *f, const struct sides *s)
{
    double wall = s->ok->median[METRIC_WALL_S], limit = s->ended->timeout_s;
    char ok[32], ended[32];
    if (!(limit > 0 && limit < s->ok->timeout_s) || !(wall >= close_to_limit * limit))
        return;
    snprintf(ok, sizeof ok, "%g s", s->ok->timeout_s);
    snprintf(ended, sizeof ended, "%g s", limit);
    add_limit(f, s, "timeout_s", ok, ended);
    f->doubtful |= wall < limit;
}

/* The limit in its own unit; INFINITY if the key is absent or 0. */
static double limit_of(const struct cause_run *r, const char *object, const char *key)
{
    const json_t *in = object ? json_object_get(r->plan, object) : r->plan, *value = json_object_get(in, key);
    int64_t bytes = 0;
    if (json_is_string(value) && !size_parse(json_string_value(value), &bytes))
        return INFINITY;
    double limit = json_is_string(value) ? (double)bytes : json_number_value(value);
    return limit > 0 ? limit : INFINITY;
}

static void limit_text(double limit, char out[32])
{
    snprintf(out, 32, "%.15g", limit);
    if (!isfinite(limit))
        snprintf(out, 32, "none");
}

/* How near the tests came to these limits is not recorded, so the finding is doubtful. */
static void compare_limit(struct finding *f, const struct sides *s, const char *object, const char *key)
{
    double of_ok = limit_of(s->ok_run, object, key), of_ended = limit_of(s->ended_run, object, key);
    char name[48], ok[32], ended[32];
    if (!s->ok_run->plan || !s->ended_run->plan || !(of_ended < of_ok))
        return;
    snprintf(name, sizeof name, "%s%s%s", object ? object : "", object ? "." : "", key);
    limit_text(of_ok, ok);
    limit_text(of_ended, ended);
    add_limit(f, s, name, ok, ended);
    f->doubtful = true;
}

void finding_compare_limits(struct finding *f)
{
    struct sides s;
    if (!sides_of(f, &s))
        return;
    if (s.ended->status == STATUS_TIMEOUT)
        compare_time_limits(f, &s);
    else if (s.ended->status == STATUS_OOM)
        compare_limit(f, &s, "limits", "memory");
    else if (s.ended->status == STATUS_FAIL)
        compare_limit(f, &s, "limits", "processes");
    else if (s.ended->status == STATUS_HANG)
        compare_limit(f, &s, NULL, "hang_after_s");
}
