/* alloc: arrays grow when necessary, keep their contents, and reject impossible sizes. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"

#include <stdint.h>
#include <stdlib.h>

static void an_array_keeps_its_elements(void **state)
{
    (void)state;
    int *items = NULL;
    size_t cap = 0, moves = 0;
    for (int i = 0; i < 100000; i++) {
        size_t before = cap;
        assert_true(ALLOC_GROW(items, (size_t)i + 1, cap));
        assert_true(cap > (size_t)i);
        moves += cap != before;
        items[i] = i;
    }
    for (int i = 0; i < 100000; i++)
        assert_int_equal(items[i], i);
    assert_true(moves < 40);
    free(items);
}

static void a_large_step_is_taken_at_once(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t cap = 0;
    assert_true(ALLOC_GROW(bytes, 1 << 20, cap));
    assert_true(cap >= 1 << 20);
    free(bytes);
}

static void a_size_that_overflows_is_refused(void **state)
{
    (void)state;
    struct {
        char bytes[100];
    } *items = NULL;
    size_t cap = 0;
    assert_true(ALLOC_GROW(items, 1, cap));
    size_t before = cap;
    assert_false(ALLOC_GROW(items, SIZE_MAX / 10, cap));
    assert_int_equal(cap, before);
    assert_non_null(items);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_keeps_its_elements),
        cmocka_unit_test(a_large_step_is_taken_at_once),
        cmocka_unit_test(a_size_that_overflows_is_refused),
    };
    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
