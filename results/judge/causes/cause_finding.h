/* cause_finding: one change, what is known about it, and the causes that follow. Internal to causes_find.h:
 * finding_explain_cell() for a cell (cause_cell.c, cause_ended.c), finding_explain_shift() for what all cells
 * have in common (cause_shift.c). Pure.
 */
#pragma once

#include "results/judge/causes/cause_beside.h"

/* One change and what is known about it. */
struct finding {
    const struct causes_input *in;
    const struct comparison *c;
    const struct delta *d; /* NULL: what all cells have in common */
    const struct cause_run *before;
    const struct cause_run *onset; /* the first night that shows the change; NULL: tonight is */
    bool doubtful;                 /* the last night may have shown a part of it, or a limit that differs may
                                      not be what ended the tests */
    struct cause_differences differs;
    struct beside *beside;
    struct controls controls;
    double change; /* positive for slower; NaN for a change of status */
    enum cause_code code;
    bool code_later;    /* it differs since a night after the onset only */
    struct cause clock; /* if clock_stands */
    bool clock_stands;
    double node_share; /* NaN if the controls did not move as well */
    enum neighbours neighbours;
    double neighbours_before, neighbours_now;
    bool own_run; /* the neighbours are tests of the same run, on other GPUs */
    struct cell_causes *out;
};

struct cause *finding_add(struct finding *f, enum cause_kind kind, bool established);
/* Appends nothing if there are no changes. */
void finding_add_changes(struct finding *f, enum cause_kind kind, bool established,
                         const struct cause_changes *changes);
void finding_add_neighbours(struct finding *f);
/* Appends "unexplained" if nothing was found, or if what was found explains less than half. */
void finding_add_rest(struct finding *f);
void finding_append_changes(struct cause_changes *to, const struct cause_changes *from);

/* Fills in f->differs. */
void finding_compare(struct finding *f);
/* Whether all of a cell's tests ran on other GPUs than in the run before; *was and *is name one of each. */
bool finding_moved(const struct finding *f, const struct delta *d, const char **was, const char **is);
/* Adds to f->differs the limits of tests that explain why f->d broke, or works again (cause_ended.c). */
void finding_compare_limits(struct finding *f);
/* Fills in what is known about f->d; f->before and f->out are given. */
void finding_look_at_cell(struct finding *f);
void finding_explain_cell(struct finding *f);
void finding_explain_shift(struct finding *f);
