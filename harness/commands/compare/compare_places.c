#include "harness/commands/compare/compare_places.h"

#include "common/base/alloc.h"
#include "reports/report.h"
#include "reports/tables/terminal.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[PLACE_NODE] = "node", [PLACE_GPU] = "gpu"};
static const char *const lists[] = {[PLACE_NODE] = "nodes", [PLACE_GPU] = "gpus"};

bool place_kind_from_name(const char *name, enum place_kind *out)
{
    for (int i = PLACE_NODE; i <= PLACE_GPU; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum place_kind)i;
            return true;
        }
    return false;
}

/* The change since earlier nights as a ratio; null if the GPU did not change by itself. */
static json_t *encode_before(const struct card_shifts *cards, const char *gpu)
{
    for (size_t i = 0; i < cards->count; i++)
        if (strcmp(cards->items[i].gpu, gpu) == 0)
            return json_real(cards->items[i].ratio);
    return json_null();
}

static json_t *encode(const struct run_data *run, enum place_kind by, enum metric m,
                      const struct place_standing *places, size_t n, const struct card_shifts *cards)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct place_standing *s = &places[i];
        json_t *one =
            json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:s}", names[by], s->place, "tests", s->tests,
                      "cells", s->cells, "worse", s->worse, "ratio", cmd_json_number(s->ratio), "ratio_low",
                      cmd_json_number(s->ratio_low), "ratio_high", cmd_json_number(s->ratio_high),
                      "p_adjusted", cmd_json_number(s->p), "verdict", place_speed_name(s->speed));
        if (by == PLACE_GPU) {
            json_object_set_new(one, "mode", *s->mode ? json_string(s->mode) : json_null());
            json_object_set_new(one, "ratio_before", encode_before(cards, s->place));
        }
        json_array_append_new(list, one);
    }
    return json_pack("{s:s, s:s, s:o}", "run", run->info.run_id, "metric", metric_info(m)->name, lists[by],
                     list);
}

static void print_text(enum place_kind by, const struct place_standing *places, size_t n,
                       const struct comparison *since)
{
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    terminal_standings(by, places, n, since, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
}

int compare_places(const struct cmd_env *env, const struct run_data *run, enum place_kind by,
                   const struct compare_options *options, const struct comparison *since, struct err *err)
{
    size_t n;
    AUTO_FREE struct place_standing *places = standings_compare(run, by, options->metric, options, &n);
    if (n < 2)
        return err_set(
            err, ERR_INPUT,
            "compare: --by %s needs a run whose tests name at least two %s; those of run %s name %s",
            names[by], by == PLACE_NODE ? "machines" : "GPUs", run->info.run_id, n ? "only one" : "none");
    if (env->json)
        return cmd_print_json(encode(run, by, options->metric, places, n, &since->cards));
    print_text(by, places, n, since);
    return 0;
}
