/* timing_rule: how timings are extracted from a workload's output: "timings" of a plan or job. The default is
 * a line "[PERF_TIMING] {json}"; a rule is a JSON path per timing or a regular expression with named groups,
 * so that any program can be timed; "wall" reads nothing, and the wall time is what counts. The plan's own
 * metrics are read by the same rule. The executor applies it (common/contract/timings).
 */
#pragma once

#include "common/base/regex.h"
#include "common/contract/own_metric.h"

enum { TIMING_PATH_KEY_MAX = 256 }; /* of one key of a JSON path */

enum timing_kind { TIMING_MARK, TIMING_JSON, TIMING_REGEX, TIMING_WALL };

struct timing_rule {
    enum timing_kind kind;
    double unit; /* seconds per unit, for values whose names end in _s */
    size_t count;
    struct timing_part {
        char name[LIMIT_NAME + 1]; /* of the timing; "attn_impl" and "prompt_tokens" are special */
        char *path;   /* TIMING_JSON and TIMING_MARK: "$.a.b[0]", or a key of the printed object */
        size_t group; /* TIMING_REGEX */
        bool own;     /* a metric of the plan's own: its value is kept as it is printed */
    } part[LIMIT_TIMINGS + LIMIT_METRICS];
    struct regex regex; /* TIMING_REGEX */
    char *pattern;      /* its text, for messages */
};

extern const struct key timing_json_keys[], timing_regex_keys[];

/* spec: "timings"; its value may be NULL or JSON null for the default rule. */
int timing_rule_init(struct timing_rule *rule, const struct json_at *spec, struct err *err);
/* Adds what the metrics need, once; at: "metrics", for messages. On failure the rule is still the caller's.
 */
int timing_rule_add_metrics(struct timing_rule *rule, const struct own_metrics *metrics,
                            const struct json_at *at, struct err *err);
/* Whether the plan itself says that the program prints timings: a rule, or metrics. */
bool timing_rule_is_given(const struct timing_rule *rule);
/* Whether the rule names this timing; the default rule takes all, and names only the plan's own metrics. */
bool timing_rule_has(const struct timing_rule *rule, const char *name);
void timing_rule_release(struct timing_rule *rule);
