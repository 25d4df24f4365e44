#include "harness/commands/measure/noise_stored.h"

#include "results/query/noise_store.h"
#include "results/store/when.h"

#include <stdio.h>
#include <string.h>

static int make_filter(const struct noise_choice *c, struct noise_filter *out, struct err *err)
{
    *out = (struct noise_filter){.node = c->node, .ticket = c->ticket, .variant = c->variant};
    if (!c->session)
        return 0;
    int64_t ms = when_parse(c->session);
    if (ms == WHEN_UNKNOWN || ms < 1000)
        return err_set(err, ERR_INPUT,
                       "--session: expected a time as `kernsweep noise list` prints it, found \"%.40s\"",
                       c->session);
    out->session_s = ms / 1000;
    return 0;
}

static json_t *encode(const struct noise_rows *l)
{
    json_t *all = json_array();
    for (size_t i = 0; i < l->count; i++) {
        const struct noise_row *r = &l->items[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:f, s:i}", "session",
                                             r->measured_at, "node", r->node, "ticket", r->ticket, "mode",
                                             r->mode, "variant", r->variant, "context", r->context, "metric",
                                             r->metric, "spread", r->spread, "runs", r->runs));
    }
    return all;
}

/* Leaves out metrics that are never judged. */
static void print_text(const struct noise_rows *l)
{
    static const char *const titles[] = {"SESSION", "NODE",   "TICKET", "VARIANT",
                                         "CONTEXT", "METRIC", "SPREAD", "RUNS"};
    AUTO(table_release) struct table t = {0};
    for (size_t i = 0; l->count > 0 && i < sizeof titles / sizeof *titles; i++)
        table_column(&t, titles[i], i == 4 || i > 5);
    for (size_t i = 0; i < l->count; i++) {
        const struct noise_row *r = &l->items[i];
        char session[32], context[16], spread[32], runs[16];
        enum metric m;
        if (metric_from_name(r->metric, &m) && !metric_is_judged(m))
            continue;
        snprintf(session, sizeof session, "%.19sZ", r->measured_at);
        snprintf(context, sizeof context, "%d", r->context);
        snprintf(runs, sizeof runs, "%d", r->runs);
        snprintf(spread, sizeof spread, "%.2f %%", 100 * r->spread);
        table_code(&t, session);
        table_code(&t, r->node);
        table_code(&t, r->ticket);
        table_code(&t, r->variant);
        table_text(&t, context);
        table_code(&t, r->metric);
        table_text(&t, spread);
        table_text(&t, runs);
    }
    cmd_print_table(&t);
}

int noise_stored_list(const struct cmd_env *env, struct store *s, const struct noise_choice *c,
                      struct err *err)
{
    struct noise_filter f;
    struct noise_rows l;
    if (make_filter(c, &f, err) != 0 || noise_list(s, &f, &l, err) != 0)
        return -1;
    int rc = EXIT_DONE;
    if (env->json)
        rc = cmd_print_json(encode(&l));
    else
        print_text(&l);
    noise_rows_release(&l);
    return rc;
}

int noise_stored_remove(const struct cmd_env *env, struct store *s, const struct noise_choice *c,
                        struct err *err)
{
    struct noise_filter f;
    int64_t cells;
    if (env->json)
        return err_set(err, ERR_INPUT, "noise remove: --json is not supported: it prints no results");
    if (!c->node && !c->ticket && !c->variant && !c->session)
        return err_set(err, ERR_INPUT,
                       "noise remove: say which noise: --session TIME, --node, --ticket or --variant, as "
                       "`kernsweep noise list` shows them");
    if (make_filter(c, &f, err) != 0 || noise_remove(s, &f, &cells, err) != 0)
        return -1;
    if (cells == 0)
        return err_set(err, ERR_INPUT,
                       "noise remove: no stored noise matches: `kernsweep noise list` shows what there is");
    fprintf(env->notes, "removed the noise floor of %lld %s\n", (long long)cells,
            cells == 1 ? "cell" : "cells");
    return EXIT_DONE;
}
