#include "executor/prepare/carry.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "executor/prepare/fingerprint.h"

#include <stdlib.h>
#include <string.h>

static bool same_cell(const struct suite *s, size_t a, size_t b)
{
    return s->job.test[a].variant == s->job.test[b].variant &&
           s->job.test[a].context == s->job.test[b].context;
}

static bool is_first(const struct suite *s, size_t test)
{
    for (size_t i = 0; i < test; i++)
        if (same_cell(s, i, test))
            return false;
    return true;
}

static int find_fingerprints(struct suite *s, struct err *err)
{
    AUTO_FREE struct fingerprint *common = xcalloc(s->job.variant_count, sizeof *common);
    struct fingerprint own;
    for (size_t v = 0; v < s->job.variant_count; v++)
        if (fingerprint_variant(s, v, &common[v], err) != 0)
            return -1;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct fingerprint *c = &common[s->job.test[i].variant], *found = c;
        if (!is_first(s, i))
            continue;
        if (c->sha256[0] && fingerprint_cell(s, i, c, &own, err) != 0)
            return -1;
        if (c->sha256[0])
            found = &own;
        memcpy(s->test[i].fingerprint, found->sha256, sizeof found->sha256);
        free(s->test[i].changing);
        s->test[i].changing = found->sha256[0] ? NULL : xstrdup(found->why);
    }
    return 0;
}

static bool was_begun(const struct suite *s, size_t first)
{
    for (size_t i = first; i < s->job.test_count; i++)
        if (same_cell(s, i, first) && (s->test[i].final || s->test[i].attempts > 0 || s->test[i].in_flight))
            return true;
    return false;
}

static bool is_unchanged(const struct suite *s, size_t test)
{
    const char *then = s->job.test[test].unless;
    return then && s->test[test].fingerprint[0] && strcmp(then, s->test[test].fingerprint) == 0 &&
           !was_begun(s, test);
}

static int by_turn(const void *a, const void *b, void *arg)
{
    const struct suite *s = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int64_t m = s->job.test[x].turn, n = s->job.test[y].turn;
    return m != n ? (m > n) - (m < n) : (x > y) - (x < y);
}

static void leave_out(struct suite *s, size_t first)
{
    for (size_t i = first; i < s->job.test_count; i++) {
        if (!same_cell(s, i, first) || s->test[i].needless)
            continue;
        s->test[i].needless = true;
        s->test[i].carried = true;
        s->needless++;
        eta_dropped(&s->eta, i);
    }
}

int carry_unchanged(struct suite *s, struct err *err)
{
    size_t count = 0, least = (size_t)s->job.controls;
    if (least == 0 || s->loop.stop)
        return 0;
    if (find_fingerprints(s, err) != 0)
        return -1;
    AUTO_FREE size_t *cell = xcalloc(s->job.test_count, sizeof *cell);
    for (size_t i = 0; i < s->job.test_count; i++)
        if (is_first(s, i) && is_unchanged(s, i))
            cell[count++] = i;
    if (count <= least)
        return 0;
    qsort_r(cell, count, sizeof *cell, by_turn, s);
    for (size_t i = least; i < count; i++)
        leave_out(s, cell[i]);
    return suite_note(s, err,
                      "carried: %zu cell%s would run exactly what %s when last measured, and %s not measured",
                      count - least, text_plural((long long)(count - least)),
                      count - least == 1 ? "it ran" : "they ran", count - least == 1 ? "is" : "are");
}

static json_t *encode_cell(const struct suite *s, size_t test)
{
    const struct job_test *t = &s->job.test[test];
    const struct test_state *state = &s->test[test];
    bool known = state->fingerprint[0];
    /* What an earlier executor measured may have had another one. */
    bool lasting = known && (state->carried || !s->past.resumed);
    return json_pack("{s:s, s:I, s:s?, s:s*, s:s*}", "variant", s->job.variant[t->variant].name,
                     "context_len", (json_int_t)t->context, "fingerprint",
                     lasting ? state->fingerprint : NULL, "changing", state->changing, "carried",
                     state->carried ? t->measured : NULL);
}

json_t *carry_encode(const struct suite *s)
{
    json_t *out = s->job.controls > 0 ? json_array() : NULL;
    for (size_t i = 0; out && i < s->job.test_count; i++)
        if (is_first(s, i))
            json_array_append_new(out, encode_cell(s, i));
    return out;
}
