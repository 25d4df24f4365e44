/* bench/index: what a nightly run does for the index of nightly reports, for scripts/bench/years.
 *
 *   index DB FOLDER NIGHTS    makes NIGHTS folders of earlier nights in FOLDER, then makes the board of the
 * store's newest run and both index pages; prints the seconds of CPU time that the latter took
 */
#include "common/base/json.h"
#include "harness/nightly/board.h"
#include "harness/nightly/nights.h"
#include "results/judge/compare.h"
#include "results/query/against.h"
#include "results/query/find_run.h"
#include "results/store/when.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINES = 20, DAY_MS = 86400000 };

static int die(const struct err *err)
{
    fprintf(stderr, "index: %s\n", err->msg);
    return 1;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The summary has as many lines as that of a bad night. */
static json_t *summary_of(const char *night)
{
    json_t *lines = json_array();
    for (int i = 0; i < LINES; i++)
        json_array_append_new(
            lines, json_string("v3 4096: regressed by 6.1 % (p 0.0004), the code of attn_kernel changed"));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:b}", "night", night, "ticket", "bench", "node",
                     "mi300x", "news", "regression", "headline",
                     "200 of 200 tests ok; 20 regressed, 180 unchanged", "lines", lines, "has_report", 1);
}

/* Adds the folder of a night. last: writes its pages too. */
static int add_night(const char *root, int number, const json_t *board, bool last, struct err *err)
{
    struct night n;
    char day[CLOCK_ISO_LEN + 1], date[11], name[32], path[FS_PATH_MAX];
    when_format(when_midnight("2020-01-01") + (int64_t)number * DAY_MS, day);
    snprintf(date, sizeof date, "%.10s", day);
    snprintf(name, sizeof name, "bench-%06d", number);
    json_t *summary = summary_of(day);
    int rc = nights_open(&n, root, date, name, err);
    if (rc == 0 && last)
        rc = nights_close(&n, root, summary, board, err);
    else if (rc == 0)
        rc = fs_join(path, err, n.dir, "summary.json") != 0 ? -1 : json_save(path, summary, err);
    json_decref(summary);
    return rc;
}

static json_t *make_board(struct store *s, struct err *err)
{
    const struct compare_options options = compare_defaults();
    struct run_data run;
    struct against a;
    struct comparison c;
    json_t *board = NULL;
    if (store_load_run(s, "latest", &run, err) != 0)
        return NULL;
    if (against_nights(s, &run, &options, &a, err) == 0) {
        if (against_compare(&a, &run, &c, err) == 0) {
            const struct board_night n = {
                .store = s, .run = &run, .comparison = &c, .night = "2030-01-01T00:00:00Z"};
            board = board_encode(&n, err);
            comparison_release(&c);
        }
        against_release(&a);
    }
    run_data_release(&run);
    return board;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct store s = {0};
    int nights = argc == 4 ? atoi(argv[3]) : 0;
    if (nights < 1) {
        fputs("usage: index DB FOLDER NIGHTS\n", stderr);
        return 2;
    }
    for (int i = 0; i < nights - 1; i++)
        if (add_night(argv[2], i, NULL, false, &err) != 0)
            return die(&err);
    if (store_open(&s, argv[1], STORE_READ, &err) != 0)
        return die(&err);
    double start = cpu_s();
    json_t *board = make_board(&s, &err);
    int rc = board ? add_night(argv[2], nights - 1, board, true, &err) : -1;
    printf("%.3f\n", cpu_s() - start);
    json_decref(board);
    store_close(&s);
    return rc == 0 ? 0 : die(&err);
}
