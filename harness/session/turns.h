/* turns: measures two sides on the node in rounds, each of which alternates their builds (A B B A), so that a
 * steady drift of the node affects both alike. Confirming, `ab` and `bisect` measure by it.
 *
 * A side is the tree of a stored run, a folder (of a commit: git/tree.h), or the plan's own sources, each
 * with settings of its own if need be. Judging the runs, and whether another round is worth it, is up to the
 * caller (results/judge/turns.h). Errors: as measure.h; ERR_NODE when the node no longer has a stored run's
 * tree.
 */
#pragma once

#include "harness/session/session.h"
#include "results/judge/confirm.h"
#include "results/judge/turns.h"
#include "results/store/store.h"

enum {
    TURNS_EACH = 2, /* runs of each side in one round, A B B A */
    TURNS_RUNS_MAX = TURNS_EACH * CONFIRM_ROUNDS_MAX,
};

/* Strings are borrowed; NULL where absent. Neither sha256 nor dir: the plan's own sources. */
struct turns_side {
    const char *sha256;     /* a tree that the node still has */
    const char *dir;        /* a folder, sent instead of the plan's source.dir */
    const char *commit;     /* of the plan's source.dir, that the folder was exported from */
    const char *const *env; /* "NAME=VALUE" each, NULL-terminated: over the plan's "env" */
};

struct turns_request {
    const char *plan;        /* its file */
    const char *plan_sha256; /* of what it said when measuring began; NULL: that does not matter */
    struct turns_side base, now;
    struct session_options opt; /* with the purpose that the runs have */
};

/* Store keys of the runs of each side, in the order of measurement. */
struct turns_made {
    int64_t base[TURNS_RUNS_MAX], now[TURNS_RUNS_MAX];
    size_t count; /* of each */
};

/* The sides are the trees of two stored runs, by their SHA-256, "" for a run without one. ERR_NODE if only
 * one of them had a tree. */
int turns_use_trees(struct turns_request *r, const char *base, const char *now, struct err *err);

/* Measures one more round of these cells, each at least three times in every run, and adds its runs to out,
 * all or none. */
int turns_measure(const struct turns_request *r, const struct suspect_list *cells, struct store *s,
                  struct turns_made *out, struct err *err);

/* Builds the cells' variants of one side and looks at their gates, without timing anything (through a
 * scheduler: with one test of each). *key: the run, whose variants say what came of it. */
int turns_build(const struct turns_request *r, const struct turns_side *side,
                const struct suspect_list *cells, struct store *s, int64_t *key, struct err *err);

/* The runs of both sides, loaded. The owner calls turns_sides_release(), also after a failure. */
struct turns_sides {
    struct run_data base[TURNS_RUNS_MAX], now[TURNS_RUNS_MAX];
    const struct run_data *bases[TURNS_RUNS_MAX], *nows[TURNS_RUNS_MAX];
    size_t count;
};

/* Must not be moved afterwards. */
int turns_sides_load(struct turns_sides *out, struct store *s, const struct turns_made *made,
                     struct err *err);
void turns_sides_release(struct turns_sides *s);

/* As turns_metric() does. */
enum metric turns_sides_metric(const struct turns_sides *s, const struct delta *d);
/* Judges the cell that d names, as turns_judge_rounds() does. */
void turns_sides_judge(const struct turns_sides *s, const struct compare_options *o, struct delta *d);

/* Whether the plan still says what it said then: what two plans measure does not compare. sha256: NULL if it
 * does not matter. ERR_INPUT. */
int turns_check_plan(const struct plan *p, const char *sha256, struct err *err);

/* NAME=VALUE, as one of a side's settings. ERR_INPUT naming the option. */
int turns_check_setting(const char *option, const char *setting, struct err *err);
