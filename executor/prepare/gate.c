#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/contract/timings.h"
#include "executor/bundle/artifact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLEANUP_LIMIT_S = 600, GATE_LOG_MAX = 4 << 20 };

/* One gate of one variant, while it runs. */
struct gate_run {
    struct suite *suite;
    size_t variant;
    const struct gate *gate;
    struct runlog *log;
    struct assessment assessment;
    double wall_s;
    double number; /* NaN: none */
};

static void log_line(struct runlog *log, const char *text)
{
    runlog_add(log, text, strlen(text));
    runlog_add(log, "\n", 1);
}

static int record_result(const struct gate_run *j, struct err *err)
{
    const char *status = status_name(j->assessment.status == STATUS_OK ? STATUS_OK : STATUS_GATE_FAILED);
    json_t *result = json_pack("{s:s, s:s, s:s, s:o}", "gate", j->gate->name, "status", status, "reason",
                               j->assessment.reason, "wall_s", artifact_number(j->wall_s));
    if (gate_has_limit(j->gate->kind)) {
        json_object_set_new(result, "number", isnan(j->number) ? json_null() : json_real(j->number));
        json_object_set_new(result, "limit", json_real(j->gate->limit));
    }
    json_t *fields = json_copy(result);
    json_object_set_new(fields, "variant", json_string(j->suite->job.variant[j->variant].name));
    json_array_append_new(j->suite->variant[j->variant].gates, result);
    return journal_add(&j->suite->journal, EVENT_GATE, fields, err);
}

/* The reason gives the numbers whether it passes or not; of: the kernel, NULL: the command. */
static void check_number(struct gate_run *j, const char *of)
{
    enum gate_kind kind = j->gate->kind;
    bool good = gate_passes(kind, j->number, j->gate->limit);
    const char *word =
        kind == GATE_MIN_OCCUPANCY ? (good ? "at least" : "less than") : (good ? "at most" : "more than");
    j->assessment.status = good ? STATUS_OK : STATUS_FAIL;
    reason_set(j->assessment.reason, "%s %g%s%.120s, %s %g", gate_kind_name(kind), j->number,
               of ? " of " : "", of ? of : "", word, j->gate->limit);
    log_line(j->log, j->assessment.reason);
}

static struct subst gate_values(const struct gate_run *j)
{
    const struct suite *s = j->suite;
    struct subst values = suite_subst(s, j->variant);
    values.text[SUBST_OUT] = s->variant[j->variant].dir;
    values.text[SUBST_RUN_ID] = s->job.run_id;
    return values;
}

static void check_resources(struct gate_run *j, const json_t *resources, const char *of)
{
    const char *kernel = NULL;
    j->assessment.status = STATUS_FAIL;
    if (kernel_usage_number(resources, j->gate, of, &j->number, &kernel, j->assessment.reason))
        check_number(j, kernel);
    else
        log_line(j->log, j->assessment.reason);
}

static int check_objects(struct gate_run *j, struct err *err)
{
    const struct subst values = gate_values(j);
    struct targets gpus;
    char why[REASON_MAX];
    code_identity_gpus(j->suite, j->variant, &gpus);
    json_auto_t *found = objects_read(&j->gate->objects, &values, &gpus, why, err);
    if (!found && err->kind != ERR_NONE)
        return -1;
    if (found)
        check_resources(j, found, "the objects");
    else {
        j->assessment.status = STATUS_FAIL;
        reason_set(j->assessment.reason, "%s", why);
        log_line(j->log, j->assessment.reason);
    }
    return 0;
}

static int check_kernels(struct gate_run *j, struct err *err)
{
    if (j->gate->objects.argc)
        return check_objects(j, err);
    check_resources(j, j->suite->variant[j->variant].resources, RESOURCES_FILE);
    return 0;
}

/* A check prints a [PERF_TIMING] line, or JSON. */
struct readers {
    struct timing_reader mark, json;
};

static void on_output(void *arg, const char *data, size_t len)
{
    struct readers *r = arg;
    timing_reader_feed(&r->mark, data, len);
    timing_reader_feed(&r->json, data, len);
}

static int run_command(struct gate_run *j, struct readers *readers, struct err *err)
{
    struct suite *s = j->suite;
    struct variant_state *state = &s->variant[j->variant];
    const struct subst values = gate_values(j);
    struct step step = {.command = &j->gate->run,
                        .values = &values,
                        .cwd = state->dir,
                        .timeout_s = j->gate->timeout_s,
                        .log = j->log,
                        .output = readers ? on_output : NULL,
                        .arg = readers};
    return step_run(s, j->variant, &step, &j->assessment, &j->wall_s, err);
}

static void check_printed(struct gate_run *j, struct readers *readers)
{
    timing_reader_finish(&readers->mark);
    timing_reader_finish(&readers->json);
    const double *number = timings_get(&readers->mark.result, "rel_l2");
    if (!number)
        number = timings_get(&readers->json.result, "rel_l2");
    if (j->assessment.status != STATUS_OK)
        return;
    if (number && isfinite(*number) && *number >= 0) {
        j->number = *number;
        check_number(j, NULL);
        return;
    }
    j->assessment.status = STATUS_FAIL;
    reason_set(j->assessment.reason, "no number: the command printed no rel_l2%s",
               number ? " that is finite and at least 0" : "");
    log_line(j->log, j->assessment.reason);
}

static int run_check(struct gate_run *j, struct err *err)
{
    static const struct timing_rule mark = {.kind = TIMING_MARK, .unit = 1};
    struct timing_rule json = {.kind = TIMING_JSON, .unit = 1, .count = 1};
    char path[] = "$.rel_l2";
    struct readers readers;
    snprintf(json.part[0].name, sizeof json.part[0].name, "rel_l2");
    json.part[0].path = path;
    timing_reader_init(&readers.mark, &mark);
    timing_reader_init(&readers.json, &json);
    int rc = run_command(j, &readers, err);
    if (rc == 0)
        check_printed(j, &readers);
    timing_reader_release(&readers.mark);
    timing_reader_release(&readers.json);
    return rc;
}

static int run_kind(struct gate_run *j, struct err *err)
{
    switch (j->gate->kind) {
    case GATE_COMMAND:
        return run_command(j, NULL, err);
    case GATE_MAX_REL_L2:
        return run_check(j, err);
    case GATE_SCRATCH_BYTES:
    case GATE_SPILLS:
    case GATE_VGPRS:
    case GATE_LDS_BYTES:
    case GATE_MIN_OCCUPANCY:
    case GATE_KIND_COUNT:
        return check_kernels(j, err);
    }
    return 0;
}

static int run_gate(struct suite *s, size_t variant, size_t gate, struct runlog *log, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    struct gate_run j = {.suite = s,
                         .variant = variant,
                         .gate = &s->job.variant[variant].gate[gate],
                         .log = log,
                         .number = NAN};
    if (run_kind(&j, err) != 0)
        return -1;
    if (j.assessment.status != STATUS_OK) {
        state->status = STATUS_GATE_FAILED;
        reason_set(state->reason, "gate %s: %.400s", j.gate->name, j.assessment.reason);
    }
    return record_result(&j, err);
}

int gate_variant(struct suite *s, size_t variant, struct err *err)
{
    const struct variant *v = &s->job.variant[variant];
    AUTO(runlog_release) struct runlog log = {.fd = -1};
    if (v->gate_count == 0 || s->variant[variant].status != STATUS_OK)
        return 0;
    if (runlog_open(&log, s->variant[variant].dir, "gate.log", GATE_LOG_MAX, &s->secrets, err) != 0)
        return -1;
    for (size_t i = 0; i < v->gate_count && s->variant[variant].status == STATUS_OK; i++)
        if (run_gate(s, variant, i, &log, err) != 0)
            return -1;
    return runlog_finish(&log, err);
}

int gate_clean_up(struct suite *s, size_t variant, struct err *err)
{
    AUTO(runlog_release) struct runlog log = {.fd = -1};
    struct gate_run j = {.suite = s, .variant = variant, .log = &log};
    const struct subst values = gate_values(&j);
    const struct step step = {.command = &s->job.variant[variant].cleanup,
                              .values = &values,
                              .cwd = s->variant[variant].dir,
                              .timeout_s = CLEANUP_LIMIT_S,
                              .log = &log};
    if (runlog_open(&log, s->variant[variant].dir, "cleanup.log", GATE_LOG_MAX, &s->secrets, err) != 0 ||
        step_run(s, variant, &step, &j.assessment, NULL, err) != 0 || runlog_finish(&log, err) != 0)
        return -1;
    return j.assessment.status == STATUS_OK ? 0
                                            : suite_note(s, err, "the cleanup of %s failed: %.400s",
                                                         s->job.variant[variant].name, j.assessment.reason);
}
