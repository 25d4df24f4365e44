/* journal: numbering, and resuming after a crash that may have torn the last line. */
#include "tests/unit/support.h"

#include "common/base/buf.h"
#include "executor/bundle/journal.h"

#include <sys/stat.h>

static int count_event(const json_t *event, void *arg, struct err *err)
{
    (void)err;
    assert_true(json_is_object(event));
    ++*(int *)arg;
    return 0;
}

static void open_journal(struct journal *j, const char *path, int *seen)
{
    struct err err = {.kind = ERR_NONE};
    *seen = 0;
    assert_ok(journal_open(j, path, NULL, count_event, seen, &err), &err);
}

static void add(struct journal *j, const char *message)
{
    struct err err = {.kind = ERR_NONE};
    assert_ok(journal_add(j, EVENT_NODE, json_pack("{s:s}", "message", message), &err), &err);
}

static void read_all(const char *path, struct buf *out)
{
    struct err err = {.kind = ERR_NONE};
    buf_init(out, 1 << 20);
    assert_ok(fs_read_file(path, out->max, out, &err), &err);
}

TEST(events_are_numbered_lines)
{
    struct journal j;
    struct buf text;
    int seen;
    const char *path = in_scratch("plain.jsonl");
    open_journal(&j, path, &seen);
    add(&j, "one\ntwo");
    add(&j, "three");
    assert_int_equal(j.seq, 2);
    journal_close(&j);
    read_all(path, &text);
    assert_int_equal(strncmp(buf_str(&text), "{\"seq\":1,\"ts\":\"", 15), 0);
    assert_non_null(strstr(buf_str(&text), "\n{\"seq\":2,"));
    assert_int_equal(text.data[text.len - 1], '\n');
    buf_release(&text);
    open_journal(&j, path, &seen);
    assert_int_equal(seen, 2);
    add(&j, "four");
    assert_int_equal(j.seq, 3);
    journal_close(&j);
}

TEST(a_torn_end_is_cut)
{
    static const char *const torn[] = {"{\"seq\":3,\"event\":\"NO", "{\"seq\":3}garbage\n", "\n", "\0\0\0\n",
                                       "[1]\n"};
    static const char good[] = "{\"seq\":1,\"event\":\"NODE\"}\n{\"seq\":2,\"event\":\"NODE\"}\n";
    for (size_t i = 0; i < COUNT(torn); i++) {
        struct journal j;
        struct buf text;
        int seen;
        char whole[200];
        size_t len = i == 3 ? 4 : strlen(torn[i]);
        memcpy(whole, good, sizeof good - 1);
        memcpy(whole + sizeof good - 1, torn[i], len);
        const char *path = put_bytes("torn.jsonl", whole, sizeof good - 1 + len);
        open_journal(&j, path, &seen);
        assert_int_equal(seen, 2);
        assert_int_equal(j.seq, 2);
        add(&j, "next");
        journal_close(&j);
        read_all(path, &text);
        assert_int_equal(strncmp(buf_str(&text), good, sizeof good - 1), 0);
        assert_int_equal(strncmp(buf_str(&text) + sizeof good - 1, "{\"seq\":3,", 9), 0);
        buf_release(&text);
    }
}

/* By a test, for instance. */
TEST(foreign_lines_take_no_event_with_them)
{
    static const char mixed[] =
        "{\"seq\":1,\"event\":\"NODE\"}\njunk\n{\"seq\":9}\n{\"seq\":2,\"event\":\"NODE\"}\nmore";
    struct journal j;
    struct buf text;
    int seen;
    const char *path = put_bytes("mixed.jsonl", mixed, sizeof mixed - 1);
    open_journal(&j, path, &seen);
    assert_int_equal(seen, 2);
    assert_int_equal(j.seq, 2);
    FILE *f = fopen(path, "a");
    fputs("no end", f);
    fclose(f);
    add(&j, "next");
    assert_true(journal_was_changed(&j, path));
    journal_close(&j);
    read_all(path, &text);
    assert_non_null(strstr(buf_str(&text), "no end\n{\"seq\":3,"));
    buf_release(&text);
}

/* No journal of a few lines has so many events, and one more would not be a number. */
TEST(a_foreign_number_that_cannot_be_takes_no_event_with_it)
{
    static const char mixed[] = "{\"seq\":1,\"event\":\"NODE\"}\n"
                                "{\"seq\":9223372036854775807,\"event\":\"NODE\"}\n"
                                "{\"seq\":99999,\"event\":\"NODE\"}\n"
                                "{\"seq\":2,\"event\":\"NODE\"}\n";
    struct journal j;
    int seen;
    open_journal(&j, put_bytes("numbers.jsonl", mixed, sizeof mixed - 1), &seen);
    assert_int_equal(seen, 2);
    assert_int_equal(j.seq, 2);
    journal_close(&j);
}

static int64_t size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

TEST(a_file_that_somebody_made_huge_is_cut_back)
{
    static const char good[] = "{\"seq\":1,\"event\":\"NODE\"}\n";
    const int64_t huge = (int64_t)1 << 40;
    struct journal j;
    int seen;
    const char *path = put_bytes("huge.jsonl", good, sizeof good - 1);
    if (truncate(path, huge) != 0)
        skip(); /* a file system without files of such a size */
    open_journal(&j, path, &seen);
    assert_int_equal(seen, 1);
    assert_int_equal(size_of(path), sizeof good - 1);
    assert_int_equal(truncate(path, huge), 0);
    add(&j, "next");
    assert_int_equal(j.seq, 2);
    assert_in_range(size_of(path), sizeof good, 1000);
    assert_true(journal_was_changed(&j, path));
    journal_close(&j);
}

TEST(an_event_too_long_is_refused_and_leaves_no_gap)
{
    struct journal j;
    struct err err = {.kind = ERR_NONE};
    int seen;
    char *text = calloc(1, LIMIT_EVENT_LINE + 1);
    memset(text, 'x', LIMIT_EVENT_LINE);
    open_journal(&j, in_scratch("long.jsonl"), &seen);
    int rc = journal_add(&j, EVENT_NODE, json_pack("{s:s}", "message", text), &err);
    assert_err(rc, &err, ERR_INTERNAL, "bytes");
    assert_int_equal(journal_add(&j, EVENT_NODE, NULL, &err), -1);
    add(&j, "short");
    assert_int_equal(j.seq, 1);
    journal_close(&j);
    free(text);
}

GROUP(scratch_make, scratch_remove);
