/* What a report says of a suspect, of what still fails, and of a size that was measured again. */
#include "tests/unit/leads_support.h"

static const struct side old = {"tree 1", "plan", "6.8.5", "code 1", 10};

static void judged(struct comparison *c, enum verdict verdict, enum reason_code reason)
{
    c->verdicts[c->deltas[0].verdict]--;
    c->verdicts[verdict]++;
    c->deltas[0].verdict = verdict;
    c->deltas[0].reason = reason;
}

static void suspected(struct comparison *c)
{
    judged(c, VERDICT_SUSPECTED, REASON_SUSPECT);
}

static void gone(struct comparison *c)
{
    judged(c, VERDICT_UNCHANGED, REASON_BELOW);
    c->deltas[0].stand.gone = 1761696000000; /* 2025-10-29 */
}

static void failing(struct comparison *c)
{
    judged(c, VERDICT_FAILING, REASON_STATUS);
    c->deltas[0].estimate.method = METHOD_NONE;
    c->deltas[0].base.status = c->deltas[0].now.status = STATUS_TIMEOUT;
}

static void by_less(struct comparison *c)
{
    c->deltas[0].again = 1.083;
}

TEST(a_suspect_is_no_regression_and_says_what_settles_it)
{
    const struct side now = {"tree 2", "plan", "6.8.5", "code 2", 20};
    char *text = advice_beside("suspected.db", old, now, CONFIRM_NOT_ASKED, suspected);
    holds(text, "- **No regression, but 1 cell suspected**, against");
    holds(
        text,
        "- **Suspected** (1 cell): worse tonight, but not settled, so no regression yet.\n  - `v3` "
        "at 4096: "
        "takes 2.00 times as long (10.00 s expected, 20.00 s now); more nights like it would have to follow, "
        "or "
        "measuring both builds alternately (--confirm) settles it.\n");
    holds(text,
          "**Measure both builds alternately (`--confirm`), or wait for the next night**: 1 cell suspected");
    lacks(text, "regressed");
    free(text);
    text = advice_beside("undecided_suspect.db", old, now, CONFIRM_UNDECIDED, suspected);
    holds(text, "s now); more nights like it would have to follow.\n");
    holds(text, "**Wait for the next night**: 1 cell suspected");
    free(text);
    text = advice_beside("gone.db", old, now, CONFIRM_NOT_ASKED, gone);
    holds(text, "- `v3` at 4096: what was suspected on 2025-10-29 did not recur.\n");
    free(text);
}

static void uneven(struct comparison *c)
{
    judged(c, VERDICT_SUSPECTED, REASON_UNEVEN);
}

TEST(an_uneven_night_is_told_once_and_not_of_each_cell)
{
    const struct side now = {"tree 2", "plan", "6.8.5", "code 2", 20};
    char *text = advice_beside("uneven.db", old, now, CONFIRM_NOT_ASKED, uneven);
    holds(text, "  - An uneven night: 1 cells of several variants got worse by amounts that differ (+100.0 "
                "% in the median).");
    lacks(text, "**Suspected**");
    free(text);
}

TEST(what_fails_as_before_is_named_first)
{
    const struct side now = {"tree 2", "plan", "6.8.5", "code 2", 20};
    char *text = advice_beside("failing.db", old, now, CONFIRM_NOT_ASKED, failing);
    holds(text, "- **No regression, but 1 cell still failing**, against");
    holds(text, "  - `v3` at 4096: **still failing** (still TIMEOUT).\n");
    free(text);
}

TEST(the_size_of_a_confirmed_change_is_that_of_alternating_builds)
{
    const struct side now = {"tree 2", "plan", "6.8.5", "code 2", 20};
    char *text = advice_beside("by_less.db", old, now, CONFIRM_STANDS, by_less);
    holds(
        text,
        "takes 8.3 % longer as measured with alternating builds (tonight +100.0 %: 10.00 s expected, 20.00 s "
        "measured; ");
    holds(text, "| +8.3 % (tonight +100.0 %) | **regressed** |");
    free(text);
}

GROUP(scratch_make, scratch_remove);
