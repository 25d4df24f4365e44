#include "executor/gate.h"

#include "executor/artifact.h"
#include "executor/step.h"

enum { GATE_LOG_MAX = 4 << 20 };

static int tell(struct suite *s, size_t variant, size_t gate, const struct verdict *v, double wall_s,
                struct err *err)
{
    const char *status = status_name(v->status == STATUS_OK ? STATUS_OK : STATUS_GATE_FAILED);
    json_t *result = json_pack("{s:s, s:s, s:s, s:o}", "gate", s->job.variant[variant].gate[gate].name,
                               "status", status, "reason", v->reason, "wall_s", artifact_number(wall_s));
    json_t *fields = json_copy(result);
    json_object_set_new(fields, "variant", json_string(s->job.variant[variant].name));
    json_array_append_new(s->variant[variant].gates, result);
    return journal_add(&s->journal, EVENT_GATE, fields, err);
}

static int run_gate(struct suite *s, size_t variant, size_t gate, struct runlog *log, struct err *err)
{
    const struct job_gate *g = &s->job.variant[variant].gate[gate];
    struct variant_state *state = &s->variant[variant];
    struct subst values = suite_subst(s, variant);
    struct verdict v;
    double wall_s = 0;
    values.text[SUBST_OUT] = state->dir;
    values.text[SUBST_RUN_ID] = s->job.run_id;
    struct step step = {.command = &g->run, .values = &values, .cwd = state->dir, .timeout_s = g->timeout_s};
    if (step_run(s, variant, &step, log, &v, &wall_s, err) != 0)
        return -1;
    if (v.status != STATUS_OK) {
        state->status = STATUS_GATE_FAILED;
        reason_set(state->reason, "gate %s: %.400s", g->name, v.reason);
    }
    return tell(s, variant, gate, &v, wall_s, err);
}

int gate_variant(struct suite *s, size_t variant, struct err *err)
{
    const struct job_variant *v = &s->job.variant[variant];
    struct runlog log = {.fd = -1};
    if (v->gate_count == 0 || s->variant[variant].status != STATUS_OK)
        return 0;
    int rc = runlog_open(&log, s->variant[variant].dir, "gate.log", GATE_LOG_MAX, &s->secrets, err);
    for (size_t i = 0; rc == 0 && i < v->gate_count && s->variant[variant].status == STATUS_OK; i++)
        rc = run_gate(s, variant, i, &log, err);
    if (rc == 0)
        rc = runlog_finish(&log, err);
    runlog_release(&log);
    return rc;
}
