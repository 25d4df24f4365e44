#include "common/contract/proto.h"

#include <string.h>

static const char *const status_names[STATUS_COUNT] = {
    [STATUS_OK] = "OK",
    [STATUS_FAIL] = "FAIL",
    [STATUS_TIMEOUT] = "TIMEOUT",
    [STATUS_HANG] = "HANG",
    [STATUS_OOM] = "OOM",
    [STATUS_CRASH] = "CRASH",
    [STATUS_INVALID] = "INVALID",
    [STATUS_SKIPPED] = "SKIPPED",
    [STATUS_CANCELLED] = "CANCELLED",
    [STATUS_INTERRUPTED] = "INTERRUPTED",
    [STATUS_BUILD_FAILED] = "BUILD_FAILED",
    [STATUS_GATE_FAILED] = "GATE_FAILED",
};

static const char *const run_status_names[RUN_STATUS_COUNT] = {
    [RUN_COMPLETE] = "COMPLETE",
    [RUN_PARTIAL] = "PARTIAL",
    [RUN_BLOCKED] = "BLOCKED",
    [RUN_CANCELLED] = "CANCELLED",
};

const char *const run_purpose_names[PURPOSE_COUNT + 1] = {
    [PURPOSE_SWEEP] = "sweep",   [PURPOSE_CONFIRM] = "confirm", [PURPOSE_NOISE] = "noise",
    [PURPOSE_BISECT] = "bisect", [PURPOSE_AB] = "ab",           [PURPOSE_SEARCH] = "search",
};

static const char *const event_names[EVENT_COUNT] = {
    [EVENT_SUITE_START] = "SUITE_START",
    [EVENT_BUILD_START] = "BUILD_START",
    [EVENT_BUILD_END] = "BUILD_END",
    [EVENT_GATE] = "GATE",
    [EVENT_TEST_START] = "TEST_START",
    [EVENT_HEARTBEAT] = "HEARTBEAT",
    [EVENT_TEST_END] = "TEST_END",
    [EVENT_TEST_SKIP] = "TEST_SKIP",
    [EVENT_SUITE_END] = "SUITE_END",
    [EVENT_CONFIG_PATCH] = "CONFIG_PATCH",
    [EVENT_NODE] = "NODE",
};

static int name_index(const char *const *table, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(table[i], name) == 0)
            return i;
    return -1;
}

const char *status_name(enum status s)
{
    return status_names[s];
}

bool status_from_name(const char *name, enum status *out)
{
    int i = name_index(status_names, STATUS_COUNT, name);
    if (i < 0)
        return false;
    *out = (enum status)i;
    return true;
}

const char *run_status_name(enum run_status s)
{
    return run_status_names[s];
}

bool run_status_from_name(const char *name, enum run_status *out)
{
    int i = name_index(run_status_names, RUN_STATUS_COUNT, name);
    if (i < 0)
        return false;
    *out = (enum run_status)i;
    return true;
}

const char *run_purpose_name(enum run_purpose p)
{
    return run_purpose_names[p];
}

bool run_purpose_from_name(const char *name, enum run_purpose *out)
{
    int i = name_index(run_purpose_names, PURPOSE_COUNT, name);
    if (i < 0)
        return false;
    *out = (enum run_purpose)i;
    return true;
}

const char *event_name(enum event_type e)
{
    return event_names[e];
}

bool event_from_name(const char *name, enum event_type *out)
{
    int i = name_index(event_names, EVENT_COUNT, name);
    if (i < 0)
        return false;
    *out = (enum event_type)i;
    return true;
}

enum exit_code exit_code_of(const struct err *err)
{
    switch (err->kind) {
    case ERR_NONE:
        return EXIT_DONE;
    case ERR_INPUT:
        return EXIT_USAGE;
    case ERR_NODE:
        return EXIT_BLOCKED;
    case ERR_STORAGE:
    case ERR_INTERNAL:
        return EXIT_LOCAL;
    case ERR_INTERRUPTED:
        return EXIT_INTERRUPTED;
    }
    return EXIT_LOCAL;
}
