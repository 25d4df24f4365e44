#include "harness/session/turns_runs.h"

#include "results/store/run_load.h"

#include <stdlib.h>

static int load_all(struct store *s, const struct turns_made *made, struct turns_sides *out, struct err *err)
{
    for (size_t i = 0; i < made->count; i++) {
        out->bases[i] = &out->base[i];
        out->nows[i] = &out->now[i];
        out->count++;
        if (run_data_load(s, made->base[i], &out->base[i], err) != 0 ||
            run_data_load(s, made->now[i], &out->now[i], err) != 0)
            return -1;
    }
    return 0;
}

struct turns_sides *turns_sides_load(struct store *s, const struct turns_made *made, struct err *err)
{
    struct turns_sides *out = calloc(1, sizeof *out);
    if (!out)
        err_set(err, ERR_INTERNAL, "no memory for the runs that were made in turns");
    else if (load_all(s, made, out, err) != 0) {
        turns_sides_free(out);
        out = NULL;
    }
    return out;
}

void turns_sides_free(struct turns_sides *s)
{
    for (size_t i = 0; s && i < s->count; i++) {
        run_data_release(&s->base[i]);
        run_data_release(&s->now[i]);
    }
    free(s);
}

enum metric turns_sides_metric(const struct turns_sides *s, const struct delta *d)
{
    const struct turns_runs base = {s->bases, s->count}, now = {s->nows, s->count};
    return turns_metric(&base, &now, d);
}

int turns_sides_judge(const struct turns_sides *s, const struct compare_options *o, struct delta *d,
                      struct err *err)
{
    const struct turns_runs base = {s->bases, s->count}, now = {s->nows, s->count};
    return turns_judge_rounds(&base, &now, TURNS_EACH, o, d, err);
}
