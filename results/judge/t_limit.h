/* t_limit: the limit of Student's t that was asked for last.
 *
 * Cells of one plan mostly have the same degrees of freedom, and to find the limit takes longer than the rest
 * of a cell's verdict. Pure; all 0 at first.
 */
#pragma once

struct t_limit {
    double p, freedom;
    double t;
};

/* stats_t_limit() of the two. */
double t_limit_of(struct t_limit *last, double p, double freedom);
