/* tuning: which settings of a GPU node are worth a warning, each from the smallest facts that show it. */
#include "tests/unit/support.h"

#include "harness/session/tuning.h"

static void judge(struct preflight *out, const char *facts)
{
    json_t *node = json_loads(facts, 0, NULL);
    assert_non_null(node);
    *out = (struct preflight){.count = 0};
    tuning_check(out, node);
    json_decref(node);
}

static const struct finding *find(const struct preflight *p, const char *subject)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->findings[i].subject, subject) == 0 && p->findings[i].level == PREFLIGHT_WARNING)
            return &p->findings[i];
    return NULL;
}

#define TUNED                                                                                                \
    "\"vendor\":\"amd\",\"arch\":\"gfx942\",\"compute_partition\":\"SPX\",\"memory_partition\":\"NPS1\","    \
    "\"perf_level\":\"auto\",\"sclk_min_mhz\":500,\"sclk_max_mhz\":2100,\"iommu\":\"identity\","             \
    "\"ecc\":true,\"xgmi_links\":1,\"pcie_width\":16,\"pcie_width_max\":16,\"power_cap_w\":750,"             \
    "\"power_cap_default_w\":750,\"ras\":{\"uncorrectable\":0,\"correctable\":9},"                           \
    "\"firmware\":{\"smc\":\"0x1\",\"vbios\":\"113\"}"
#define HOST "\"system\":{\"governor\":\"performance\",\"thp\":\"always\",\"numa_balancing\":0}"

TEST(a_well_tuned_node_has_no_warning)
{
    struct preflight p;
    judge(&p, "{\"gpus\":[{" TUNED "},{" TUNED "}]," HOST "}");
    assert_int_equal(p.worst, PREFLIGHT_OK);
    assert_int_equal(p.count, 4);
}

TEST(facts_that_are_not_there_are_not_judged)
{
    struct preflight p;
    judge(&p, "{\"gpus\":[{\"vendor\":\"amd\",\"arch\":\"gfx942\"},{\"vendor\":\"nvidia\"}],\"system\":{}}");
    assert_int_equal(p.count, 0);
    judge(&p, "{}");
    assert_int_equal(p.count, 0);
}

/* The second of two GPUs differs from a well-tuned one in these members. */
TEST(each_setting_has_its_finding)
{
    static const struct {
        const char *change, *subject, *words;
    } cases[] = {
        {"{\"ras\":{\"uncorrectable\":1}}", "gpu errors", "GPU 1: 1 uncorrectable hardware error since"},
        {"{\"ras\":{\"uncorrectable\":2}}", "gpu errors", "2 uncorrectable hardware errors since"},
        {"{\"ecc\":false}", "ecc", "GPU 1: off"},
        {"{\"compute_partition\":\"CPX\"}", "partitions", "GPU 1: CPX/NPS1, unlike GPU 0 (SPX/NPS1)"},
        {"{\"memory_partition\":\"NPS4\"}", "partitions", "SPX/NPS4"},
        {"{\"perf_level\":\"manual\",\"sclk_max_mhz\":1400}", "clocks",
         "held at performance level 'manual', 500 to 1400 MHz"},
        {"{\"power_cap_w\":550}", "power cap", "550 W, below the default of 750 W"},
        {"{\"power_cap2_w\":900,\"power_cap2_default_w\":1200}", "peak power cap", "900 W at short peaks"},
        {"{\"node_power_limit_w\":5000,\"node_power_limit_max_w\":6400}", "node power limit",
         "5000 W for all"},
        {"{\"ras\":{\"uncorrectable\":0,\"deferred\":3}}", "deferred errors", "3 deferred memory errors"},
        {"{\"pcie_width\":8}", "pcie", "8 of its 16 lanes"},
        {"{\"xgmi_links\":0}", "xgmi", "0 links, but 1 other GPU"},
        {"{\"iommu\":\"DMA-FQ\"}", "iommu", "(DMA-FQ)"},
        {"{\"firmware\":{\"smc\":\"0x2\",\"vbios\":\"113\"}}", "firmware", "smc 0x2, unlike GPU 0 (0x1)"},
        {"{\"metrics_unread\":\"1.10 of 18 bytes\"}", "telemetry",
         "GPU 1: gpu_metrics 1.10 of 18 bytes is not"},
        {"{\"vendor\":\"nvidia\",\"persistence\":false}", "persistence", "GPU 1: off"},
        {"{\"vendor\":\"nvidia\",\"mig\":true}", "mig", "a slice"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct preflight p;
        json_t *node = json_loads("{\"gpus\":[{" TUNED "},{" TUNED "}]," HOST "}", 0, NULL),
               *change = json_loads(cases[i].change, 0, NULL);
        json_object_update(json_array_get(json_object_get(node, "gpus"), 1), change);
        p = (struct preflight){.count = 0};
        tuning_check(&p, node);
        const struct finding *f = find(&p, cases[i].subject);
        if (!f || !strstr(f->text, cases[i].words) || !*f->remedy)
            fail_msg("%s: %s", cases[i].change, f ? f->text : "no finding");
        for (size_t k = 0; k < p.count; k++)
            assert_true(&p.findings[k] == f || p.findings[k].level == PREFLIGHT_OK);
        json_decref(change);
        json_decref(node);
    }
}

TEST(each_setting_of_the_system_has_its_finding)
{
    static const char *const cases[][2] = {{"\"numa_balancing\":1", "numa"},
                                           {"\"governor\":\"schedutil\"", "governor"},
                                           {"\"governor\":\"mixed\"", "governor"},
                                           {"\"thp\":\"never\"", "huge pages"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char facts[1024];
        struct preflight p;
        snprintf(facts, sizeof facts, "{\"gpus\":[{" TUNED "}],\"system\":{%s}}", cases[i][0]);
        judge(&p, facts);
        assert_non_null(find(&p, cases[i][1]));
        snprintf(facts, sizeof facts,
                 "{\"gpus\":[{\"vendor\":\"amd\",\"arch\":\"gfx1250\"}],\"system\":{%s}}", cases[i][0]);
        judge(&p, facts);
        assert_non_null(find(&p, cases[i][1]));
        snprintf(facts, sizeof facts, "{\"gpus\":[{\"vendor\":\"nvidia\"}],\"system\":{%s}}", cases[i][0]);
        judge(&p, facts); /* AMD's guide says nothing of such a node */
        assert_int_equal(p.count, 0);
    }
}

TEST(gpus_with_the_same_trouble_share_a_finding)
{
    struct preflight p;
    judge(&p, "{\"gpus\":[{\"ecc\":false},{},{\"ecc\":false},{\"ecc\":false}]}");
    assert_int_equal(p.count, 1);
    assert_non_null(strstr(find(&p, "ecc")->text, "GPUs 0, 2 and 3: off"));
    judge(&p, "{\"gpus\":[{\"ecc\":false},{\"ecc\":false},{\"ecc\":false},{\"ecc\":false},{\"ecc\":false}]}");
    assert_non_null(strstr(find(&p, "ecc")->text, "5 GPUs: off"));
}

TEST(parts_of_a_gpu_are_not_missing_links)
{
    struct preflight p;
    judge(&p, "{\"gpus\":[{\"vendor\":\"amd\",\"compute_partition\":\"CPX\",\"xgmi_links\":0},"
              "{\"vendor\":\"amd\",\"compute_partition\":\"CPX\",\"xgmi_links\":0}]}");
    assert_null(find(&p, "xgmi"));
}
