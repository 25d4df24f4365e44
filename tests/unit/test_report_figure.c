/* Figures: found by what a link names, written beside a document. */
#include "reports/render/figure.h"
#include "tests/unit/support.h"

#include <stdio.h>
#include <string.h>

static struct figure_set one_figure(void)
{
    struct figure_set set = {.count = 1};
    snprintf(set.items[0].name, sizeof set.items[0].name, "speedup.svg");
    set.items[0].svg = strdup("<svg/>");
    return set;
}

TEST(a_figure_is_found_by_the_last_part_of_a_link)
{
    struct figure_set set = one_figure();
    assert_ptr_equal(figure_find(&set, "report.plots/speedup.svg"), &set.items[0]);
    assert_ptr_equal(figure_find(&set, "speedup.svg"), &set.items[0]);
    assert_null(figure_find(&set, "report.plots/memory.svg"));
    assert_null(figure_find(&set, ""));
    figure_set_release(&set);
    assert_int_equal(set.count, 0);
}

TEST(a_set_is_saved_to_a_folder_that_is_made)
{
    struct figure_set set = one_figure(), empty = {0};
    struct err err = {0};
    AUTO(buf_release) struct buf text = {.max = 100};
    assert_ok(figure_set_save(&empty, in_scratch("none"), &err), &err);
    assert_false(fs_exists(in_scratch("none")));
    assert_ok(figure_set_save(&set, in_scratch("plots"), &err), &err);
    assert_ok(fs_read_file(in_scratch("plots/speedup.svg"), text.max, &text, &err), &err);
    assert_string_equal(buf_str(&text), "<svg/>");
    figure_set_release(&set);
}

GROUP(scratch_make, scratch_remove);
