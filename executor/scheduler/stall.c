#include "executor/scheduler/stall.h"

#include "executor/bundle/artifact.h"

#include <string.h>

/* Takes stalled. */
static int write_event(struct suite *s, const char *message, json_t *stalled, struct err *err)
{
    return journal_add(&s->journal, EVENT_NODE,
                       json_pack("{s:s, s:o}", "message", message, "stalled", stalled), err);
}

int stall_begin(struct stall *stall, struct suite *s, const char *reason, double patience_s, struct err *err)
{
    if (strcmp(stall->reason, reason) == 0)
        return 0;
    reason_set(stall->reason, "%s", reason);
    stall->on = true;
    return write_event(s, stall->reason, json_pack("{s:o}", "patience_s", artifact_number(patience_s)), err);
}

int stall_end(struct stall *stall, struct suite *s, const char *message, struct err *err)
{
    if (!stall->on)
        return 0;
    *stall = (struct stall){.on = false};
    return write_event(s, message, json_null(), err);
}
