/* buf: the maximum is enforced; a failure is permanent and leaves the contents unchanged. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"

TEST(empty_is_text)
{
    struct buf b;
    buf_init(&b, 10);
    assert_string_equal(buf_str(&b), "");
    assert_true(buf_ok(&b));
    buf_consume(&b, 5);
    buf_clear(&b);
    assert_string_equal(buf_str(&b), "");
    buf_add(&b, NULL, 0);
    assert_int_equal(b.len, 0);
    assert_true(buf_ok(&b));
    buf_release(&b);
    buf_release(&b);
}

TEST(grows_and_stays_terminated)
{
    struct buf b;
    buf_init(&b, 100000);
    for (size_t i = 0; i < 100000; i++) {
        buf_putc(&b, (char)('a' + i % 26));
        assert_int_equal(b.len, i + 1);
        assert_int_equal(b.data[b.len], 0);
    }
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.data[i], 'a' + (int)(i % 26));
    assert_true(buf_ok(&b));
    buf_release(&b);
    assert_int_equal(b.max, 100000);
}

TEST(maximum_is_reached_but_not_passed)
{
    struct buf b;
    buf_init(&b, 5);
    buf_puts(&b, "12345");
    assert_true(buf_ok(&b));
    buf_puts(&b, "");
    assert_true(buf_ok(&b));
    buf_putc(&b, '6');
    assert_false(buf_ok(&b));
    assert_string_equal(buf_str(&b), "12345");
    buf_release(&b);
    buf_init(&b, 0);
    buf_puts(&b, "");
    assert_true(buf_ok(&b));
    buf_putc(&b, 'x');
    assert_false(buf_ok(&b));
    assert_string_equal(buf_str(&b), "");
    buf_release(&b);
}

TEST(failure_sticks)
{
    AUTO(buf_release) struct buf b = {.max = 4};
    buf_puts(&b, "ab");
    buf_puts(&b, "cde");
    assert_false(buf_ok(&b));
    buf_putc(&b, 'c'); /* would fit */
    buf_printf(&b, "%d", 1);
    buf_add(&b, "", 0);
    assert_false(buf_ok(&b));
    assert_string_equal(buf_str(&b), "ab");
    buf_consume(&b, 2);
    buf_puts(&b, "x");
    assert_false(buf_ok(&b));
    assert_null(buf_steal(&b));
    buf_clear(&b);
    assert_true(buf_ok(&b));
    buf_puts(&b, "wxyz");
    assert_string_equal(buf_str(&b), "wxyz");
}

TEST(printf_obeys_the_maximum)
{
    AUTO(buf_release) struct buf b = {.max = 8};
    buf_printf(&b, "%s=%d", "k", 1);
    buf_printf(&b, "%05d", 7);
    assert_string_equal(buf_str(&b), "k=100007");
    assert_true(buf_ok(&b));
    buf_printf(&b, "%s", "");
    assert_true(buf_ok(&b));
    buf_printf(&b, "%c", 'x');
    assert_false(buf_ok(&b));
    assert_string_equal(buf_str(&b), "k=100007");
}

TEST(lengths_do_not_overflow)
{
    static const size_t maxima[] = {10, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX};
    volatile size_t huge = SIZE_MAX;
    for (size_t i = 0; i < COUNT(maxima); i++) {
        struct buf b;
        buf_init(&b, maxima[i]);
        buf_puts(&b, "a");
        buf_add(&b, "b", huge);
        assert_false(buf_ok(&b));
        buf_clear(&b);
        buf_add(&b, "b", huge - 1);
        assert_false(buf_ok(&b));
        assert_string_equal(buf_str(&b), "");
        buf_release(&b);
    }
}

TEST(bytes_may_be_anything)
{
    AUTO(buf_release) struct buf b = {.max = 1000};
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    buf_add(&b, all, sizeof all);
    buf_add(&b, all, sizeof all);
    assert_int_equal(b.len, 512);
    assert_memory_equal(b.data, all, 256);
    buf_consume(&b, 256);
    assert_int_equal(b.len, 256);
    assert_memory_equal(b.data, all, 256);
    buf_consume(&b, 255);
    assert_memory_equal(b.data, "\xff\0", 2);
    buf_consume(&b, 1000);
    assert_int_equal(b.len, 0);
    assert_string_equal(buf_str(&b), "");
}

TEST(steal_hands_over)
{
    AUTO(buf_release) struct buf b = {.max = 10};
    char *empty = buf_steal(&b);
    assert_string_equal(empty, "");
    free(empty);
    buf_puts(&b, "0123456789");
    AUTO_FREE char *text = buf_steal(&b);
    assert_string_equal(text, "0123456789");
    assert_int_equal(b.len, 0);
    assert_string_equal(buf_str(&b), "");
    buf_puts(&b, "again");
    assert_string_equal(buf_str(&b), "again");
    assert_string_equal(text, "0123456789");
}
