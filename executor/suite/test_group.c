#include "executor/suite/test_group.h"

#include "executor/process/engine.h"
#include "executor/process/isolate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int test_group_begin_run(struct suite *s, char *reason, struct err *err)
{
    if (s->job.settings.isolate && !isolate_works()) {
        reason_set(reason,
                   "this node does not let this user isolate tests (user namespaces): see docs/nodes.md, or "
                   "drop \"isolate\"");
        return 0;
    }
    s->processes.signals_kept = s->job.settings.isolate && isolate_signals_works();
    const struct contain_run run = {.name = s->job.run_id,
                                    .limits = suite_limits(s),
                                    .helper = nvml_helper_pid(&s->nvml),
                                    .recorded = !s->job.part.on};
    int rc = contain_open(&s->processes.contain, s->layout, &scope_host_usual, &run, err);
    if (rc == 0)
        reason_set(reason, "%s", s->processes.contain.why);
    return rc;
}

bool test_group_isolates(const struct suite *s, size_t test)
{
    return s->job.settings.isolate && !s->job.variant[s->job.test[test].variant].container.on;
}

int test_group_open(struct contain_group *g, struct suite *s, size_t test, struct err *err)
{
    char name[64];
    const size_t variant = s->job.test[test].variant;
    const bool apart =
        s->job.variant[variant].container.on && engine_has_containers(s->variant[variant].engine);
    /* The plan limits the container, not the engine's client. */
    const struct contain_limits limits = apart ? (struct contain_limits){.memory_bytes = 0} : suite_limits(s);
    snprintf(name, sizeof name, "test-%zu-%u", test + 1, s->test[test].attempts);
    return contain_group_open(g, &s->processes.contain.place, name, &limits, err);
}

int test_group_open_step(struct contain_group *g, struct suite *s, struct err *err)
{
    const struct contain_limits none = {.memory_bytes = 0};
    return contain_group_open(g, &s->processes.contain.place, "step", &none, err);
}

static void append(struct assessment *a, const char *text)
{
    char before[REASON_MAX];
    memcpy(before, a->reason, sizeof before);
    reason_set(a->reason, "%.300s; %.200s", before, text);
}

void test_group_judge(const struct suite *s, const struct contain_hits *hits, struct assessment *a)
{
    char text[160];
    if (a->status == STATUS_OK && hits->memory_kills == 0)
        return;
    if (hits->memory_kills > 0 && (a->status == STATUS_OK || a->status == STATUS_FAIL ||
                                   a->status == STATUS_CRASH || a->status == STATUS_OOM)) {
        a->status = STATUS_OOM;
        reason_set(a->reason, "killed at the plan's memory limit (limits.memory %s)",
                   s->job.settings.limit_memory);
    }
    if (hits->refused > 0) {
        snprintf(text, sizeof text,
                 "at the plan's process limit (limits.processes %" PRId64 "), %" PRId64 " were refused",
                 s->job.settings.limit_processes, hits->refused);
        append(a, text);
    }
}

json_t *test_group_encode(const struct suite *s, bool grouped, const struct contain_hits *hits)
{
    const struct contain_limits l = suite_limits(s);
    json_t *out = json_pack("{s:s}", "contained",
                            containment_name(grouped ? s->processes.contain.kind : CONTAINED_GROUP));
    json_auto_t *limits = json_object();
    if (l.memory_bytes > 0) {
        json_object_set_new(limits, "memory_bytes", json_integer(l.memory_bytes));
        json_object_set_new(limits, "memory_kills", json_integer(hits->memory_kills));
    }
    if (l.processes > 0) {
        json_object_set_new(limits, "processes", json_integer(l.processes));
        json_object_set_new(limits, "processes_refused", json_integer(hits->refused));
    }
    if (json_object_size(limits) > 0)
        json_object_set(out, "limits", limits);
    return out;
}
