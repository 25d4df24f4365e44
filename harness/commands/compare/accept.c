/* kernsweep accept [RUN]: accepts findings of a run, so that what they changed is expected from then on. */
#include "common/base/text.h"
#include "harness/commands/base/cmd.h"
#include "reports/tables/tables.h"
#include "results/query/against.h"
#include "results/query/find_run.h"
#include "results/store/acceptance.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct accept_args {
    const char *reason, *by, *variant, *context, *metric, *baseline;
    bool undo;
};

/* What is accepted: of any cell where variant is NULL, at any context where that is negative. */
struct chosen {
    const char *variant, *reason;
    int64_t context;
    char who[RUN_NAME_MAX];
};

static int check_line(const char *option, const char *text, size_t most, struct err *err)
{
    bool plain = text_is_utf8(text, strlen(text));
    for (const char *c = text; *c; c++)
        plain = plain && (unsigned char)*c >= ' ' && *c != 0x7f;
    if (plain && *text && strlen(text) < most)
        return 0;
    return err_set(err, ERR_INPUT, "%s: expected one line of text, of up to %zu bytes", option, most - 1);
}

static int choose(const struct accept_args *a, size_t n_words, struct chosen *out, struct err *err)
{
    const struct passwd *pw = a->by ? NULL : getpwuid(getuid());
    const char *who = a->by ? a->by : pw ? pw->pw_name : "";
    *out = (struct chosen){.variant = a->variant, .reason = a->reason, .context = -1};
    if (n_words == 0 && (a->undo || a->reason || a->variant || a->context))
        return err_set(err, ERR_INPUT, "accept: name a run; without one, it lists what was accepted");
    if (n_words == 1 && a->undo == (a->reason != NULL))
        return err_set(err, ERR_INPUT, "accept: give --reason TEXT to accept, or --undo to take it back");
    if (a->undo && (a->by || a->metric || a->baseline))
        return err_set(err, ERR_INPUT, "accept: --undo can be combined only with --variant and --context");
    if (a->context && !a->variant)
        return err_set(err, ERR_INPUT, "accept: --context needs --variant");
    if (cmd_number("--context", a->context, 0, 1 << 30, &out->context, err) != 0 ||
        (a->reason && check_line("--reason", a->reason, RUN_REASON_MAX, err) != 0) ||
        (a->reason && check_line("--by", who, sizeof out->who, err) != 0))
        return -1;
    snprintf(out->who, sizeof out->who, "%s", who);
    return 0;
}

static bool is_chosen(const struct chosen *x, const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && d->verdict == VERDICT_REGRESSED &&
           d->estimate.method == METHOD_NIGHTS && (!x->variant || strcmp(x->variant, d->variant) == 0) &&
           (x->context < 0 || x->context == d->context);
}

static void add(const struct chosen *x, const char *run, const char *variant, int context, enum metric m,
                struct acceptances *out)
{
    struct acceptance *a = &out->items[out->count++];
    *a = (struct acceptance){.context = context, .metric = m};
    snprintf(a->run_id, sizeof a->run_id, "%s", run);
    snprintf(a->variant, sizeof a->variant, "%s", variant);
    snprintf(a->who, sizeof a->who, "%s", x->who);
    snprintf(a->reason, sizeof a->reason, "%s", x->reason);
}

static bool is_shift_chosen(const struct chosen *x, const struct comparison *c)
{
    return !x->variant && comparison_shift_regressed(c);
}

static void collect(const struct chosen *x, const struct comparison *c, struct acceptances *out)
{
    out->items = xcalloc(c->count + 1, sizeof *out->items);
    if (is_shift_chosen(x, c))
        add(x, c->now_id, "", 0, c->primary, out);
    for (size_t i = 0; i < c->count; i++)
        if (is_chosen(x, c, &c->deltas[i]))
            add(x, c->now_id, c->deltas[i].variant, c->deltas[i].context, c->primary, out);
}

static void say(const struct cmd_env *env, const struct chosen *x, const struct comparison *c)
{
    if (is_shift_chosen(x, c))
        fprintf(env->notes, "accepted: all cells together %+.1f %%\n", (shift_size(&c->shift) - 1) * 100);
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (is_chosen(x, c, d))
            fprintf(env->notes, "accepted: %s %d %+.1f %%%s%s\n", d->variant, d->context,
                    (delta_size(d) - 1) * 100, d->stand.since ? ", since " : "",
                    d->stand.since ? num_date(d->stand.since).s : "");
    }
}

static int compare(struct store *s, const struct accept_args *a, const struct run_data *now,
                   struct comparison *out, struct err *err)
{
    AUTO(against_release) struct against against = {0};
    struct compare_options o = compare_defaults();
    if (run_check_comparable(&now->info, err) != 0 || against_plan_options(s, now, &o, err) != 0 ||
        (a->metric && metric_parse(a->metric, &o.metric, err) != 0))
        return -1;
    o.keep_metric = a->metric != NULL;
    if ((a->baseline ? against_baseline(s, now, a->baseline, &o, &against, err)
                     : against_nights(s, now, &o, &against, err)) != 0)
        return -1;
    return against_compare(&against, now, out, err);
}

static int accept_run(const struct cmd_env *env, struct store *s, const struct accept_args *a,
                      const struct chosen *x, const struct run_data *now, struct err *err)
{
    AUTO(comparison_release) struct comparison c = {0};
    AUTO(acceptances_release) struct acceptances found = {0};
    if (compare(s, a, now, &c, err) != 0)
        return -1;
    collect(x, &c, &found);
    if (found.count == 0)
        return err_set(err, ERR_INPUT,
                       "accept: run %s has no such open finding relative to its nights: `kernsweep compare "
                       "%s` shows its verdicts, and a run that fewer than %zu nights precede is accepted by "
                       "`kernsweep baseline set NAME RUN`",
                       now->info.run_id, now->info.run_id, compare_defaults().history_min);
    if (acceptances_save(s, &found, err) != 0)
        return -1;
    say(env, x, &c);
    return EXIT_DONE;
}

static int take_back(const struct cmd_env *env, struct store *s, const struct chosen *x, const char *run_id,
                     struct err *err)
{
    int dropped = 0;
    if (acceptances_drop(s, run_id, x->variant, (int)x->context, &dropped, err) != 0)
        return -1;
    if (dropped == 0)
        return err_set(
            err, ERR_INPUT,
            "accept: no such finding of run %s was accepted: `kernsweep accept` lists those that were",
            run_id);
    fprintf(env->notes, "%d acceptance%s of run %s taken back\n", dropped, text_plural(dropped), run_id);
    return EXIT_DONE;
}

static int list_all(const struct cmd_env *env, struct store *s, struct err *err)
{
    AUTO(acceptances_release) struct acceptances all = {0};
    json_auto_t *list = json_array();
    if (acceptances_load(s, NULL, &all, err) != 0)
        return -1;
    for (size_t i = 0; i < all.count; i++) {
        const struct acceptance *a = &all.items[i];
        struct num day = num_date(a->accepted_at);
        if (env->json)
            json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s}", "run_id", a->run_id,
                                                  "variant", a->variant, "context", a->context, "metric",
                                                  metric_info(a->metric)->name, "by", a->who, "date", day.s,
                                                  "reason", a->reason));
        else
            printf("%s  %s %d %s, by %s on %s: %s\n", a->run_id, *a->variant ? a->variant : "all cells",
                   a->context, metric_info(a->metric)->name, a->who, day.s, a->reason);
    }
    return env->json ? cmd_print_json(json_incref(list)) : EXIT_DONE;
}

static int run_accept(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct accept_args *a = args;
    AUTO(store_close) struct store s = {0};
    AUTO(run_data_release) struct run_data now = {0};
    struct chosen x;
    if (choose(a, words->n, &x, err) != 0)
        return -1;
    if (words->n && env->json)
        return err_set(err, ERR_INPUT, "accept: --json is for the list, which takes no run");
    if (cmd_store_open(env, &s, words->n ? STORE_CHANGE : STORE_READ, err) != 0)
        return -1;
    if (words->n == 0)
        return list_all(env, &s, err);
    if (store_load_run(&s, words->v[0], &now, err) != 0)
        return -1;
    return a->undo ? take_back(env, &s, &x, now.info.run_id, err) : accept_run(env, &s, a, &x, &now, err);
}

#define AT(member) ARG_AT(struct accept_args, member)

static const struct arg options[] = {
    {"--reason", "TEXT", AT(reason), "why; reports and notifications say it"},
    {"--by", "NAME", AT(by), "who accepts (default: the user of this account)"},
    {"--variant", "NAME", AT(variant), "only cells of this variant"},
    {"--context", "N", AT(context), "with --variant: only its cell at this context"},
    {"--metric", "METRIC", AT(metric),
     "findings by this metric (default: the one that the run is judged by)"},
    {"--baseline", "NAME", AT(baseline), "findings relative to this stored baseline, as compare shows them"},
    {"--undo", NULL, AT(undo), "take back what was accepted of the run"},
};

const struct cmd cmd_accept = {
    .name = "accept",
    .summary = "accept findings, or list what was accepted",
    .usage = "[RUN --reason TEXT | RUN --undo]",
    .about = "Accepts the open findings of a run: they are closed, and what they changed is expected from "
             "their first night on. Without a run, lists what was accepted.",
    .options = ARG_TABLE(struct accept_args, options),
    .max_words = 1,
    .unlisted = CMD_NODE_OPTIONS,
    .run = run_accept,
};
