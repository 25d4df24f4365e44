/* timing_rule: how a workload's output is read for its timings: a plan's and a job's "timings". By default
 * one line "[PERF_TIMING] {json}"; by rule a JSON document with a path for each timing, or a regular
 * expression with named groups, so that a program that knows nothing of kernsweep can be timed. Applying a
 * rule to output is the executor's affair.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_TIMING_RULE_H
#define KERNSWEEP_COMMON_CONTRACT_TIMING_RULE_H

#include "common/base/regex.h"
#include "common/contract/keys.h"
#include "common/contract/proto.h"

enum timing_kind { TIMING_MARK, TIMING_JSON, TIMING_REGEX };

struct timing_rule {
    enum timing_kind kind;
    double unit; /* seconds in one unit of the values whose names end in _s */
    size_t count;
    struct {
        char name[LIMIT_NAME + 1]; /* of the timing; "attn_impl" and "prompt_tokens" are not timings */
        char *path;                /* TIMING_JSON: "$.a.b[0]" */
        size_t group;              /* TIMING_REGEX */
    } part[LIMIT_TIMINGS];
    struct regex regex; /* TIMING_REGEX */
};

extern const struct key timing_json_keys[], timing_regex_keys[];

/* spec: "timings"; its value may be NULL or JSON null for the default rule. */
int timing_rule_init(struct timing_rule *rule, const struct json_at *spec, struct err *err);
void timing_rule_release(struct timing_rule *rule);

#endif
