/* nights: the nights of a plan as a model: the level of each cell and when it changed, what all cells had in
 * common each night (the node, or code that all share), and how far nights lie from their levels.
 *
 * With y the logarithm of a cell's median in a night and a its level, the common factor of the night is the
 * median over the cells of y - a; u = y without it. Levels follow u night by night (standing.h), so that a
 * night on which the whole node was slow is no change of forty cells. One metric at a time. Pure; the owner
 * calls nights_model_release() and keeps the history alive until then.
 */
#pragma once

#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/history.h"
#include "results/judge/nights/night_model.h"
#include "results/judge/nights/standing.h"
#include "results/store/acceptance.h"

/* Points of a series that speak for one level. */
struct level {
    bool known;
    double u; /* median */
    double y;
    size_t nights;                    /* that it is the median of; the rest is 0 or false if not known */
    size_t since;                     /* first night of its segment */
    size_t members[NIGHTS_LEVEL_MAX]; /* points of the cell */
};

/* What was accepted: runs that are bases of the comparison, and findings. */
struct nights_accepted {
    const int64_t *runs;
    size_t count;
    const struct acceptance *findings;
    size_t n_findings;
};

/* accepted may be NULL. */
void nights_model(const struct history *h, enum metric m, const struct nights_accepted *accepted,
                  struct nights *out);
void nights_model_release(struct nights *n);

/* What those cells have in common in night t that are at their levels. A night that was narrowed to fewer
 * than six says nothing about it: then it is that of the night before. */
double nights_even_factor(const struct nights *n, size_t t, const struct common_cell *cells, size_t count,
                          bool *known);

/* NULL if no night measured it. Any one, if the cell has series of several GPUs. */
const struct night_cell *nights_find_cell(const struct nights *n, const char *variant, int context);
/* As it is seen from this GPU. */
const struct night_cell *nights_find_on(const struct nights *n, const char *variant, int context,
                                        uint64_t device);
/* Whether somebody accepted a finding of the cell that began after this level. */
bool nights_accepted_since(const struct night_cell *c, const struct level *level);
bool nights_is_listed(const int64_t *runs, size_t n, int64_t key);
/* Whether the newest night measured it. */
bool nights_has_newest(const struct nights *n, const struct night_cell *c);
/* The level that tonight's value is expected at. */
struct level nights_level(const struct night_cell *c);
/* The level of a stored base: of its run and the nights of the same segment nearest to it, or, if it has
 * several runs, of those. Not known if no night of the cell is among them. */
struct level nights_base_level(const struct night_cell *c, const int64_t *runs, size_t n_runs);
/* Whether any night of the level is newer than the base. */
bool nights_are_since(const struct night_cell *c, const struct level *level, const struct level *base);
/* What the factor of a night is expected to be (y), and what it was in the nights of a base. */
struct level nights_factor_level(const struct nights *n);
double nights_base_factor(const struct nights *n, const struct night_cell *c, const struct level *base);
/* The factor of a base whose runs are all newer than the nights of this level of factors; else not known. */
struct level nights_newer_factor(const struct nights *n, const struct level *usual, const int64_t *runs,
                                 size_t n_runs);
/* The same of nights whose factor somebody accepted by itself. */
struct level nights_accepted_factor(const struct nights *n, const struct level *usual);
/* Whether no night of the level was measured on this device, as far as known. */
bool nights_on_other_device(const struct night_cell *c, const struct level *l, uint64_t device);
/* The share of a level's nights, among those with known code, that ran this code; NaN if none is known. */
double nights_share_of_code(const struct night_cell *c, const struct level *l, uint64_t code);
/* The newest device that is known; 0 if none is. */
uint64_t nights_device(const struct nights *n);
