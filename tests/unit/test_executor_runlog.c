/* runlog: head and tail within the limit, the middle counted, nothing lost that need not be. */
#include "tests/unit/support.h"

#include "common/base/buf.h"
#include "executor/bundle/runlog.h"

#include <fcntl.h>

enum { LIMIT = 1000 };

static void write_log(size_t len, size_t piece, struct buf *file, struct buf *tail)
{
    struct runlog log;
    struct err err = {.kind = ERR_NONE};
    char *text = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    assert_ok(runlog_open(&log, scratch, "run.log", LIMIT, NULL, &err), &err);
    for (size_t i = 0; i < len; i += piece)
        runlog_add(&log, text + i, len - i < piece ? len - i : piece);
    assert_int_equal(log.total, len);
    assert_int_equal(runlog_dropped(&log), len > LIMIT ? len - LIMIT : 0);
    assert_ok(runlog_finish(&log, &err), &err);
    buf_init(tail, 100);
    runlog_tail(&log, 100, tail);
    size_t kept = len < 100 ? len : 100;
    assert_int_equal(tail->len, kept);
    assert_memory_equal(buf_str(tail), text + len - kept, kept);
    runlog_release(&log);
    buf_init(file, 1 << 20);
    assert_ok(fs_read_file(in_scratch("run.log"), file->max, file, &err), &err);
    size_t head = len < LIMIT / 2 ? len : LIMIT / 2;
    size_t end = len - head < LIMIT / 2 ? len - head : LIMIT / 2;
    assert_memory_equal(buf_str(file), text, head);
    assert_memory_equal(buf_str(file) + file->len - end, text + len - end, end);
    if (len <= LIMIT)
        assert_int_equal(file->len, len);
    else
        assert_non_null(strstr(buf_str(file), "bytes dropped here]"));
    free(text);
}

TEST(lengths_around_the_limits)
{
    static const size_t lengths[] = {0,   1,    99,   100,  499,  500,  501,  550,
                                     999, 1000, 1001, 1499, 1500, 1501, 5000, 100000};
    static const size_t pieces[] = {1, 7, 500, 501, 1000, 4096, 200000};
    for (size_t l = 0; l < COUNT(lengths); l++) {
        for (size_t p = 0; p < COUNT(pieces); p++) {
            struct buf file, tail;
            write_log(lengths[l], pieces[p], &file, &tail);
            buf_release(&file);
            buf_release(&tail);
        }
    }
}

TEST(a_full_disk_is_told_at_the_end)
{
    struct runlog log;
    struct err err = {.kind = ERR_NONE};
    assert_ok(runlog_open(&log, scratch, "full.log", LIMIT, NULL, &err), &err);
    int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    assert_true(full >= 0);
    close(log.fd);
    log.fd = full;
    runlog_add(&log, "text", 4);
    runlog_add(&log, "more", 4);
    int rc = runlog_finish(&log, &err);
    assert_err(rc, &err, ERR_STORAGE, "full.log", "No space");
    runlog_release(&log);
    assert_false(fs_exists(in_scratch(".full.log.part")));
}

GROUP(scratch_make, scratch_remove);
