/* timings: extraction from a workload's output in pieces of any size, and from hostile output. */
#include "tests/unit/support.h"

#include "common/contract/timings.h"

static struct timing_rule rule;
static struct json_at spec_at;
static json_t *spec;

static int use(const char *text, struct err *err)
{
    timing_rule_release(&rule);
    json_decref(spec);
    spec = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(spec);
    spec_at = json_root(spec, "job.json");
    return timing_rule_init(&rule, &spec_at, err);
}

static void use_rule(const char *text)
{
    struct err err = {.kind = ERR_NONE};
    assert_ok(use(text, &err), &err);
}

static void refuse_rule(const char *text, const char *word)
{
    struct err err = {.kind = ERR_NONE};
    int rc = use(text, &err);
    assert_err(rc, &err, ERR_INPUT, "job.json", word);
    rule = (struct timing_rule){.kind = TIMING_MARK};
}

static struct timings read_in_pieces(const char *text, size_t len, size_t piece)
{
    struct timing_reader r;
    timing_reader_init(&r, &rule);
    for (size_t i = 0; i < len; i += piece)
        timing_reader_feed(&r, text + i, len - i < piece ? len - i : piece);
    timing_reader_finish(&r);
    struct timings out = r.result;
    timing_reader_release(&r);
    return out;
}

static struct timings read_text(const char *text)
{
    return read_in_pieces(text, strlen(text), strlen(text) + 1);
}

static void is(const struct timings *t, const char *name, double want)
{
    const double *value = timings_get(t, name);
    if (!value)
        fail_msg("there is no %s", name);
    assert_true(*value == want);
}

TEST(timings_are_read_from_the_marked_line)
{
    use_rule("null");
    const char text[] =
        "loading\r\nPrompt tokens: 4096\r\n"
        "[PERF_TIMING] {\"model_load_s\": 21.5, \"prefill_s\": 22.7681, \"attn_impl\": \"v3\"}\r\n"
        "STATUS=OK";
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct timings t = read_in_pieces(text, sizeof text - 1, piece);
        assert_true(t.found);
        assert_int_equal(t.count, 2);
        is(&t, "prefill_s", 22.7681);
        is(&t, "model_load_s", 21.5);
        assert_string_equal(t.attn_impl, "v3");
        assert_int_equal(t.prompt_tokens, 4096);
        assert_string_equal(t.problem, "");
    }
    struct timings cut = read_text("x [PERF_TIMING] {\"prefill_s\": 1}");
    is(&cut, "prefill_s", 1);
    assert_int_equal(cut.prompt_tokens, -1);
}

TEST(the_last_of_several_lines_is_used)
{
    use_rule("null");
    struct timings t =
        read_text("[PERF_TIMING] {\"prefill_s\": 1, \"warm_s\": 2}\n[PERF_TIMING] {\"prefill_s\": 3}\n"
                  "Prompt tokens: 1\nPrompt tokens: 2\n");
    is(&t, "prefill_s", 3);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.prompt_tokens, 2);
    t = read_text("[PERF_TIMING] {broken\n[PERF_TIMING] {\"prefill_s\": 3}\n");
    assert_string_equal(t.problem, "");
}

TEST(unreadable_lines_are_reported)
{
    use_rule("null");
    const char *const bad[] = {
        "[PERF_TIMING] {\"prefill_s\": NaN}\n",
        "[PERF_TIMING] [1]\n",
        "[PERF_TIMING] {\"prefill_s\": 1e999}\n",
        "[PERF_TIMING] {\"prefill_s\": 1",
        "[PERF_TIMING] {\"prefill_s\": 1, \"prefill_s\": 2}\n",
        "[PERF_TIMING] \n",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct timings t = read_text(bad[i]);
        if (t.found || !t.problem[0])
            fail_msg("taken: %s", bad[i]);
    }
}

TEST(prompt_tokens_that_are_no_number_are_not_silence)
{
    static const struct {
        const char *text, *found; /* "": nothing to object to */
    } table[] = {
        {"Prompt tokens: -5\n", "-5"},
        {"Prompt tokens: 99999999999999999999\n", "99999999999999999999"},
        {"Prompt tokens: many\n", "many"},
        {"Prompt tokens: 4,096\n", "4,096"},
        {"Prompt tokens: 4096.5\n", "4096.5"},
        {"Prompt tokens: 4k\n", "4k"},
        {"Prompt tokens: 0x1000\n", "0x1000"},
        {"Prompt tokens:\n", "nothing"},
        {"Prompt tokens: 4096\nPrompt tokens: ?\n", "?"},
        {"[PERF_TIMING] {\"prefill_s\": 1, \"prompt_tokens\": \"many\"}\n", "many"},
        {"[PERF_TIMING] {\"prefill_s\": 1, \"prompt_tokens\": -1}\n", "-1"},
        {"[PERF_TIMING] {\"prefill_s\": 1, \"prompt_tokens\": [4096]}\n", "no number"},
        {"Prompt tokens: ?\nPrompt tokens: 4096\n", ""},
        {"Prompt tokens: 4096 (padded)\n", ""},
        {"Prompt tokens: 4096.\n", ""},
        {"no word of it\n", ""},
    };
    use_rule("null");
    for (size_t i = 0; i < COUNT(table); i++) {
        struct timings t = read_text(table[i].text);
        assert_string_equal(t.prompt_problem, table[i].found);
        if (*table[i].found)
            assert_int_equal(t.prompt_tokens, -1);
    }
}

TEST(timings_that_are_no_number_are_not_silence)
{
    static const char regex[] = "{\"kind\": \"regex\", \"pattern\": \"t=(?<prefill_s>\\\\S+)\"}",
                      json[] = "{\"kind\": \"json\", \"map\": {\"prefill_s\": \"$.r[0]\"}}";
    static const struct {
        const char *rule, *text, *unread; /* "": nothing to object to */
    } table[] = {
        {regex, "t=0,005\n", "prefill_s is '0,005': not a number"},
        {regex, "t=1.5ms\n", "prefill_s is '1.5ms': not a number"},
        {regex, "t=\033[1m\n", "prefill_s is '?[1m': not a number"},
        {regex, "t=0.0000000000000000000000000000000000000000000000000000000000000000000000001\n", ""},
        {json, "{\"r\": [\"0.5\"]}\n", "prefill_s is '\"0.5\"': not a number"},
        {json, "{\"r\": [null]}\n", "prefill_s is 'null': not a number"},
        {json, "{\"r\": []}\n", ""},
        {json, "{\"r\": [0.5]}\n", ""},
        {"null", "[PERF_TIMING] {\"prefill_s\": \"0.5\"}\n", "prefill_s is '\"0.5\"': not a number"},
        {"null", "[PERF_TIMING] {\"kernel_ms\": true}\n", "kernel_ms is 'true': not a number"},
        {"null", "[PERF_TIMING] {\"prefill_s\": null}\n", ""},
        {"null", "[PERF_TIMING] {\"device\": \"MI300X\"}\n", ""},
        {"null", "[PERF_TIMING] {\"prefill_s\": \"?\"}\n[PERF_TIMING] {\"prefill_s\": 1}\n", ""},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        use_rule(table[i].rule);
        struct timings t = read_text(table[i].text);
        assert_string_equal(t.unread, table[i].unread);
    }
}

TEST(timings_are_found_after_hostile_output)
{
    use_rule("null");
    size_t len = 3 * LIMIT_LOG_LINE, room = len + 100;
    char *text = malloc(room);
    memset(text, 'x', len);
    size_t end = len + (size_t)snprintf(text + len, room - len, "\n[PERF_TIMING] {\"prefill_s\": 1}\n");
    struct timings t = read_in_pieces(text, end, 1000);
    is(&t, "prefill_s", 1);
    memset(text, 0, len);
    t = read_in_pieces(text, end, 777);
    is(&t, "prefill_s", 1);
    free(text);

    struct buf many;
    buf_init(&many, LIMIT_LOG_LINE);
    buf_puts(&many, "[PERF_TIMING] {\"prefill_s\": 1");
    for (int i = 0; i < 1000; i++)
        buf_printf(&many, ", \"x%d_s\": %d", i, i);
    buf_puts(&many, "}\n");
    t = read_text(buf_str(&many));
    assert_int_equal(t.count, TIMINGS_MAX);
    assert_non_null(strstr(t.problem, "x999_s' is one too many"));
    buf_release(&many);
    t = read_text("SKIP: \x1b[2J bad \xff\n");
    assert_string_equal(t.skip, "?[2J bad ?");
}

/* The store would leave such a number out, long after the program has run. */
TEST(a_timing_whose_name_is_none_is_told)
{
    char long_name[200], text[300];
    use_rule("null");
    memset(long_name, 'n', sizeof long_name);
    snprintf(text, sizeof text, "[PERF_TIMING] {\"prefill_s\": 1, \"%.65s\": 2}\n", long_name);
    assert_non_null(strstr(read_text(text).problem, "nnn' has no name of letters"));
    snprintf(text, sizeof text, "[PERF_TIMING] {\"prefill_s\": 1, \"%.64s\": 2}\n", long_name);
    assert_string_equal(read_text(text).problem, "");
    assert_non_null(strstr(read_text("[PERF_TIMING] {\"a\\u001bb\": 2}\n").problem, "'a?b'"));
    assert_string_equal(read_text("[PERF_TIMING] {\"a b\": \"text\", \"prefill_s\": 1}\n").problem, "");
}

TEST(a_json_rule_reads_its_paths)
{
    use_rule(
        "{\"kind\": \"json\", \"unit\": \"ms\", \"map\": {\"prefill_s\": \"$.r[1].t\", \"tok\": \"$.tok\", "
        "\"attn_impl\": \"$.k\", \"prompt_tokens\": \"$.n\"}}");
    struct timings t =
        read_text("noise\n{\"r\": [0, {\"t\": 1500}], \"tok\": 7, \"k\": \"v3\", \"n\": 12}\nmore\n");
    is(&t, "prefill_s", 1.5);
    is(&t, "tok", 7);
    assert_string_equal(t.attn_impl, "v3");
    assert_int_equal(t.prompt_tokens, 12);
    t = read_text("{\n \"r\": [0,\n {\"t\": 2500}]\n}\n");
    is(&t, "prefill_s", 2.5);
    t = read_text("{\"r\": 5}\n");
    assert_false(t.found);
}

TEST(a_regex_rule_reads_its_named_groups)
{
    use_rule("{\"kind\": \"regex\", \"pattern\": \"(prompt|prefill) eval time = "
             "*(?<prefill_s>\\\\d+[.]?\\\\d*) ms / "
             "*(?<prompt_tokens>\\\\d+) tokens\", \"unit\": \"ms\"}");
    struct timings t = read_text("llama: prompt eval time =  1234.5 ms /  512 tokens (2.4 ms)\n");
    is(&t, "prefill_s", 1.2345);
    assert_int_equal(t.prompt_tokens, 512);
    assert_int_equal(t.count, 1);
    t = read_text("nothing of the kind\n");
    assert_false(t.found);
    use_rule("{\"kind\": \"regex\", \"pattern\": \"[](x]=(?<a_s>[[:digit:]]+)|b[^]]=(?<b_s>.*)\"}");
    t = read_text("(=12\nbb=0.5\n");
    is(&t, "a_s", 12);
    is(&t, "b_s", 0.5);
    use_rule("{\"kind\": \"regex\", \"pattern\": \"took (?<a_s>\\\\d+) s|(?:in|after) (?<a_s>\\\\d+)\"}");
    t = read_text("took 3 s\n");
    is(&t, "a_s", 3);
    t = read_text("after 4\n");
    is(&t, "a_s", 4);
}

TEST(a_line_that_takes_too_long_to_match_is_a_problem)
{
    char line[2000];
    memset(line, 'a', sizeof line);
    memcpy(line + sizeof line - 3, "!\n", 3);
    use_rule("{\"kind\": \"regex\", \"pattern\": \"(a+)+(?<a_s>[0-9])\"}");
    struct timings t = read_text(line);
    assert_false(t.found);
    assert_non_null(strstr(t.problem, "takes too long"));
}

static struct timings read_with_metrics(const char *rule_text, const char *metrics, const char *output)
{
    struct err err = {.kind = ERR_NONE};
    struct own_metrics own;
    json_t *list = json_loads(metrics, 0, NULL);
    struct json_at at = json_root(list, "job.json");
    use_rule(rule_text);
    assert_ok(own_metrics_read(&own, &at, IN_JOB, &err), &err);
    assert_ok(timing_rule_add_metrics(&rule, &own, &at, &err), &err);
    struct timings t = read_text(output);
    json_decref(list);
    return t;
}

TEST(metrics_are_read_by_each_kind_of_rule)
{
    static const char metrics[] = "[{\"name\": \"rate_s\", \"better\": \"more\", \"from\": \"speed\"}]";
    struct timings t = read_with_metrics(
        "{\"kind\": \"regex\", \"pattern\": \"at (?<speed>[0-9]+)\", \"unit\": \"ms\"}", metrics, "at 500\n");
    is(&t, "rate_s", 500); /* the unit of the rule is that of its times */
    assert_null(timings_get(&t, "speed"));
    t = read_with_metrics("{\"kind\": \"json\", \"map\": {\"speed\": \"$.v\"}}", metrics, "{\"v\": 7}\n");
    is(&t, "rate_s", 7);
    t = read_with_metrics("null", metrics, "[PERF_TIMING] {\"speed\": 3, \"prefill_s\": 1}\n");
    is(&t, "rate_s", 3);
    is(&t, "prefill_s", 1);
    t = read_with_metrics("null", "[{\"name\": \"a\", \"better\": \"less\", \"from\": \"$.x[1].y\"}]",
                          "[PERF_TIMING] {\"x\": [0, {\"y\": 2.5}]}\n");
    is(&t, "a", 2.5);
}

/* The last line that matches counts, also if its number cannot be read. */
TEST(a_number_that_cannot_be_read_is_told)
{
    static const char rule_text[] =
        "{\"kind\": \"regex\", \"pattern\": \"(?<t>\\\\S+) ms|kind (?<what>\\\\S+)\"}",
                      metrics[] = "[{\"name\": \"t\", \"unit\": \"ms\", \"better\": \"less\"}]";
    struct timings t = read_with_metrics(rule_text, metrics, "950.5 ms\n1,050.5 ms\n");
    assert_string_equal(t.unread, "t is '1,050.5': not a number");
    assert_null(timings_get(&t, "t"));
    t = read_with_metrics(rule_text, metrics, "1,050.5 ms\n950.5 ms\n");
    assert_string_equal(t.unread, "");
    t = read_with_metrics(rule_text, metrics, "950.5 ms\nthe time in ms\nkind 2d\n");
    assert_string_equal(t.unread, "");
    is(&t, "t", 950.5);
}

TEST(the_wall_rule_reads_nothing)
{
    use_rule("\"wall\"");
    struct timings t = read_text("[PERF_TIMING] {\"prefill_s\": 1}\n");
    assert_false(t.found);
}

TEST(bad_rules_are_refused)
{
    refuse_rule("5", "kind");
    refuse_rule("{\"kind\": \"xml\"}", "json");
    refuse_rule("{\"kind\": \"json\", \"map\": {}}", "$.map");
    refuse_rule("{\"kind\": \"json\", \"map\": {\"a b\": \"$.x\"}}", "name");
    refuse_rule("{\"kind\": \"json\", \"map\": {\"a\": \"x\"}}", "path");
    refuse_rule("{\"kind\": \"json\", \"map\": {\"a\": \"$.x\"}, \"unit\": \"min\"}", "$.unit");
    refuse_rule("{\"kind\": \"json\", \"map\": {\"a\": \"$.x\"}, \"more\": 1}", "more");
    refuse_rule("{\"kind\": \"regex\", \"pattern\": \"(?<a_s>[0-9\"}", "expression");
    refuse_rule("{\"kind\": \"regex\", \"pattern\": \"([0-9]+)\"}", "named");
    refuse_rule("{\"kind\": \"regex\", \"pattern\": \"(?<../a>.)\"}", "at byte 3");
    refuse_rule("{\"kind\": \"regex\", \"pattern\": \"a pattern of some length (?\"}", "at byte 27");
    refuse_rule("{\"kind\": \"regex\", \"pattern\": \"(?<\"}", "at byte 3");
    refuse_rule(
        "{\"kind\": \"regex\", \"pattern\": \"(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(?<a>.)\"}",
        "1 to 16 groups");
}

static int forget(void **state)
{
    (void)state;
    timing_rule_release(&rule);
    json_decref(spec);
    return 0;
}

GROUP(NULL, forget);
