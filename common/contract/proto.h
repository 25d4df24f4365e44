/* proto: the vocabulary that harness, executor, store and reports share: statuses, events, exit codes, schema
 * names and limits. Each enum has one name table; a test compares the SQL CHECK lists with it.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/text.h"

#include <stdbool.h>

#define PROTO_SCHEMA_PLAN "kernsweep.plan/1"
#define PROTO_SCHEMA_JOB "kernsweep.job/1"
#define PROTO_SCHEMA_PERF "kernsweep.perf/1"
#define PROTO_SCHEMA_SUMMARY "kernsweep.summary/1"
#define PROTO_SCHEMA_NODE "kernsweep.node/1"
#define PROTO_SCHEMA_MANIFEST "kernsweep.manifest/1"
#define PROTO_SCHEMA_CODE "kernsweep.code/2"
#define PROTO_TIMING_MARK "[PERF_TIMING] "
/* Sent in place of an empty line of `follow`: the executor, whose pid comes next, is stopped. */
#define FOLLOW_STOPPED " stopped "

enum status {
    STATUS_OK,
    STATUS_FAIL,
    STATUS_TIMEOUT,
    STATUS_HANG,
    STATUS_OOM,
    STATUS_CRASH,
    STATUS_INVALID,
    STATUS_SKIPPED,
    STATUS_CANCELLED,
    STATUS_INTERRUPTED,
    STATUS_BUILD_FAILED, /* of a variant */
    STATUS_GATE_FAILED,  /* of a variant */
    STATUS_COUNT
};

enum run_status { RUN_COMPLETE, RUN_PARTIAL, RUN_BLOCKED, RUN_CANCELLED, RUN_STATUS_COUNT };

/* Why a run was made. Only sweeps are "latest", nights of a history, or baselines unless named by id. */
enum run_purpose {
    PURPOSE_SWEEP,
    PURPOSE_CONFIRM,
    PURPOSE_NOISE,
    PURPOSE_BISECT,
    PURPOSE_AB,
    PURPOSE_SEARCH,
    PURPOSE_COUNT
};

enum event_type {
    EVENT_SUITE_START,
    EVENT_BUILD_START,
    EVENT_BUILD_END,
    EVENT_GATE,
    EVENT_TEST_START,
    EVENT_HEARTBEAT,
    EVENT_TEST_END,
    EVENT_TEST_SKIP,
    EVENT_SUITE_END,
    EVENT_CONFIG_PATCH,
    EVENT_NODE,
    EVENT_COUNT
};

enum exit_code {
    EXIT_DONE = 0,
    EXIT_TEST_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_BLOCKED = 3,
    EXIT_REGRESSION = 4,
    EXIT_LOCAL = 5,
    EXIT_INCONCLUSIVE = 6, /* of `ab` alone */
    EXIT_INTERRUPTED = 130,
};

/* Names as written in artifacts; from_name returns false for an unknown name. */
const char *status_name(enum status s);
bool status_from_name(const char *name, enum status *out);
const char *run_status_name(enum run_status s);
bool run_status_from_name(const char *name, enum run_status *out);
extern const char *const run_purpose_names[PURPOSE_COUNT + 1]; /* NULL-terminated */
const char *run_purpose_name(enum run_purpose p);
bool run_purpose_from_name(const char *name, enum run_purpose *out);
const char *event_name(enum event_type e);
bool event_from_name(const char *name, enum event_type *out);
enum exit_code exit_code_of(const struct err *err);

/* Limits on what a node may send and a plan may request. */
enum {
    LIMIT_PLAN_BYTES = 4 << 20,
    LIMIT_JSON_BYTES = 16 << 20,
    LIMIT_EVENT_LINE = 64 << 10,
    LIMIT_VARIANTS = 256,
    LIMIT_CONTEXTS = 256,
    LIMIT_REPETITIONS = 1000,
    CONTROLS_MIN = 6,    /* cells without a change that are measured nonetheless, to see what the node does */
    LIMIT_TESTS = 20000, /* so that summary.json with a reason for each stays within LIMIT_JSON_BYTES */
    LIMIT_ARGV = 256,
    LIMIT_ARG_BYTES = 8192,
    LIMIT_NAME = TEXT_NAME_MAX,
    LIMIT_NAME_OF_ENV = 128,
    LIMIT_ENV = 256,
    LIMIT_SECRETS = 64,
    LIMIT_SECRET_MIN = 4, /* bytes: redacting a shorter one would mangle unrelated text */
    LIMIT_BUILD_COMMANDS = 64,
    LIMIT_GATES = 16,
    LIMIT_PATCHES = 64,   /* per plan, and per variant */
    LIMIT_TIMINGS = 16,   /* in a plan's rule */
    LIMIT_METRICS = 16,   /* of a plan's own */
    LIMIT_UNIT = 16,      /* bytes of the name of a metric's unit */
    LIMIT_PATTERN = 1024, /* bytes of a regular expression */
    LIMIT_LOG_LINE = 64 << 10,
};
