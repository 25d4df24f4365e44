/* propose: what is found in samples of output, and that a plan made of it reads the same numbers again. */
#include "common/base/fs.h"
#include "harness/plan/sample.h"
#include "harness/propose/draft.h"
#include "tests/unit/support.h"

#include <dirent.h>

static struct plan plan_of(const struct proposal *p)
{
    struct plan plan;
    struct err err = {0};
    json_t *run = json_pack("[s]", "./a.out"), *contexts = json_pack("[i]", 64);
    const struct draft d = {.ticket = "t",
                            .node = "local",
                            .run = run,
                            .contexts = contexts,
                            .repetitions = 5,
                            .timeout_s = 60,
                            .proposal = p};
    int rc = plan_take(&plan, draft_encode(&d), "draft.json", &err);
    assert_ok(rc, &err);
    json_decref(run);
    json_decref(contexts);
    return plan;
}

static const struct sample_value *value_of(const struct sample *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->item[i].name, name) == 0)
            return &s->item[i];
    return NULL;
}

/* Every number of the proposal is read again by the plan, with its unit. */
static void check_read_again(const char *what, const struct proposal *p, const char *text)
{
    static struct sample s;
    struct err err = {0};
    struct plan plan = plan_of(p);
    assert_ok(sample_read(&s, &plan, text, strlen(text), &err), &err);
    for (size_t i = 0; i < p->count; i++) {
        const struct sample_value *v = value_of(&s, p->item[i].name);
        if (!v || v->line == 0)
            fail_msg("%s: %s is not read again: %s", what, p->item[i].name, v ? v->why : p->pattern);
        if (v->value != p->item[i].value)
            fail_msg("%s: %s is read as %g, not %g: %s", what, p->item[i].name, v->value, p->item[i].value,
                     p->pattern);
        assert_string_equal(v->unit, p->item[i].unit);
    }
    plan_release(&plan);
}

struct expected {
    const char *what, *text;
    enum proposal_kind kind;
    size_t count;
    const char *primary, *unit;
    bool more;
    double value;
};

static const struct expected samples[] = {
    {"nothing", "hello, world\n", PROPOSE_WALL, 0, NULL, NULL, false, 0},
    {"an empty output", "", PROPOSE_WALL, 0, NULL, NULL, false, 0},
    {"a time", "kernel time: 12.5 ms\n", PROPOSE_REGEX, 1, "kernel_time", "ms", false, 12.5},
    {"no space before the unit", "elapsed=0.031s\n", PROPOSE_REGEX, 1, "elapsed", "s", false, 0.031},
    {"a time and a rate", "copy: 3.5 us, 1843.2 GB/s\n", PROPOSE_REGEX, 2, "bandwidth", "GB/s", true, 1843.2},
    {"a unit in the label", "Time (ms): 0.75\n", PROPOSE_REGEX, 1, "time_ms", "ms", false, 0.75},
    {"a unit in the key", "avg_us=17.25 n=4096\n", PROPOSE_REGEX, 1, "avg_us", "us", false, 17.25},
    {"TFLOP/s", "M=4096 N=4096 K=4096  612.4 TFLOP/s\n", PROPOSE_REGEX, 1, NULL, "TFLOP/s", true, 612.4},
    {"GFLOPS in capitals", "Performance= 1231.45 GFLOPS, Time= 0.107 msec\n", PROPOSE_REGEX, 2, "time", "ms",
     false, 0.107},
    {"the last of equal lines", "iteration 1: 9.0 ms\niteration 2: 8.0 ms\n", PROPOSE_REGEX, 1, "iteration",
     "ms", false, 8},
    {"set-up beside the kernel", "init time 812 ms\nkernel average 1.25 ms\n", PROPOSE_REGEX, 2,
     "kernel_average", "ms", false, 1.25},
    {"tokens per second", "eval: 812.3 tokens/s\n", PROPOSE_REGEX, 1, "eval", "tok/s", true, 812.3},
    {"a word that no unit may have", "speed: 12.5 im\xc3\xa1genes/s\n", PROPOSE_REGEX, 1, "speed", "", true,
     12.5},
    {"a JSON line", "start\n{\"n\": 4096, \"time_ms\": 1.5, \"gbs\": 1210.5}\n", PROPOSE_JSON, 2, "time_ms",
     "ms", false, 1.5},
    {"the last JSON line", "{\"time_us\": 3}\n{\"time_us\": 2}\n", PROPOSE_JSON, 1, "time_us", "us", false,
     2},
    {"a nested document", "{\n \"result\": {\"kernel_us\": 7.5},\n \"n\": 1\n}\n", PROPOSE_JSON, 1,
     "kernel_us", "us", false, 7.5},
    {"a name that is built in", "{\"kernel_ms\": 7.5}\n", PROPOSE_JSON, 1, "kernel_ms_2", "ms", false, 7.5},
    {"hyperfine's document",
     "{\n \"results\": [\n {\"command\": \"x\", \"mean\": 0.5, \"stddev\": 0.01, \"median\": 0.49, \"min\": "
     "0.4}]}\n",
     PROPOSE_JSON, 3, "mean", "s", false, 0.5},
    {"hyperfine",
     "Benchmark 1: ./a\n  Time (mean \xc2\xb1 \xcf\x83):      12.3 ms \xc2\xb1   0.4 ms    [User: 9.1 ms, "
     "System: 2.0 ms]\n",
     PROPOSE_REGEX, 1, "time_mean", "ms", false, 12.3},
    {"llama-bench",
     "| model | size | params | backend | ngl | test | t/s |\n| --- | --- | --- | --- | --- | --- | --- |\n"
     "| llama 7B | 3.56 GiB | 6.74 B | CUDA | 99 | pp512 | 4312.02 \xc2\xb1 10.11 |\n"
     "| llama 7B | 3.56 GiB | 6.74 B | CUDA | 99 | tg128 | 132.55 \xc2\xb1 0.21 |\n",
     PROPOSE_REGEX, 2, "pp512", "tok/s", true, 4312.02},
    {"llama-bench as JSON",
     "[\n  {\n    \"n_prompt\": 512,\n    \"avg_ns\": 118000000,\n    \"stddev_ns\": 5,\n    \"avg_ts\": "
     "4339.5\n  }\n]\n",
     PROPOSE_JSON, 2, "avg_ns", "ns", false, 118000000},
    {"a marked line", "x\n[PERF_TIMING] {\"prefill_s\": 0.5, \"sum_gbs\": 12.5}\n", PROPOSE_MARK, 1, NULL,
     "GB/s", true, 12.5},
    {"versions and dates are no numbers", "built 2026-02-14 with gcc 12.2.0\ntook 3.5 s\n", PROPOSE_REGEX, 1,
     "took", "s", false, 3.5},
    {"words that begin like a unit", "5 sources, 3 msgs, 12 msgs\n", PROPOSE_WALL, 0, NULL, NULL, false, 0},
    {"special characters", "[GPU 0] (best) t+q = 4.5 ms *\n", PROPOSE_REGEX, 1, NULL, "ms", false, 4.5},
};

TEST(samples_are_recognised_and_read_again)
{
    for (size_t i = 0; i < COUNT(samples); i++) {
        const struct expected *e = &samples[i];
        struct proposal p;
        propose_from_output(&p, e->text, strlen(e->text), NULL);
        if (p.kind != e->kind || p.count != e->count)
            fail_msg("%s: kind %d with %zu numbers, expected %d with %zu: %s", e->what, p.kind, p.count,
                     e->kind, e->count, p.pattern);
        check_read_again(e->what, &p, e->text);
        if (e->count == 0)
            continue;
        const struct proposed *one = &p.item[p.primary < p.count ? p.primary : 0];
        if ((e->primary && strcmp(one->name, e->primary) != 0) || strcmp(one->unit, e->unit) != 0)
            fail_msg("%s: %s in %s, expected %s in %s", e->what, one->name, one->unit,
                     e->primary ? e->primary : "any", e->unit);
        assert_int_equal(one->more, e->more);
        assert_true(one->value == e->value);
    }
}

/* What is proposed, as tests/fixtures/outputs/expected has it. */
static void describe(const char *file, const struct proposal *p, struct buf *out)
{
    if (p->count == 0)
        buf_printf(out, "%s: -\n", file);
    for (size_t i = 0; i < p->count; i++) {
        const struct proposed *one = &p->item[i];
        buf_printf(out, "%s: %s%s %.10g %s %s\n", file, i == p->primary ? "*" : "", one->name, one->value,
                   one->unit, one->more ? "more" : "less");
    }
}

TEST(outputs_of_public_programs)
{
    static const char folder[] = "tests/fixtures/outputs";
    struct dirent **names;
    struct err err = {0};
    AUTO(buf_release) struct buf expected = {.max = 1 << 20}, found = {.max = 1 << 20};
    int n = scandir(folder, &names, NULL, alphasort), files = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        AUTO(buf_release) struct buf text = {.max = 1 << 20};
        char path[600], name[300];
        struct proposal p;
        size_t len = strlen(names[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        snprintf(name, sizeof name, "%.*s", len > 4 ? (int)len - 4 : 0, names[i]->d_name);
        bool output = len > 4 && strcmp(names[i]->d_name + len - 4, ".txt") == 0;
        free(names[i]);
        if (!output)
            continue;
        assert_ok(fs_read_file(path, text.max, &text, &err), &err);
        propose_from_output(&p, buf_str(&text), text.len, NULL);
        check_read_again(name, &p, buf_str(&text));
        describe(name, &p, &found);
        files++;
    }
    free(names);
    assert_true(files >= 40);
    assert_ok(fs_read_file("tests/fixtures/outputs/expected", expected.max, &expected, &err), &err);
    assert_string_equal(buf_str(&found), buf_str(&expected));
}

/* A line, and what its first number is. */
TEST(units_in_labels)
{
    static const struct {
        const char *line, *unit;
        bool more;
    } table[] = {
        {"Bandwidth (GB/s): 3900.1", "GB/s", true},
        {"Speed (tok/s): 12.5", "tok/s", true},
        {"[TFLOP/s] = 512.3", "TFLOP/s", true},
        {"Rate (it/s): 8.5", "it/s", true},
        {"GFLOPs/s: 412.5", "GFLOP/s", true},
        {"steps/sec: 4.5", "steps/s", true},
        {"Tokens per second: 99.5", "tok/s", true},
        {"Request throughput (req/s): 0.90", "req/s", true},
        {"widgets per minute: 12", "widgets/min", true},
        {"Updates/s = 12.5", "Updates/s", true},
        {"cost: 3.5 s/it", "s/it", false},
        {"latency_ms_p99=12.5", "ms", false},
        {"latencyMs: 12.5", "ms", false},
        {"tokensPerSecond: 12.5", "tok/s", true},
        {"time per token (ms): 1.5", "ms", false},
        {"Simulation: 12.5 ns/day", "ns/day", true},
        {"Cost: 0.4 hour/ns", "h/ns", false},
        {"Elapsed time(s): 1.5", "s", false},
        {"net: 9.4 Gbits/sec", "Gbit/s", true},
        {"net_gbps: 9.4", "gbps", true},
        {"GPU(s): 8", NULL, false},
        {"Thread(s) per core: 2", NULL, false},
        {"FLOPs: 137472507904", NULL, false},
        {"iter_s: 3.5", NULL, false},
        {"errors/s: 3.5", NULL, false},
        {"16 GBs of memory", NULL, false},
        {"The 'numbers' are in 1000s of bytes per second processed.", NULL, false},
        {"Time (ms): 1,234.5", NULL, false},
        {"train_runtime_s = 0:00:12.34", NULL, false},
        {"timestamp_ts: 1700000000", NULL, false},
        {"interval 0.00-10.00 sec 10.9 GBytes", NULL, false},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct proposal p;
        propose_from_output(&p, table[i].line, strlen(table[i].line), NULL);
        if (p.count != (table[i].unit != NULL))
            fail_msg("%s: %zu numbers, the first in %s", table[i].line, p.count, p.item[0].unit);
        if (table[i].unit && (strcmp(p.item[0].unit, table[i].unit) != 0 || p.item[0].more != table[i].more))
            fail_msg("%s: %s, %s is better", table[i].line, p.item[0].unit, p.item[0].more ? "more" : "less");
    }
}

/* A number, all of it, is one; what is only a part of one is told, not taken. */
TEST(numbers_are_whole)
{
    static const struct {
        const char *line, *unit; /* unit NULL: nothing is proposed */
        double value;
        const char *left; /* what is told of it */
    } table[] = {
        {"time: 1'234.5 ms", NULL, 0, "time"},
        {"time: 1 234.5 ms", NULL, 0, "time"},
        {"time: 1\xc2\xa0"
         "234.5 ms",
         NULL, 0, "time"},
        {"time: 1\xe2\x80\xaf"
         "234.5 ms",
         NULL, 0, "time"},
        {"time: 1,234.5 ms", NULL, 0, "time"},
        {"time: 12,5 ms", NULL, 0, "time"},
        {"copy ... bench:       1,234 ns/iter (+/- 56)", NULL, 0, "copy ... bench"},
        {"Wall time: 1h 2m 3s", NULL, 0, "Wall time"},
        {"Total time: 1 min 30.5 s", NULL, 0, "Total time"},
        {"Elapsed: 2 minutes 3.5 seconds", NULL, 0, "Elapsed"},
        {"Elapsed time: 1 hour, 2 min and 3 s", NULL, 0, "Elapsed time"},
        {"Elapsed: 1 s 250 ms", NULL, 0, "Elapsed"},
        {"real 0m1.234s", NULL, 0, "real"},
        {"offset: -3.5 ms", NULL, 0, NULL},
        {"time: <0.1 ms", NULL, 0, NULL},
        {"time: < 0.1 ms", NULL, 0, NULL},
        {"Time(us) 12.5 BW(GB/s) 3900.5", "us", 12.5, NULL},
        {"us 7.5 TFLOPS 512.3 GB/s 3900.1", "us", 7.5, NULL},
        {"latency 7.5 us 512.3 TFLOPS", "us", 7.5, NULL},
        {"time/ms: 12.5", "ms", 12.5, NULL},
        {"Throughput: 12.3 M elements/s", "Melements/s", 12.3, NULL},
        {"= 973.412 billion updates per second", "Gupdates/s", 973.412, NULL},
        {"7561 total tokens/s", "tok/s", 7561, NULL},
        {"n 64 128.5 us", "us", 128.5, NULL},
        {"--- 12.5 ms ---", "ms", 12.5, NULL},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct proposal p;
        propose_from_output(&p, table[i].line, strlen(table[i].line), NULL);
        if ((p.count > 0) != (table[i].unit != NULL))
            fail_msg("%s: %zu numbers, the first is %g %s", table[i].line, p.count, p.item[0].value,
                     p.item[0].unit);
        if (table[i].unit &&
            (p.item[0].value != table[i].value || strcmp(p.item[0].unit, table[i].unit) != 0))
            fail_msg("%s: %g %s", table[i].line, p.item[0].value, p.item[0].unit);
        if (p.n_left != (table[i].left != NULL) ||
            (p.n_left > 0 && strcmp(p.left[0].label, table[i].left) != 0))
            fail_msg("%s: %zu are told, %s", table[i].line, p.n_left, p.n_left ? p.left[0].label : "none");
        check_read_again(table[i].line, &p, table[i].line);
    }
}

/* What a run is best judged by, and what is the time of several iterations together. */
TEST(the_likeliest_result)
{
    static const struct {
        const char *text, *primary;
        double value;
        const char *total; /* a number that is one */
    } table[] = {
        {"Timeout: 60 s\nElapsed: 12.5 ms\n", "elapsed", 12.5, NULL},
        {"Timer resolution: 1 ns\nCopy: 12.5 us\n", "copy", 12.5, NULL},
        {"Theoretical bandwidth: 5300 GB/s\nAchieved bandwidth: 3900.5 GB/s\n", "achieved_bandwidth", 3900.5,
         NULL},
        {"gst 12345 GFLOPS\nTarget: 80000 GFLOPS\nReached: 12000 GFLOPS\n", "reached", 12000, NULL},
        {"Peak bandwidth: 5300 GB/s\nMeasured: 3900.5 GB/s\n", "measured", 3900.5, NULL},
        {"Session creation time: 0.4 s\nAverage inference time cost total: 1.25 ms\n",
         "average_time_cost_total", 1.25, NULL},
        {"100 iterations took 250.0 ms (2.5 ms per iteration)\n", "rate", 2.5, "iterations_took"},
        {"Integrated 52341 steps in 30.1 seconds\n1500.9 ns/day\n", "rate", 1500.9, "integrated_steps_in"},
        {"total time for 10 iterations: 44.1 ms\n= 973.4 updates per second\n", "rate", 973.4,
         "total_time_for_iterations"},
        {"Total: 250.0 ms for 100 iterations\n", "total", 250, "total"},
        {"Elapsed: 2.5 s (100 runs)\n", "elapsed", 2.5, "elapsed"},
        {"sample time =    45.67 ms /   140 runs\n", "sample_time", 45.67, "sample_time"},
        {"encode time =    45.67 ms /     1 runs\n", "encode_time", 45.67, NULL},
        {"Time: 12.5 ms / 100 = 0.125 ms\n", "time_2", 0.125, "time"},
        {"3.5 s per 100 iterations\n", "time", 3.5, "time"},
        {"read/write: 3.5 ms / 10 ms\n", "read_write", 3.5, NULL},
        {"Total kernel time: 1250 ms, launches: 100, per launch: 12.5 us\n", "per_launch", 12.5, NULL},
        {"JIT: 350 ms\nfirst run: 30 ms\nsteady: 1.5 ms\n", "steady", 1.5, NULL},
        {"HBM: 5.3 TB/s peak, achieved 4.1 TB/s\n", "achieved", 4.1, NULL},
        {"a (theoretical 67 TFLOPS)\nFP32: 67 TFLOPS (theoretical)\nFP32 reached: 50 TFLOPS\n",
         "fp32_reached", 50, NULL},
        {"Average over 100 runs: 2.5 ms\n", "average_over_runs", 2.5, NULL},
        {"1.23 ms +- 0.45 ms per loop (mean of 7 runs)\n", "time", 1.23, NULL},
        {"   812.34 msec task-clock     #  0.998 CPUs\n   0.81395 seconds time elapsed\n", "time_elapsed",
         0.81395, NULL},
        {"mean 12.5 ms, sd 0.3 ms, iqr 0.2 ms\n", "mean", 12.5, NULL},
        {"Perf: 0.07 ms, a\nBest Perf for datatype = f16 ALayout = RowMajor StrideA = 4096 StrideB = 4096 : "
         "0.06 ms, a\n",
         "best_stride_a_stride_b", 0.06, NULL},
        {"{\"warmup_ms\": 900.5, \"run_ms\": 12.5}\n", "run_ms", 12.5, NULL},
        {"{\"timeout_s\": 600, \"elapsed_s\": 12.5}\n", "elapsed_s", 12.5, NULL},
        {"{\"timestamp_ms\": 1768212672000, \"latency_ms\": 12.5}\n", "latency_ms", 12.5, NULL},
        {"{\"TotalDurationNs\": 5000, \"AverageNs\": 50}\n", "average_ns", 50, NULL},
        {"{\"event\": \"result\", \"time_ms\": 12.5}\n{\"event\": \"end\", \"teardown_ms\": 5.5}\n",
         "time_ms", 12.5, NULL},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct proposal p;
        propose_from_output(&p, table[i].text, strlen(table[i].text), NULL);
        const struct proposed *one = &p.item[p.primary];
        const char *total = NULL;
        for (size_t k = 0; k < p.count; k++)
            total = p.item[k].total ? p.item[k].name : total;
        if (p.primary >= p.count || strcmp(one->name, table[i].primary) != 0 || one->value != table[i].value)
            fail_msg("%s: %s %g", table[i].text, one->name, one->value);
        if ((total != NULL) != (table[i].total != NULL) || (total && strcmp(total, table[i].total) != 0))
            fail_msg("%s: the total is %s", table[i].text, total ? total : "none");
        for (size_t k = 0; k < p.count; k++)
            if (p.item[k].value == 0.3 || p.item[k].value == 0.2 || p.item[k].value > 1e9)
                fail_msg("%s: %s is no result", table[i].text, p.item[k].name);
        check_read_again(table[i].text, &p, table[i].text);
    }
}

/* A row's values are those of its own columns, and of its own name, wherever that stands. */
TEST(rows_of_tables)
{
    static const char nsys[] =
        " Time (%)  Total Time (ns)  Instances  Avg (ns)   Max (ns)  StdDev (ns)   Name\n"
        " --------  ---------------  ---------  ---------  --------  -----------  ------------\n"
        "     78.2        213120000        100  2131200.0   2173400       1200.1  add(float *)\n"
        "     21.8         59120000        100   591200.0    603400        900.1  mul\n",
                      nanobench[] = "|    ns/op |      op/s | err% | benchmark\n"
                                    "|---------:|----------:|-----:|:---------\n"
                                    "|     7.81 |    128040 | 0.1% | `one`\n"
                                    "|    12.01 |     83263 | 0.3% | `two`\n",
                      hyperfine[] =
                          "| Command | Mean [ms] | Min [ms] |\n|:---|---:|---:|\n"
                          "| `./a` | 512.3 \xc2\xb1 1.2 | 510.1 |\n| `./b` | 612.3 \xc2\xb1 2.2 | 610.1 |\n",
                      triton[] =
                          "       N   Triton (GB/s)  Torch (GB/s)\n0   256.0       132.8        141.2\n"
                          "1   512.0       496.4        501.5\n";
    static const struct {
        const char *text, *name;
        size_t count;
        double value;
    } table[] = {{nsys, "add_float_avg_ns", 6, 2131200},   {nsys, "mul_max_ns", 6, 603400},
                 {nsys, "mul_total_time_ns", 6, 59120000}, {nanobench, "one_ns_op", 4, 7.81},
                 {nanobench, "two_op", 4, 83263},          {hyperfine, "mean_ms", 4, 512.3},
                 {hyperfine, "min_ms_2", 4, 610.1},        {triton, "triton", 2, 496.4}};
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct proposed *one = NULL;
        struct proposal p;
        propose_from_output(&p, table[i].text, strlen(table[i].text), NULL);
        for (size_t k = 0; k < p.count; k++)
            if (strcmp(p.item[k].name, table[i].name) == 0)
                one = &p.item[k];
        if (p.count != table[i].count || !one || one->value != table[i].value)
            fail_msg("%s%zu numbers, %s is %g, the first is %s", table[i].text, p.count, table[i].name,
                     one ? one->value : 0, p.item[0].name);
        check_read_again(table[i].text, &p, table[i].text);
    }
}

TEST(a_mean_that_looks_like_its_deviation)
{
    static const char text[] = "benchmark name            samples  iterations  est run time\n"
                               "                          mean     low mean    high mean\n"
                               "                          std dev  low std dev high std dev\n"
                               "-----------------------------------------------------------\n"
                               "Fibonacci 20                  100           2        6.9 ms\n"
                               "                         34.52 us    34.10 us      35.12 us\n"
                               "                          2.41 us     1.78 us       3.39 us\n";
    struct proposal p;
    propose_from_output(&p, text, strlen(text), NULL);
    assert_int_equal(p.kind, PROPOSE_WALL);
    assert_int_equal(p.n_left, 1);
    assert_int_equal(p.left[0].line, 1);
}

/* What varies beside the result is no part of its pattern. */
TEST(numbers_in_labels_vary)
{
    static const char text[] = "max error: 1.2e-05, time: 3.4 ms\n", other[] = "max error: 0, time: 3.5 ms\n",
                      both[] = "step 1 | lr 3.00e-04 | 38.0 ms\nstep 2 | lr 1.50e-04 | 37.0 ms\n";
    static struct sample s;
    struct proposal p;
    struct err err = {0};
    propose_from_output(&p, text, strlen(text), NULL);
    assert_int_equal(p.count, 1);
    struct plan plan = plan_of(&p);
    assert_ok(sample_read(&s, &plan, other, strlen(other), &err), &err);
    assert_int_equal(s.found, 1);
    assert_true(s.item[0].value == 3.5);
    plan_release(&plan);
    propose_from_output(&p, both, strlen(both), NULL);
    assert_int_equal(p.count, 1);
    assert_true(p.item[0].value == 37);
}

/* A plan made of one variant's output reads that of the others. */
TEST(words_of_the_command_are_not_required)
{
    static const struct {
        const char *command[5], *sample, *other;
        double value;
    } table[] = {
        {{"./prog", "naive", "4096"}, "naive: 12.5 ms\n", "tiled: 10.5 ms\n", 10.5},
        {{"./saxpy_naive"}, "saxpy_naive took 12.5 ms\n", "saxpy_wide took 10.5 ms\n", 10.5},
        {{"./prog", "--kernel=v3"}, "kernel v3, time: 12.5 ms\n", "kernel v10, time: 10.5 ms\n", 10.5},
        {{"./prog", "-n", "4096"}, "n4096 time: 12.5 ms\n", "n8192 time: 10.5 ms\n", 10.5},
        {{"./prog"}, "GPU0 time: 12.5 ms\n", "GPU1 time: 10.5 ms\n", 10.5},
        {{"./prog", "4096"}, "GEMM 4096x4096x64: 12.5 ms\n", "GEMM 8192x8192x64: 10.5 ms\n", 10.5},
        {{"./prog", "naive"},
         "| kernel | time (ms) |\n| --- | --- |\n| naive | 12.5 |\n",
         "| kernel | time (ms) |\n| --- | --- |\n| tiled | 10.5 |\n",
         10.5},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        static struct sample s;
        struct proposal p;
        struct err err = {0};
        AUTO(strvec_release) struct strvec command = {0};
        strvec_push_all(&command, table[i].command);
        propose_from_output(&p, table[i].sample, strlen(table[i].sample), &command);
        assert_int_equal(p.count, 1);
        struct plan plan = plan_of(&p);
        assert_ok(sample_read(&s, &plan, table[i].other, strlen(table[i].other), &err), &err);
        if (s.found != 1 || s.item[0].value != table[i].value)
            fail_msg("%s is not read by %s", table[i].other, p.pattern);
        plan_release(&plan);
    }
}

/* Percentiles and the like are metrics of their own. */
TEST(what_distinguishes_lines_is_kept)
{
    static const char text[] = "P50 wait:                                    1.5 ms\n"
                               "P99 wait:                                    2.5 ms\n"
                               "99.9% percentile wait ................. 3.5 ms\n"
                               "50.0% percentile wait ................. 0.5 ms\n";
    struct proposal p;
    propose_from_output(&p, text, strlen(text), NULL);
    check_read_again("percentiles", &p, text);
    assert_int_equal(p.count, 4);
    assert_string_equal(p.item[0].name, "p50_wait");
    assert_string_equal(p.item[1].name, "p99_wait");
}

TEST(a_sample_that_does_not_match_shows_the_nearest_line)
{
    static const char sample[] = "kernel time: 12.5 ms\n", other[] = "hello\nkernel time = 12.5 ms\n";
    static struct sample s;
    struct proposal p;
    struct err err = {0};
    propose_from_output(&p, sample, strlen(sample), NULL);
    struct plan plan = plan_of(&p);
    assert_ok(sample_read(&s, &plan, other, strlen(other), &err), &err);
    assert_int_equal(s.found, 0);
    assert_non_null(strstr(s.item[0].why, "the nearest is: kernel time = 12.5 ms"));
    assert_non_null(strstr(s.problem, p.pattern));
    plan_release(&plan);
}

TEST(many_numbers_are_bounded)
{
    static char text[1 << 18];
    struct proposal p;
    size_t n = 0;
    for (int i = 0; n + 64 < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "phase%c%c%c: %d ms\n", 'a' + i % 26,
                              'a' + i / 26 % 26, 'a' + i / 676 % 26, i);
    propose_from_output(&p, text, n, NULL);
    assert_int_equal(p.kind, PROPOSE_REGEX);
    assert_int_equal(p.count, PROPOSED_MAX);
    assert_true(strlen(p.pattern) <= LIMIT_PATTERN);
    memset(text, '{', sizeof text);
    propose_from_output(&p, text, sizeof text, NULL);
    assert_int_equal(p.kind, PROPOSE_WALL);
    memset(text, '9', sizeof text);
    propose_from_output(&p, text, sizeof text, NULL);
    assert_int_equal(p.kind, PROPOSE_WALL);
}

TEST(sizes_are_found_in_commands)
{
    static const struct {
        const char *argv[8];
        size_t word, before; /* word 0: none */
        long long size;
    } table[] = {
        {{"./a.out", "--n", "4096", NULL}, 2, 0, 4096},
        {{"./a.out", "--size=8192", "--iters", "100", NULL}, 1, 7, 8192},
        {{"./a.out", "1024", NULL}, 1, 0, 1024},
        {{"./a.out", "--device", "64", NULL}, 0, 0, 0},
        {{"./a.out", "--seed", "4096", "-n", "1000", NULL}, 4, 0, 1000},
        {{"llama-bench", "-p", "512", "-ngl", "99", NULL}, 2, 0, 512},
        {{"./a.out", "0x10", "1.5", "abc", NULL}, 0, 0, 0},
        {{"4096", NULL}, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        size_t argc = 0, word = 0, before = 0;
        long long size = 0;
        while (table[i].argv[argc])
            argc++;
        bool found = propose_size(table[i].argv, argc, &word, &before, &size);
        if (found != (table[i].word > 0) ||
            (found && (word != table[i].word || before != table[i].before || size != table[i].size)))
            fail_msg("command %zu: found %d, word %zu, %zu, %lld", i, found, word, before, size);
    }
}
