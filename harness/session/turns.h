/* turns: measures two sides on the node in rounds, each of which alternates their builds (A B B A), so
 * that a steady drift of the node affects both alike. Used by confirmation, `ab` and `bisect`.
 *
 * A side is the tree of a stored run, a folder (such as an exported commit: git/tree.h), or the plan's own
 * sources, optionally with its own settings. The caller judges the runs and decides on another round
 * (results/judge/turns.h). Errors: as in measure.h; ERR_NODE if the node no longer has a stored run's
 * tree.
 */
#pragma once

#include "harness/session/session.h"
#include "results/judge/confirm.h"
#include "results/judge/turns.h"
#include "results/store/store.h"

enum {
    TURNS_EACH = 2, /* runs of each side in one round (A B B A) */
    TURNS_REPETITIONS_MIN = 3,
    TURNS_RUNS_MAX = TURNS_EACH * CONFIRM_ROUNDS_MAX,
};

/* Strings are borrowed; NULL where absent. Without sha256 and dir, the plan's own sources are used. */
struct turns_side {
    const char *sha256;     /* a tree that the node still has */
    const char *dir;        /* a folder, sent instead of the plan's source.dir */
    const char *commit;     /* the commit of source.dir from which the folder was exported */
    const char *const *env; /* NULL-terminated "NAME=VALUE" strings that override the plan's "env" */
};

struct turns_request {
    const char *plan;        /* its file */
    const char *plan_sha256; /* hash of its contents when measuring began; NULL: not checked */
    struct turns_side base, now;
    struct session_options opt; /* including the purpose of the runs */
};

/* Store keys of the runs of each side, in the order of measurement. */
struct turns_made {
    int64_t base[TURNS_RUNS_MAX], now[TURNS_RUNS_MAX];
    size_t count; /* on each side */
};

/* Sets the sides to the trees of two stored runs, given by SHA-256, "" for a run without a tree. ERR_NODE
 * if only one of them had a tree. */
int turns_use_trees(struct turns_request *r, const char *base, const char *now, struct err *err);

/* Measures one more round of these cells, with at least TURNS_REPETITIONS_MIN repetitions of each per run.
 * Adds all runs of the round to out, or none. */
int turns_measure(const struct turns_request *r, const struct suspect_list *cells, struct store *s,
                  struct turns_made *out, struct err *err);

/* Builds the cells' variants of one side and runs their gates, without timing anything (with a scheduler:
 * one test of each). *key: the run that holds the results. */
int turns_build(const struct turns_request *r, const struct turns_side *side,
                const struct suspect_list *cells, struct store *s, int64_t *key, struct err *err);

/* The loaded runs of both sides. The owner calls turns_sides_release(), also after a failure. */
struct turns_sides {
    struct run_data base[TURNS_RUNS_MAX], now[TURNS_RUNS_MAX];
    const struct run_data *bases[TURNS_RUNS_MAX], *nows[TURNS_RUNS_MAX];
    size_t count;
};

/* *out must not be moved afterwards. */
int turns_sides_load(struct turns_sides *out, struct store *s, const struct turns_made *made,
                     struct err *err);
void turns_sides_release(struct turns_sides *s);

/* See turns_metric(). */
enum metric turns_sides_metric(const struct turns_sides *s, const struct delta *d);
/* Judges the cell that d names; see turns_judge_rounds(). */
void turns_sides_judge(const struct turns_sides *s, const struct compare_options *o, struct delta *d);

/* ERR_INPUT if the plan no longer has this hash, as measurements of different plans cannot be compared.
 * sha256: NULL to skip the check. */
int turns_check_plan(const struct plan *p, const char *sha256, struct err *err);

/* Checks that a side's setting is NAME=VALUE. ERR_INPUT naming the option. */
int turns_check_setting(const char *option, const char *setting, struct err *err);
