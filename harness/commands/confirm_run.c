#include "harness/commands/confirm_run.h"

#include "harness/session/confirm.h"
#include "results/query/confirm_store.h"
#include "results/query/history_load.h"
#include "results/store/run_load.h"

#include <stdio.h>

static int load_runs(struct store *s, const int64_t keys[CONFIRM_ROUNDS],
                     struct run_data runs[CONFIRM_ROUNDS], struct err *err)
{
    for (int i = 0; i < CONFIRM_ROUNDS; i++)
        if (run_data_load(s, keys[i], &runs[i], err) != 0)
            return -1;
    return 0;
}

static int judge_measured(struct finish *f, const struct confirm_runs *measured, struct err *err)
{
    struct run_data base[CONFIRM_ROUNDS] = {0}, now[CONFIRM_ROUNDS] = {0};
    const struct run_data *bases[CONFIRM_ROUNDS], *nows[CONFIRM_ROUNDS];
    for (int i = 0; i < CONFIRM_ROUNDS; i++) {
        bases[i] = &base[i];
        nows[i] = &now[i];
    }
    int rc = load_runs(&f->store, measured->base, base, err);
    if (rc == 0)
        rc = load_runs(&f->store, measured->now, now, err);
    if (rc == 0)
        rc = confirm_judge(&f->comparison, bases, CONFIRM_ROUNDS, nows, CONFIRM_ROUNDS, &f->against.options,
                           err);
    if (rc == 0)
        rc = confirm_save(&f->store, f->run.info.key, f->against.base.info.key, &f->comparison, err);
    for (int i = 0; i < CONFIRM_ROUNDS; i++) {
        run_data_release(&base[i]);
        run_data_release(&now[i]);
    }
    return rc;
}

static int measure_and_judge(struct finish *f, const char *plan, const struct session_options *opt,
                             struct err *err)
{
    const struct confirm_request request = {.plan = plan,
                                            .base_source = f->against.base.info.source_sha256,
                                            .now_source = f->run.info.source_sha256,
                                            .opt = *opt};
    struct confirm_runs measured;
    struct suspect_list suspects;
    if (confirm_suspects(&f->comparison, &suspects, err) != 0)
        return -1;
    fprintf(stderr, "confirming %zu suspects: measuring the base's build and this one in turns\n",
            suspects.count);
    int rc = confirm_measure(&request, &suspects, &f->store, &measured, err);
    suspect_list_release(&suspects);
    return rc == 0 ? judge_measured(f, &measured, err) : -1;
}

void confirm_run(struct finish *f, const char *plan, const struct session_options *opt)
{
    struct err why = {0};
    bool confirmed_before = f->against.confirmed.count > 0;
    if (!f->compared || f->comparison.verdicts[VERDICT_REGRESSED] == 0 || confirmed_before ||
        measure_and_judge(f, plan, opt, &why) == 0)
        return;
    if (why.kind == ERR_NODE)
        fprintf(stderr, "suspects not confirmed: %s\n", why.msg);
    else {
        err_wrap(&why, "the run is stored, but its suspects could not be confirmed");
        f->failure = why;
    }
}
