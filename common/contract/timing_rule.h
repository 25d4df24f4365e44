/* timing_rule: how timings are extracted from a workload's output: "timings" of a plan or job. The default is
 * a line "[PERF_TIMING] {json}"; a rule is a JSON path per timing or a regular expression with named groups,
 * so that any program can be timed. The executor applies the rule (executor/run/timings).
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_TIMING_RULE_H
#define KERNSWEEP_COMMON_CONTRACT_TIMING_RULE_H

#include "common/base/regex.h"
#include "common/contract/keys.h"
#include "common/contract/proto.h"

enum { TIMING_PATH_KEY_MAX = 256 }; /* of one key of a JSON path */

enum timing_kind { TIMING_MARK, TIMING_JSON, TIMING_REGEX };

struct timing_rule {
    enum timing_kind kind;
    double unit; /* seconds per unit, for values whose names end in _s */
    size_t count;
    struct {
        char name[LIMIT_NAME + 1]; /* of the timing; "attn_impl" and "prompt_tokens" are special */
        char *path;                /* TIMING_JSON: "$.a.b[0]" */
        size_t group;              /* TIMING_REGEX */
    } part[LIMIT_TIMINGS];
    struct regex regex; /* TIMING_REGEX */
};

extern const struct key timing_json_keys[], timing_regex_keys[];

/* spec: "timings"; its value may be NULL or JSON null for the default rule. */
int timing_rule_init(struct timing_rule *rule, const struct json_at *spec, struct err *err);
/* Whether the rule can give a timing of this name; true for TIMING_MARK, where the program decides. */
bool timing_rule_gives(const struct timing_rule *rule, const char *name);
void timing_rule_release(struct timing_rule *rule);

#endif
