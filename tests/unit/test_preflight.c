/* preflight: which facts of a node warn, which block, and that untrusted text is escaped. */
#include "tests/unit/support.h"

#include "harness/session/preflight.h"

#include <math.h>
#include <string.h>

static const struct preflight_needs calm = {.largest_context = 16384,
                                            .limit_memory = "1G",
                                            .limit_processes = 8,
                                            .engines = 1u << 2,
                                            .isolate = true,
                                            .clock_offset_s = 0.1,
                                            .clock_error_s = 0.1};

static void judge(struct preflight *out, const char *facts, const struct preflight_needs *needs)
{
    json_t *node = json_loads(facts, 0, NULL);
    assert_non_null(node);
    preflight_check(out, node, needs);
    json_decref(node);
}

static const struct finding *find(const struct preflight *p, const char *subject)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->findings[i].subject, subject) == 0)
            return &p->findings[i];
    fail_msg("no finding about %s", subject);
    return NULL;
}

#define FIT                                                                                                  \
    "\"disk_free_bytes\":1e12,\"compilers\":[{\"name\":\"hipcc\",\"version\":\"6.2\"}],"                     \
    "\"gpus\":[{\"name\":\"MI300X\",\"arch\":\"gfx942\",\"vram_total_bytes\":2e11,\"vram_used_bytes\":3e8}]"

TEST(a_fit_node_is_ok)
{
    struct preflight p;
    judge(&p, "{" FIT "}", &calm);
    assert_int_equal(p.worst, PREFLIGHT_OK);
    assert_non_null(strstr(find(&p, "gpu")->text, "gfx942"));
}

#define TWO                                                                                                  \
    "{\"disk_free_bytes\":1e12,\"compilers\":[{\"name\":\"hipcc\",\"version\":\"6.2\"}],\"gpus\":["          \
    "{\"index\":0,\"arch\":\"gfx942\",\"vram_total_bytes\":2e11,\"vram_used_bytes\":3e8},"                   \
    "{\"index\":1,\"arch\":\"gfx942\",\"vram_total_bytes\":2e11,\"vram_used_bytes\":9e10}],"                 \
    "\"gpu_processes\":[%s]}"

static enum preflight_level worst_of(const char *processes, const char *word, struct preflight *p)
{
    char facts[2048];
    struct preflight_needs needs = calm;
    const struct gpu_wish wish = {.given = true, .amount = GPUS_LISTED, .word = {word}, .count = 1};
    snprintf(facts, sizeof facts, TWO, processes);
    needs.gpus = word ? &wish : NULL;
    judge(p, facts, &needs);
    return p->worst;
}

TEST(users_of_other_gpus_are_nobodys_concern)
{
    struct preflight p;
    const char *other = "{\"pid\":7,\"vram_bytes\":9,\"gpus\":[1]}",
               *unknown = "{\"pid\":7,\"vram_bytes\":9}", *monitor = "{\"pid\":7,\"vram_bytes\":0}";
    assert_int_equal(worst_of(other, "0", &p), PREFLIGHT_OK);
    assert_int_equal(worst_of(other, "1", &p), PREFLIGHT_WARNING);
    assert_non_null(strstr(find(&p, "gpu users")->text, "1 other process"));
    assert_int_equal(worst_of(other, NULL, &p), PREFLIGHT_WARNING);
    assert_int_equal(worst_of(unknown, "0", &p), PREFLIGHT_WARNING);
    assert_int_equal(worst_of(monitor, "0", &p), PREFLIGHT_OK);
}

/* A container that was given one of two GPUs, and a user outside of the group of their files. */
TEST(a_gpu_whose_files_may_not_be_opened_is_named)
{
    static const char *const facts =
        "{\"disk_free_bytes\":1e12,\"compilers\":[{\"name\":\"hipcc\",\"version\":\"7\"}],"
        "\"gpus\":[{\"vram_total_bytes\":2e11,\"vram_used_bytes\":9e10,\"usable\":false},"
        "{\"arch\":\"gfx942\",\"usable\":%s}]}";
    struct preflight p;
    char text[512];
    snprintf(text, sizeof text, facts, "true");
    judge(&p, text, &calm);
    assert_int_equal(p.worst, PREFLIGHT_OK);
    assert_non_null(strstr(find(&p, "gpu")->text, "may not be opened"));
    snprintf(text, sizeof text, facts, "false");
    judge(&p, text, &calm);
    assert_int_equal(p.worst, PREFLIGHT_WARNING);
    assert_non_null(strstr(find(&p, "gpu")->remedy, "render"));
}

TEST(memory_that_nobody_holds_has_its_own_hint)
{
    struct preflight p;
    worst_of("", NULL, &p);
    bool told = false;
    for (size_t i = 0; i < p.count; i++)
        told |= strstr(p.findings[i].remedy, "no visible process holds it") != NULL;
    assert_true(told);
}

TEST(each_trouble_has_its_level_and_a_remedy)
{
    static const struct {
        const char *facts, *subject;
        enum preflight_level level;
    } cases[] = {
        {"{\"disk_free_bytes\":1e12,\"compilers\":[{\"name\":\"gcc\",\"version\":\"12\"}],\"gpus\":[{"
         "\"name\":"
         "\"MI300X\",\"arch\":\"gfx942\",\"vram_total_bytes\":2e11,\"vram_used_bytes\":3e8}]}",
         "hipcc", PREFLIGHT_WARNING},
        {"{" FIT
         ",\"containment\":{\"kind\":\"group\",\"hierarchy\":\"v1\",\"memory\":false,\"processes\":true,"
         "\"why\":\"w\"}}",
         "containment", PREFLIGHT_BLOCKER},
        {"{" FIT
         ",\"containment\":{\"kind\":\"cgroup\",\"memory\":true,\"processes\":true,\"isolate\":false}}",
         "isolation", PREFLIGHT_BLOCKER},
        {"{" FIT ",\"engines\":[]}", "containers", PREFLIGHT_BLOCKER},
        {"{" FIT ",\"leftovers\":[{\"pid\":7,\"run_id\":\"r\"}]}", "leftovers", PREFLIGHT_WARNING},
        {"{" FIT ",\"gpu_processes\":[{\"pid\":9,\"vram_bytes\":1}]}", "gpu users", PREFLIGHT_WARNING},
        {"{" FIT ",\"clocks_left\":[{\"gpu\":\"g\",\"run_id\":\"r\",\"held\":false,\"can_put_back\":true}]}",
         "left clocks", PREFLIGHT_WARNING},
        {"{" FIT ",\"clocks_left\":[{\"gpu\":\"g\",\"run_id\":\"r\",\"held\":false,\"can_put_back\":false}]}",
         "left clocks", PREFLIGHT_WARNING},
        {"{\"disk_free_bytes\":1e6}", "disk", PREFLIGHT_BLOCKER},
        {"{\"disk_free_bytes\":1e9}", "disk", PREFLIGHT_WARNING},
        {"{}", "compiler", PREFLIGHT_WARNING},
        {"{\"gpus\":[{\"vram_total_bytes\":100,\"vram_used_bytes\":50}]}", "gpu", PREFLIGHT_WARNING},
        {"{\"model\":{\"path\":\"m\",\"context_length\":2048}}", "model", PREFLIGHT_BLOCKER},
        {"{\"model\":{\"path\":\"m\",\"error\":\"m: cannot open\"}}", "model", PREFLIGHT_BLOCKER},
        {"{\"model\":{\"path\":\"m\"}}", "model", PREFLIGHT_WARNING},
        {"{" FIT ",\"login\":{\"HIP_LAUNCH_BLOCKING\":\"1\"}}", "variables", PREFLIGHT_WARNING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct preflight p;
        judge(&p, cases[i].facts, &calm);
        const struct finding *f = find(&p, cases[i].subject);
        assert_int_equal(f->level, cases[i].level);
        assert_true(*f->remedy != '\0');
        assert_true(p.worst >= f->level);
    }
}

static size_t slowing(const char *login, const char *plan, bool debug)
{
    AUTO_FREE char *node = xasprintf("{" FIT ",\"login\":%s}", login);
    json_auto_t *env = json_loads(plan, 0, NULL);
    struct preflight_needs needs = calm;
    struct preflight p;
    size_t n = 0;
    needs.env = env;
    needs.debug = debug;
    judge(&p, node, &needs);
    for (size_t i = 0; i < p.count; i++)
        n += strcmp(p.findings[i].subject, "variables") == 0;
    return n;
}

TEST(variables_that_serialise_warn_unless_they_are_off_or_meant)
{
    const char *blocking = "{\"HIP_LAUNCH_BLOCKING\":\"1\"}", *off = "{\"HIP_LAUNCH_BLOCKING\":\"0\"}";
    assert_int_equal(slowing(blocking, "{}", false), 1);
    assert_int_equal(slowing("{}", blocking, false), 1);
    assert_int_equal(slowing(blocking, off, false), 0);
    assert_int_equal(slowing(off, blocking, false), 1);
    assert_int_equal(slowing(blocking, blocking, true), 0);
    assert_int_equal(slowing("{\"HSA_XNACK\":\"1\"}", "{\"OMP_NUM_THREADS\":\"1\"}", false), 0);
    assert_int_equal(slowing("{\"AMD_SERIALIZE_KERNEL\":\"3\",\"AMD_SERIALIZE_COPY\":\"3\"}", "{}", false),
                     2);
}

TEST(compilers_that_the_builds_need_are_missed)
{
    static const char cpu[] =
        "{\"disk_free_bytes\":1e12,\"compilers\":[{\"name\":\"gcc\",\"version\":\"12\"}]}";
    struct preflight p;
    const struct preflight_needs needs = {.hipcc = true, .nvcc = true, .clock_offset_s = NAN};
    judge(&p, cpu, &needs);
    assert_int_equal(find(&p, "hipcc")->level, PREFLIGHT_WARNING);
    assert_int_equal(find(&p, "nvcc")->level, PREFLIGHT_WARNING);
    judge(&p, cpu, &calm);
    bool said = false;
    for (size_t i = 0; i < p.count; i++)
        said = said || strstr(p.findings[i].text, "no hipcc and no nvcc");
    assert_true(said);
}

TEST(clock_counts_only_beyond_its_error)
{
    struct preflight p;
    const struct preflight_needs slow_link = {.clock_offset_s = 7, .clock_error_s = 4};
    const struct preflight_needs wrong = {.clock_offset_s = -3600, .clock_error_s = 0.2};
    const struct preflight_needs unknown = {.clock_offset_s = NAN, .clock_error_s = 0};
    judge(&p, "{" FIT "}", &slow_link);
    assert_int_equal(find(&p, "clock")->level, PREFLIGHT_OK);
    judge(&p, "{" FIT "}", &wrong);
    assert_int_equal(find(&p, "clock")->level, PREFLIGHT_WARNING);
    judge(&p, "{" FIT "}", &unknown);
    for (size_t i = 0; i < p.count; i++)
        assert_string_not_equal(p.findings[i].subject, "clock");
}

TEST(hostile_facts_stay_text)
{
    struct preflight p;
    judge(&p,
          "{\"hostname\":\"a\\u001b[2Jb\",\"gpus\":{},\"compilers\":[1,{\"name\":7}],\"disk_free_bytes\":"
          "\"x\"}",
          &calm);
    for (size_t i = 0; i < p.count; i++)
        assert_null(strchr(p.findings[i].text, '\033'));
    assert_non_null(strstr(find(&p, "host")->text, "\\x1b"));
}
