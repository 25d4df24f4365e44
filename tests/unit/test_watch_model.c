/* watch_model: the matrix, series and lines that events result in, and their limits.
 */
#include "tests/unit/support.h"

#include "harness/watch/model.h"

#include <jansson.h>
#include <math.h>

static void feed(struct watch_model *m, const char *line)
{
    struct event e;
    assert_int_equal(event_decode(&e, line, strlen(line)), 0);
    watch_model_event(m, &e);
}

static void assert_cell(const struct watch_model *m, size_t variant, size_t context, const char *want)
{
    char text[16];
    watch_cell_text(&m->cells[variant][context], text);
    assert_string_equal(text, want);
}

TEST(events_fill_the_matrix_of_tests)
{
    struct watch_model *m = watch_model_new();
    assert_non_null(m);
    feed(m,
         "{\"event\":\"SUITE_START\",\"total_tests\":4,\"variants\":[\"v3\",\"v4\"],\"contexts\":[64,128]}");
    assert_int_equal(m->n_variants, 2);
    assert_int_equal(m->n_contexts, 2);
    assert_cell(m, 0, 0, "-");
    feed(m, "{\"event\":\"BUILD_START\",\"variant\":\"v4\"}");
    assert_string_equal(m->variants[1].status, "building");
    feed(m, "{\"event\":\"BUILD_END\",\"variant\":\"v4\",\"status\":\"CACHED\",\"wall_s\":0}");
    feed(m, "{\"event\":\"GATE\",\"variant\":\"v4\",\"gate\":\"g\",\"status\":\"OK\"}");
    assert_string_equal(m->variants[1].status, "CACHED");
    feed(m, "{\"event\":\"TEST_START\",\"variant\":\"v3\",\"ctx\":128,\"run_idx\":1,\"timeout_s\":9}");
    assert_int_equal(watch_model_running(m), 1);
    assert_cell(m, 0, 1, "run");
    size_t variant, context;
    assert_true(watch_running(m, &variant, &context));
    assert_int_equal(variant, 0);
    assert_int_equal(context, 1);
    feed(m, "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":128,\"run_idx\":1,\"exit_status\":\"OK\","
            "\"wall_s\":4.25}");
    assert_int_equal(watch_model_running(m), 0);
    assert_cell(m, 0, 1, "4.25 s");
    feed(m, "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":128,\"run_idx\":2,\"exit_status\":\"OK\","
            "\"prefill_s\":0.0123,\"wall_s\":2}");
    assert_cell(m, 0, 1, "12.3 ms x2");
    feed(m,
         "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":128,\"run_idx\":3,\"exit_status\":\"TIMEOUT\"}");
    assert_cell(m, 0, 1, "TIMEOUT");
    feed(m, "{\"event\":\"SUITE_END\",\"status\":\"COMPLETE\",\"ok\":2,\"failed\":1,\"skipped\":0}");
    assert_string_equal(m->status, "COMPLETE");
    assert_int_equal(m->live.ok, 2);
    assert_int_equal(m->live.failed, 1);
    watch_model_free(m);
}

TEST(a_journal_that_is_read_again_is_shown_once)
{
    struct watch_model *m = watch_model_new();
    assert_non_null(m);
    for (int i = 0; i < 2; i++) {
        feed(m, "{\"event\":\"SUITE_START\",\"total_tests\":2,\"variants\":[\"v\"],\"contexts\":[64]}");
        assert_cell(m, 0, 0, "-");
        assert_string_equal(m->variants[0].status, "");
        assert_string_equal(m->status, "");
        feed(m, "{\"event\":\"BUILD_END\",\"variant\":\"v\",\"status\":\"OK\"}");
        feed(m, "{\"event\":\"TEST_END\",\"variant\":\"v\",\"ctx\":64,\"exit_status\":\"INTERRUPTED\","
                "\"retry\":true}");
        feed(m, "{\"event\":\"TEST_END\",\"variant\":\"v\",\"ctx\":64,\"exit_status\":\"OK\",\"wall_s\":2}");
        assert_cell(m, 0, 0, "2 s");
        assert_int_equal(m->live.done, 1);
        feed(m, "{\"event\":\"SUITE_END\",\"status\":\"COMPLETE\"}");
    }
    watch_model_free(m);
}

TEST(a_window_has_the_running_row)
{
    assert_int_equal(watch_window(0, 10, 5, 3), 0);     /* all fit */
    assert_int_equal(watch_window(0, 10, 40, 9), 0);    /* in view already */
    assert_int_equal(watch_window(0, 10, 40, 10), 1);   /* one below */
    assert_int_equal(watch_window(20, 10, 40, 4), 4);   /* above */
    assert_int_equal(watch_window(99, 10, 40, 40), 30); /* none: only kept within the matrix */
    assert_int_equal(watch_window(5, 0, 40, 40), 5);
}

static void assert_output(const struct watch_model *m, size_t n, size_t want, const char *text)
{
    size_t count;
    assert_string_equal(watch_lane_output(&m->lanes[0], n, &count), text);
    assert_int_equal(count, want);
}

TEST(output_is_limited_to_the_last_lines)
{
    struct watch_model *m = watch_model_new();
    assert_non_null(m);
    assert_output(m, 5, 0, "");
    feed(m, "{\"event\":\"TEST_START\",\"variant\":\"v\",\"ctx\":1}");
    feed(
        m,
        "{\"event\":\"HEARTBEAT\",\"variant\":\"v\",\"ctx\":1,\"log_tail\":\"one\\ntwo\\nthr\\u001b[2Jee\"}");
    assert_output(m, 2, 2, "two\nthr\\x1b[2Jee\n");
    feed(m, "{\"event\":\"HEARTBEAT\",\"variant\":\"v\",\"ctx\":1}"); /* nothing new */
    assert_output(m, 9, 3, "one\ntwo\nthr\\x1b[2Jee\n");
    assert_output(m, 0, 0, "");
    feed(m, "{\"event\":\"HEARTBEAT\",\"variant\":\"v\",\"ctx\":1,\"log_tail\":\"four\"}");
    assert_output(m, 9, 1, "four\n");
    feed(m, "{\"event\":\"TEST_START\",\"variant\":\"v\",\"ctx\":1}");
    assert_output(m, 9, 0, "");
    watch_model_free(m);
}

TEST(a_series_keeps_the_newest_samples)
{
    struct watch_model *m = watch_model_new();
    int heights[WATCH_SAMPLES];
    char line[256];
    assert_non_null(m);
    for (int i = 0; i < WATCH_SAMPLES + 5; i++) {
        snprintf(line, sizeof line,
                 "{\"event\":\"HEARTBEAT\",\"variant\":\"v\",\"ctx\":1,\"vram_used\":%d,\"gpu_use\":%d}",
                 1000 * i, i % 2 ? 100 : 0);
        feed(m, line);
    }
    assert_int_equal(m->lanes[0].vram.count, WATCH_SAMPLES);
    assert_float_equal(watch_series_max(&m->lanes[0].vram), 1000 * (WATCH_SAMPLES + 4), 0.1);
    assert_int_equal(watch_series_heights(&m->lanes[0].gpu, 100, heights, 4), 4);
    assert_int_equal(heights[3], 0);
    assert_int_equal(heights[2], 8);
    feed(m, "{\"event\":\"HEARTBEAT\",\"variant\":\"v\",\"ctx\":1}");
    watch_series_heights(&m->lanes[0].vram, 1e6, heights, 1);
    assert_int_equal(heights[0], 0);
    feed(m, "{\"event\":\"TEST_START\",\"variant\":\"v\",\"ctx\":1}");
    assert_int_equal(m->lanes[0].vram.count, 0);
    watch_model_free(m);
}

/* Tests of two GPUs in flight, one of which is taken out. */
TEST(lanes_have_a_test_each)
{
    struct watch_model *m = watch_model_new();
    assert_non_null(m);
    feed(m, "{\"event\":\"SUITE_START\",\"total_tests\":9,\"variants\":[\"a\",\"b\"],\"contexts\":[1]}");
    feed(m,
         "{\"event\":\"TEST_START\",\"variant\":\"a\",\"ctx\":1,\"run_idx\":1,\"lane\":0,\"gpus\":[\"G0\"]}");
    feed(m, "{\"event\":\"TEST_START\",\"variant\":\"a\",\"ctx\":1,\"run_idx\":2,\"lane\":1,\"gpus\":[\"G1\","
            "\"G2\"]}");
    feed(m, "{\"event\":\"HEARTBEAT\",\"variant\":\"a\",\"ctx\":1,\"run_idx\":2,\"lane\":1,\"gpus\":[\"G1\","
            "\"G2\"],"
            "\"elapsed_s\":3,\"vram_used\":7}");
    assert_int_equal(m->n_lanes, 2);
    assert_int_equal(watch_model_running(m), 2);
    assert_string_equal(m->lanes[1].gpus, "G1,G2");
    assert_int_equal(m->lanes[0].vram.count, 0);
    assert_int_equal(m->lanes[1].vram.count, 1);
    assert_ptr_equal(watch_model_longest(m), &m->lanes[1]);
    assert_cell(m, 0, 0, "run");
    feed(m, "{\"event\":\"TEST_END\",\"variant\":\"a\",\"ctx\":1,\"run_idx\":2,\"exit_status\":\"OK\",\"wall_"
            "s\":2}");
    assert_false(m->lanes[1].running);
    assert_cell(m, 0, 0, "run"); /* the other repetition still is */
    feed(m, "{\"event\":\"NODE\",\"gpu_out\":\"G\",\"message\":\"no such GPU\"}");
    feed(m, "{\"event\":\"NODE\",\"gpu_out\":\"G2\",\"message\":\"it hangs\"}");
    assert_string_equal(m->lanes[0].out, "");
    assert_string_equal(m->lanes[1].out, "it hangs");
    feed(m, "{\"event\":\"TEST_START\",\"variant\":\"b\",\"ctx\":1,\"run_idx\":1,\"lane\":0}");
    assert_cell(m, 0, 0, "2 s");
    assert_cell(m, 1, 0, "run");
    feed(m, "{\"event\":\"SUITE_END\",\"status\":\"PARTIAL\"}");
    assert_int_equal(watch_model_running(m), 0);
    assert_cell(m, 1, 0, "-");
    watch_model_free(m);
}

enum { GPUS = 8, JOURNAL_LINE_MAX = 64 << 10 };

/* What the row of a GPU must show, read from the journal without the model. */
struct expected_row {
    char gpu[64];
    json_t *line; /* owned; the last TEST_START or HEARTBEAT */
    size_t beats; /* of that test */
    bool running, out;
};

static bool same_test(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"variant", "ctx", "run_idx"};
    for (size_t i = 0; a && i < COUNT(keys); i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return a != NULL;
}

/* Takes the event. */
static void expect(struct expected_row *rows, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event")),
               *out = json_string_value(json_object_get(event, "gpu_out"));
    size_t lane = (size_t)json_integer_value(json_object_get(event, "lane"));
    bool begins = strcmp(name, "TEST_START") == 0;
    for (size_t i = 0; i < GPUS; i++) {
        rows[i].running &= !(strcmp(name, "TEST_END") == 0 && same_test(rows[i].line, event));
        rows[i].out |= out && strcmp(rows[i].gpu, out) == 0;
    }
    if (begins || strcmp(name, "HEARTBEAT") == 0) {
        struct expected_row *row = &rows[lane];
        snprintf(row->gpu, sizeof row->gpu, "%s",
                 json_string_value(json_array_get(json_object_get(event, "gpus"), 0)));
        row->beats = begins ? 0 : row->beats + 1;
        row->running = true;
        json_decref(row->line);
        row->line = json_incref(event);
    }
    json_decref(event);
}

static void assert_row(const struct watch_lane *l, const struct expected_row *row)
{
    const json_t *t = row->line, *vram = json_object_get(t, "vram_used");
    assert_string_equal(l->gpus, row->gpu);
    assert_int_equal(l->running, row->running);
    assert_int_equal(*l->out != '\0', row->out);
    assert_string_equal(l->variant, json_string_value(json_object_get(t, "variant")));
    assert_int_equal(l->ctx, json_integer_value(json_object_get(t, "ctx")));
    assert_int_equal(l->run_idx, json_integer_value(json_object_get(t, "run_idx")));
    assert_int_equal(l->vram.count, row->beats);
    if (row->beats > 0)
        assert_float_equal(l->vram.values[row->beats - 1], json_number_value(vram), 0.1);
    if (row->running && row->beats > 0)
        assert_float_equal(l->elapsed_s, json_number_value(json_object_get(t, "elapsed_s")), 1e-9);
}

/* What a run on eight GPUs wrote, one of which is taken out in the midst of it. */
TEST(a_recorded_run_has_a_row_per_gpu)
{
    struct watch_model *m = watch_model_new();
    struct expected_row rows[GPUS] = {{.beats = 0}};
    char *line = malloc(JOURNAL_LINE_MAX);
    size_t most = 0, known;
    FILE *f = fopen("tests/fixtures/watch/eight_gpus.jsonl", "re");
    assert_true(m && line && f);
    while (fgets(line, JOURNAL_LINE_MAX, f)) {
        feed(m, line);
        expect(rows, json_loads(line, 0, NULL));
        for (known = 0; known < GPUS && rows[known].line; known++)
            assert_row(&m->lanes[known], &rows[known]);
        assert_int_equal(m->n_lanes, known);
        most = watch_model_running(m) > most ? watch_model_running(m) : most;
    }
    fclose(f);
    assert_int_equal(most, GPUS);
    assert_string_equal(m->status, "COMPLETE");
    assert_int_equal(m->live.done, 24);
    assert_non_null(strstr(m->lanes[5].out, "takes no more tests"));
    for (size_t v = 0; v < 2; v++)
        for (size_t c = 0; c < 4; c++)
            assert_cell(m, v, c, "50 ms x3");
    for (size_t i = 0; i < GPUS; i++)
        json_decref(rows[i].line);
    free(line);
    watch_model_free(m);
}

/* More variants and contexts than a screen has, and text that a terminal would act on. */
TEST(variants_and_contexts_beyond_the_maximum_are_dropped)
{
    struct watch_model *m = watch_model_new();
    char line[256];
    assert_non_null(m);
    for (int i = 0; i < 300; i++) {
        snprintf(line, sizeof line,
                 "{\"event\":\"TEST_END\",\"variant\":\"v%d\",\"ctx\":%d,\"exit_status\":\"OK\",\"total_"
                 "tests\":300}",
                 i, i + 1);
        feed(m, line);
    }
    assert_int_equal(m->n_variants, WATCH_VARIANTS_MAX);
    assert_int_equal(m->n_contexts, WATCH_CONTEXTS_MAX);
    assert_int_equal(m->live.done, 300);
    assert_null(watch_model_line(m, WATCH_LINES, 1000));
    watch_model_note(m, "\033]0;owned\007");
    assert_string_equal(watch_model_line(m, 0, 1), "\\x1b]0;owned\\x07");
    feed(m, "{\"event\":\"SUITE_START\",\"total_tests\":1,\"variants\":[\"\\u001b[2J\",7,\"w\"],\"contexts\":"
            "[\"x\"]}");
    assert_int_equal(m->n_variants, WATCH_VARIANTS_MAX);
    watch_model_free(m);
}
