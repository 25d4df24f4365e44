/* What a workload prints, read by each kind of rule. Before the first NUL byte of the input: the rule as
 * JSON, or a digit for one of those below; after it, the output.
 */
#include "common/contract/timings.h"
#include "tests/fuzz/fuzz.h"

static const char *const rules[] = {
    "null",
    "{\"kind\":\"json\",\"map\":{\"prefill_s\":\"$.results[0].p\",\"attn_impl\":\"$.i\",\"prompt_tokens\":\"$"
    ".n\"}}",
    "{\"kind\":\"regex\",\"pattern\":\"took (?<prefill_s>\\\\d+[.]?\\\\d*) ms|by "
    "(?<attn_impl>[a-z_]+)\",\"unit\":\"ms\"}",
};

static json_t *rule_of(const char *text, size_t len)
{
    if (len == 1 && *text >= '0' && *text <= '2')
        return json_loads(rules[*text - '0'], JSON_DECODE_ANY, NULL);
    return json_parse(text, len, "plan.json", NULL);
}

static void read_output(const struct timing_rule *rule, const char *text, size_t len)
{
    struct timing_reader r;
    timing_reader_init(&r, rule);
    for (size_t i = 0; i < len; i += 7)
        timing_reader_feed(&r, text + i, len - i < 7 ? len - i : 7);
    timing_reader_finish(&r);
    fuzz_check(r.result.count <= TIMINGS_MAX);
    for (size_t i = 0; i < r.result.count; i++)
        fuzz_check(text_is_utf8(r.result.item[i].name, strlen(r.result.item[i].name)));
    fuzz_check_text(r.result.skip, strlen(r.result.skip));
    fuzz_check(memchr(r.result.problem, '\0', sizeof r.result.problem));
    fuzz_check_text(r.result.attn_impl, strlen(r.result.attn_impl));
    timing_reader_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = size ? memchr(text, '\0', size) : NULL;
    struct timing_rule rule;
    struct err err = {0};
    if (!end)
        return 0;
    json_t *spec = rule_of(text, (size_t)(end - text));
    if (!spec)
        return 0;
    struct json_at at = json_root(spec, "plan.json");
    int rc = timing_rule_init(&rule, &at, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    if (rc == 0) {
        read_output(&rule, end + 1, size - (size_t)(end - text) - 1);
        timing_rule_release(&rule);
    }
    json_decref(spec);
    return 0;
}
