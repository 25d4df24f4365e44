/* spool: bytes come out as they went in, through memory, through the file, and from one to the other and
 * back. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "harness/transport/spool.h"

#include <errno.h>
#include <pthread.h>

enum { PIECE = 100003, MANY = 40 << 20 };

static char byte_at(uint64_t at)
{
    return (char)(at * 0x9e3779b97f4a7c15u >> 56);
}

static void must_add(struct spool *s, size_t len)
{
    struct err err = {0};
    AUTO_FREE char *data = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        data[i] = byte_at(s->added + i);
    assert_ok(spool_add(s, data, len, &err), &err);
}

/* Takes at least len bytes, which must be the next of the stream. */
static uint64_t must_take(struct spool *s, uint64_t at, size_t len)
{
    uint64_t end = at + len;
    while (at < end) {
        const void *data;
        ssize_t n = spool_take(s, &data);
        assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++, at++)
            if (((const char *)data)[i] != byte_at(at))
                fail_msg("byte %llu differs", (unsigned long long)at);
    }
    return at;
}

static struct spool *must_open(void)
{
    struct err err = {0};
    struct spool *s = malloc(sizeof *s);
    assert_ok(spool_open(s, scratch, &err), &err);
    return s;
}

static void release(struct spool *s)
{
    spool_close(s);
    free(s);
}

TEST(what_fits_stays_in_memory)
{
    struct spool *s = must_open();
    uint64_t at = 0;
    for (int i = 0; i < 100; i++) {
        must_add(s, PIECE);
        assert_false(s->spilled);
        at = must_take(s, at, PIECE);
    }
    release(s);
}

TEST(what_does_not_fit_goes_through_the_file)
{
    struct spool *s = must_open();
    must_add(s, SPOOL_MEMORY - 10);
    assert_false(s->spilled);
    must_add(s, 11);
    assert_true(s->spilled);
    must_add(s, 3 * PIECE);
    uint64_t at = must_take(s, 0, (size_t)s->added);
    /* The last block is released by the next call. */
    must_add(s, 5);
    assert_true(s->spilled);
    at = must_take(s, at, 5);
    spool_stop(s, false);
    const void *data;
    assert_int_equal(spool_take(s, &data), 0);
    must_add(s, PIECE);
    assert_false(s->spilled);
    assert_int_equal(must_take(s, at, PIECE), s->added);
    release(s);
}

TEST(the_tail_is_kept)
{
    struct spool *s = must_open();
    for (size_t i = 0; i < 700; i++)
        must_add(s, i % 5);
    must_add(s, SPOOL_MEMORY);
    must_add(s, 3);
    for (size_t i = 0; i < SPOOL_TAIL; i++)
        assert_int_equal(s->tail[i], byte_at(s->added - SPOOL_TAIL + i));
    release(s);
}

static void *take_all(void *arg)
{
    struct spool *s = arg;
    uint64_t at = 0;
    const void *data;
    ssize_t n;
    while ((n = spool_take(s, &data)) > 0)
        for (ssize_t i = 0; i < n; i++, at++)
            if (((const char *)data)[i] != byte_at(at))
                return NULL;
    return n == 0 && at == MANY ? arg : NULL;
}

TEST(two_threads_agree)
{
    struct spool *s = must_open();
    pthread_t thread;
    void *all = NULL;
    assert_int_equal(pthread_create(&thread, NULL, take_all, s), 0);
    for (uint64_t left = MANY; left > 0; left = MANY - s->added)
        must_add(s, left < PIECE ? (size_t)left : PIECE);
    spool_stop(s, false);
    pthread_join(thread, &all);
    assert_ptr_equal(all, s);
    release(s);
}

TEST(who_is_abandoned_is_told)
{
    struct spool *s = must_open();
    const void *data;
    must_add(s, 10);
    spool_stop(s, true);
    assert_int_equal(spool_take(s, &data), -1);
    assert_int_equal(errno, ECANCELED);
    release(s);
}

GROUP(scratch_make, scratch_remove);
