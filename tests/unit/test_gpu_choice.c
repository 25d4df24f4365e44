/* gpu_choice: which GPUs a run may use, in groups; near: lists of CPUs. */
#include "tests/unit/support.h"

#include "executor/node/gpu_choice.h"
#include "executor/process/near.h"

static json_t *eight_gpus(void)
{
    json_t *gpus = json_array();
    for (int i = 0; i < 8; i++) {
        char id[32], pci[32], kfd[32];
        snprintf(id, sizeof id, "1d0fbe6a2a1c000%d", i);
        snprintf(pci, sizeof pci, "0000:%d1:00.0", i);
        snprintf(kfd, sizeof kfd, "feed00000000000%d", i);
        json_array_append_new(gpus, json_pack("{s:i, s:s, s:s, s:s, s:s}", "index", i, "vendor", "amd",
                                              "unique_id", id, "kfd_id", kfd, "pci", pci));
    }
    return gpus;
}

#define JOB(rest, test_rest)                                                                                 \
    "{\"schema\":\"kernsweep.job/"                                                                           \
    "1\",\"run_id\":\"r\",\"ticket\":\"t\",\"variants\":[{\"name\":\"v\",\"run\":[\"x\"]"                    \
    "}]," rest                                                                                               \
    "\"tests\":[{\"index\":1,\"variant\":\"v\",\"context\":1,\"repetition\":1,\"timeout_s\":1" test_rest     \
    "}]}"

/* "0 1|2 3": the last digits of the GPUs' ids, by groups; or the error. */
static const char *chosen(const char *text, json_t *gpus, const struct gpu_grant *grant, struct gpu_choice *c)
{
    static char out[2048];
    struct job job;
    struct err err = {0};
    assert_ok(job_init(&job, json_loads(text, 0, NULL), "job.json", &err), &err);
    int rc = gpu_choice_make(c, &job, gpus, grant, &err);
    out[0] = '\0';
    for (size_t g = 0; g < c->count; g++)
        for (size_t i = 0; i < c->group[g].count; i++) {
            const char *name = c->group[g].name[i];
            snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s",
                     i   ? " "
                     : g ? "|"
                         : "",
                     name + strlen(name) - 1);
        }
    if (rc != 0)
        snprintf(out, sizeof out, "%s", err.msg);
    job_release(&job);
    return out;
}

static void assert_chosen(const char *text, const char *granted, const char *expected, enum gpu_rule rule)
{
    struct gpu_choice c;
    json_t *gpus = eight_gpus();
    const struct gpu_grant grant = {.list = granted};
    assert_string_equal(chosen(text, gpus, &grant, &c), expected);
    assert_true(c.choose);
    assert_int_equal(c.rule, rule);
    gpu_choice_release(&c);
    json_decref(gpus);
}

static void one_is_the_first_that_is_free_and_home_comes_first(void **state)
{
    (void)state;
    assert_chosen(JOB("", ""), NULL, "0|1|2|3|4|5|6|7", GPU_RULE_FIRST);
    assert_chosen(JOB("\"gpus\":\"one\",", ",\"home\":\"1d0fbe6a2a1c0005\""), NULL, "5|0|1|2|3|4|6|7",
                  GPU_RULE_FIRST);
    assert_chosen(JOB("\"gpus\":\"one\",", ",\"home\":\"gone\""), NULL, "0|1|2|3|4|5|6|7", GPU_RULE_FIRST);
    assert_chosen(JOB("", ""), "6,1d0fbe6a2a1c0003", "3|6", GPU_RULE_FIRST);
}

static void groups_are_neighbours(void **state)
{
    (void)state;
    assert_chosen(JOB("\"gpus\":\"all\",\"gpus_per_test\":2,", ""), NULL, "0 1|2 3|4 5|6 7", GPU_RULE_SOME);
    assert_chosen(JOB("\"gpus\":\"all\",\"gpus_per_test\":3,", ""), NULL, "0 1 2|3 4 5", GPU_RULE_SOME);
    assert_chosen(JOB("\"gpus\":[\"7\",\"0000:21:00.0\",\"GPU-1D0FBE6A2A1C0004\",\"1d0fbe6a2a1c0000\"],"
                      "\"gpus_per_test\":2,",
                      ""),
                  NULL, "0 2|4 7", GPU_RULE_EVERY);
}

static void what_cannot_be_is_an_error_that_lists_what_is_there(void **state)
{
    (void)state;
    struct gpu_choice c;
    struct gpu_grant grant = {.list = "2,3"};
    json_t *gpus = eight_gpus();
    assert_string_equal(
        chosen(JOB("\"gpus\":[\"2\",\"5\"],", ""), gpus, &grant, &c),
        "the plan's \"gpus\" has \"5\", which this run cannot use; it can use 2 (1d0fbe6a2a1c0002), "
        "3 (1d0fbe6a2a1c0003)");
    gpu_choice_release(&c);
    assert_non_null(
        strstr(chosen(JOB("\"gpus\":[\"2\",\"0000:21:00.0\"],", ""), gpus, &grant, &c), "GPU 2 twice"));
    gpu_choice_release(&c);
    assert_non_null(strstr(chosen(JOB("\"gpus\":\"all\",\"gpus_per_test\":4,", ""), gpus, &grant, &c),
                           "wants 4 GPUs and this run can use 2"));
    gpu_choice_release(&c);
    grant.list = "GPU-of-elsewhere";
    assert_non_null(strstr(chosen(JOB("\"gpus\":\"all\",", ""), gpus, &grant, &c), "not among those"));
    gpu_choice_release(&c);
    json_decref(gpus);
}

static void without_gpus_in_the_plan_its_environment_chooses(void **state)
{
    (void)state;
    struct gpu_choice c;
    const struct gpu_grant all = {.list = NULL};
    json_t *gpus = eight_gpus();
    static const char *const cases[][3] = {
        {"ROCR_VISIBLE_DEVICES", "3", "3"},
        {"ROCR_VISIBLE_DEVICES", "GPU-1d0fbe6a2a1c0005", "5"},
        {"ROCR_VISIBLE_DEVICES", "GPU-feed000000000006,1", "1 6"},
        {"CUDA_VISIBLE_DEVICES", "7,1", "1 7"},
        {"ROCR_VISIBLE_DEVICES", "9", "0 1 2 3 4 5 6 7"},
        {"ROCR_VISIBLE_DEVICES\":\"3\",\"HIP_VISIBLE_DEVICES", "0", "3"},
        {"ROCR_VISIBLE_DEVICES\":\"6,2,4\",\"HIP_VISIBLE_DEVICES", "2,0", "4 6"},
        {"ROCR_VISIBLE_DEVICES\":\"5,2\",\"CUDA_VISIBLE_DEVICES", "1", "2"},
        {"ROCR_VISIBLE_DEVICES\":\"5,2\",\"CUDA_VISIBLE_DEVICES\":\"1\",\"HIP_VISIBLE_DEVICES", "0,-1,1",
         "5"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, JOB("\"env\":{\"%s\":\"%s\"},", ""), cases[i][0], cases[i][1]);
        assert_string_equal(chosen(text, gpus, &all, &c), cases[i][2]);
        gpu_choice_release(&c);
    }
    assert_string_equal(chosen(JOB("\"env\":{\"HIP_VISIBLE_DEVICES\":\"4,2\"},", ""), gpus, &all, &c), "2 4");
    assert_true(!c.choose && c.rule == GPU_RULE_EVERY);
    gpu_choice_release(&c);
    json_decref(gpus);
}

static void a_scheduler_gives_all_that_it_gave_to_each_test(void **state)
{
    (void)state;
    struct gpu_choice c;
    struct gpu_grant grant = {.list = "4,5", .by_scheduler = true};
    json_t *gpus = eight_gpus();
    assert_string_equal(chosen(JOB("", ""), gpus, &grant, &c), "4 5");
    assert_false(c.choose);
    gpu_choice_release(&c);
    assert_string_equal(chosen(JOB("\"gpus\":\"all\",", ""), gpus, &grant, &c), "4|5");
    assert_true(c.choose);
    gpu_choice_release(&c);
    grant.list = NULL;
    assert_string_equal(chosen(JOB("", ""), gpus, &grant, &c), "");
    gpu_choice_release(&c);
    json_decref(gpus);
}

#define SLURM(gres) "\"scheduler\":{\"kind\":\"slurm\",\"exclusive\":true,\"gres\":\"" gres "\"},"

static void what_a_scheduler_gives_beyond_the_request_is_not_used(void **state)
{
    (void)state;
    static const struct {
        const char *job, *granted, *expected;
        size_t told;
        bool choose;
    } cases[] = {
        {JOB(SLURM("gpu:mi300x:1"), ""), "0,1,2,3,4,5,6,7", "0", 8, true},
        {JOB(SLURM("gpu"), ""), "4,5", "4", 2, true},
        {JOB(SLURM("license:1,gpu:2"), ""), "4,5,6", "4 5", 3, true},
        {JOB(SLURM("gpu:2") "\"gpus\":\"all\",", ""), "4,5,6", "4|5", 3, true},
        {JOB(SLURM("gpu:2"), ""), "4,5", "4 5", 0, false},
        {JOB(SLURM("license:1"), ""), "4,5", "4 5", 0, false},
    };
    json_t *gpus = eight_gpus();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct gpu_choice c;
        const struct gpu_grant grant = {.list = cases[i].granted, .by_scheduler = true};
        assert_string_equal(chosen(cases[i].job, gpus, &grant, &c), cases[i].expected);
        assert_int_equal(c.granted, cases[i].told);
        assert_int_equal(c.choose, cases[i].choose);
        gpu_choice_release(&c);
    }
    json_decref(gpus);
}

static void gpus_that_cannot_be_opened_are_left_out(void **state)
{
    (void)state;
    struct gpu_choice c;
    const struct gpu_grant all = {.list = NULL};
    json_t *gpus = eight_gpus(), *none = json_array();
    for (size_t i = 0; i < 6; i++)
        json_object_set_new(json_array_get(gpus, i), "usable", json_false());
    assert_string_equal(chosen(JOB("\"gpus\":\"all\",", ""), gpus, &all, &c), "6|7");
    gpu_choice_release(&c);
    assert_string_equal(chosen(JOB("\"gpus\":\"all\",", ""), none, &all, &c), "");
    gpu_choice_release(&c);
    json_decref(none);
    json_decref(gpus);
}

static void lists_of_cpus_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    cpu_set_t cpus;
    assert_true(near_parse("0-3,8\n", &cpus));
    assert_int_equal(CPU_COUNT(&cpus), 5);
    assert_true(CPU_ISSET(8, &cpus) && !CPU_ISSET(4, &cpus));
    const char *const bad[] = {"", "-1", "0-", "3,", "a", "0-3 x", "99999", "0;1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(near_parse(bad[i], &cpus));
}

/* Never more CPUs than this process may use. */
static void near_cpus_are_those_that_the_process_has(void **state)
{
    (void)state;
    struct layout l = {.sysfs = ""};
    struct near n;
    snprintf(l.sysfs, sizeof l.sysfs, "%s/sys", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    near_init(&n);
    assert_false(near_add(&n, &l, "0000:c1:00.0"));
    assert_false(near_settle(&n));
    struct near_failure failed;
    near_apply(&n, &failed);
    assert_true(failed.cpus == 0 && failed.memory == 0);
    cpu_set_t own;
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    n = (struct near){.on = true};
    CPU_OR(&n.cpus, &own, &own);
    CPU_SET(CPU_SETSIZE - 1, &n.cpus);
    assert_false(near_settle(&n)); /* everything: nothing to bind to */
}

/* CPUs that went away, and memory that a container must not choose. */
static void what_could_not_be_bound_is_told(void **state)
{
    (void)state;
    struct near n = {.on = true};
    struct near_failure failed;
    cpu_set_t own, now;
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    if (CPU_ISSET(CPU_SETSIZE - 1, &own))
        skip();
    CPU_SET(CPU_SETSIZE - 1, &n.cpus);
    near_apply(&n, &failed);
    assert_true(failed.cpus != 0 && failed.memory == 0);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&own, &now));
    n = (struct near){.on = true, .cpus = own, .nodes = 1ul << 63};
    near_apply(&n, &failed);
    assert_true(failed.cpus == 0 && failed.memory != 0);
}

int main(void)
{
    unsetenv("HIP_VISIBLE_DEVICES");
    unsetenv("ROCR_VISIBLE_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_the_first_that_is_free_and_home_comes_first),
        cmocka_unit_test(groups_are_neighbours),
        cmocka_unit_test(what_cannot_be_is_an_error_that_lists_what_is_there),
        cmocka_unit_test(without_gpus_in_the_plan_its_environment_chooses),
        cmocka_unit_test(a_scheduler_gives_all_that_it_gave_to_each_test),
        cmocka_unit_test(what_a_scheduler_gives_beyond_the_request_is_not_used),
        cmocka_unit_test(gpus_that_cannot_be_opened_are_left_out),
        cmocka_unit_test(lists_of_cpus_are_read_whole_or_not_at_all),
        cmocka_unit_test(near_cpus_are_those_that_the_process_has),
        cmocka_unit_test(what_could_not_be_bound_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
