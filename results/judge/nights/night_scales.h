/* night_scales: how far the nights of a model lie from their levels, and how much they resemble each other.
 * For the model (nights.c) and its judge. Pure. a, b: scratch, with room for every night and for every cell.
 */
#pragma once

#include "results/judge/nights/night_model.h"

struct residuals {
    double about; /* scale about the levels of the segments, as if nights were independent */
    double steps; /* scale by the differences of successive nights */
    size_t nights;
    size_t segments;
};

/* How many nights with this memory say as much about a level as one independent night. */
double nights_alike(double memory);

/* Those of the values without the common factors of the nights (u), and the memory. r: one for each cell. */
void night_scales_find(struct nights *n, struct residuals *r, double *a, double *b);
/* How much nights resemble the night before, by the points that were fitted so far. */
double night_scales_memory(const struct nights *n, struct residuals *r, double *a, double *b);
/* Those with the factors (y), from the steps alone: a slow drift of the node is no noise, since factors exist
 * to follow it. */
void night_scales_find_with_factors(struct nights *n, double *scratch);
/* What the common scale is worth (scale_prior()). */
double night_scales_prior(const struct nights *n, double *log_s, double *v);
/* y and nights of n values with these levels, as if nights were independent. */
struct night_scale night_scale_of(const double *y, const struct changes *levels, size_t n, double *a,
                                  double *b);
