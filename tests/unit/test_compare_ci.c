/* What build servers read of a comparison. */
#include "harness/commands/compare/compare_ci.h"
#include "tests/unit/support.h"

#include <stdio.h>

static struct delta regressed(int context)
{
    return (struct delta){.variant = "v3",
                          .context = context,
                          .metric = METRIC_PREFILL_S,
                          .verdict = VERDICT_REGRESSED,
                          .reason = "+8.0 %"};
}

static void holds(void (*write)(const struct comparison *, struct buf *), int context, const char *words)
{
    struct delta d = regressed(context);
    struct comparison c = {.now_id = "now", .primary = METRIC_PREFILL_S, .deltas = &d, .count = 1};
    struct buf out;
    buf_init(&out, 4096);
    write(&c, &out);
    if (!strstr(buf_str(&out), words))
        fail_msg("\"%s\" is not in:\n%s", words, buf_str(&out));
    buf_release(&out);
}

static void what_has_no_context_is_named_without(void **state)
{
    (void)state;
    holds(compare_write_junit, 4096, "classname=\"v3\" name=\"context 4096 prefill_s\">");
    holds(compare_write_junit, 0, "classname=\"v3\" name=\"prefill_s\">");
    holds(compare_write_github, 4096, "::error title=v3 at 4096 regressed::prefill_s +8.0 %25");
    holds(compare_write_github, 0, "::error title=v3 regressed::prefill_s +8.0 %25");
}

static void a_common_factor_of_most_cells_is_titled_so(void **state)
{
    struct comparison c = {
        .now_id = "now",
        .primary = METRIC_PREFILL_S,
        .shift = {.known = true, .found = true, .worse = true, .ratio = 1.1, .cells = 9, .agree = 6}};
    struct buf out;
    (void)state;
    buf_init(&out, 4096);
    compare_write_github(&c, &out);
    assert_non_null(strstr(buf_str(&out), "::error title=most cells::Most cells are"));
    buf_clear(&out);
    c.shift.agree = 9;
    compare_write_github(&c, &out);
    assert_non_null(strstr(buf_str(&out), "::error title=all cells::All cells are"));
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_context_is_named_without),
        cmocka_unit_test(a_common_factor_of_most_cells_is_titled_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
