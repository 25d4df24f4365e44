/* support: shared by the unit tests: cmocka with the headers that it needs first, a temporary folder per
 * program with helpers for files in it, and asserts. Everything is inline, so that a test stays one file.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 has it, and calls the name deprecated that cmocka 1 has. */
#ifdef assert_int_in_range
#undef assert_in_range
#define assert_in_range(value, low, high)                                                                    \
    assert_int_in_range((intmax_t)(value), (intmax_t)(low), (intmax_t)(high))
#endif

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A test, registered where it is defined, in the order of the source, and run by the main() of unit.c:
 *
 *     TEST(an_array_keeps_its_elements)
 *     {
 *
 * TEST_BETWEEN has a set-up and a tear-down of its own (NULL: none), GROUP those of the whole program. */
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)
#define TEST_BETWEEN(name, set_up, tear_down)                                                                \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void name##_is_a_test(void)                                          \
    {                                                                                                        \
        unit_add(#name, name, set_up, tear_down);                                                            \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **state)
#define GROUP(set_up, tear_down) CMFixtureFunction unit_set_up = (set_up), unit_tear_down = (tear_down)

extern CMFixtureFunction unit_set_up, unit_tear_down;
void unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down);

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char scratch[FS_PATH_MAX / 4];

/* Group set-up and tear-down. */
static inline int scratch_make(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/unit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
    (void)state;
    return fs_remove_tree(scratch, NULL);
}

/* A path in the temporary folder, in a static buffer that is reused after eight calls. */
static inline const char *in_scratch(const char *name)
{
    static char path[8][FS_PATH_MAX];
    static size_t next;
    char *out = path[next++ % COUNT(path)];
    snprintf(out, FS_PATH_MAX, "%s/%s", scratch, name);
    return out;
}

/* Writes a file with its folders; returns its path. */
static inline const char *put_bytes(const char *name, const void *data, size_t len)
{
    struct err err = {0};
    const char *path = in_scratch(name);
    char dir[FS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = '\0';
    if (fs_mkdir_p(dir, 0700, &err) != 0 || fs_write_file(path, data, len, 0600, &err) != 0)
        fail_msg("%s", err.msg);
    return path;
}

static inline const char *put(const char *name, const char *text)
{
    return put_bytes(name, text, strlen(text));
}

/* Asserts that the file holds exactly this text. */
static inline void assert_file(const char *name, const char *text)
{
    struct err err = {0};
    struct buf found;
    buf_init(&found, 1 << 20);
    if (fs_read_file(in_scratch(name), found.max, &found, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(buf_str(&found), text);
    buf_release(&found);
}

/* Asserts that a call returned -1 with an error of this kind whose message is one line with all of the words.
 */
#define assert_err(rc, err, wanted_kind, ...)                                                                \
    assert_err_words(rc, err, wanted_kind, __FILE__, __LINE__, (const char *const[]){__VA_ARGS__, NULL})

static inline void assert_err_words(int rc, const struct err *err, enum err_kind kind, const char *file,
                                    int line, const char *const *words)
{
    if (rc != -1 || err->kind != kind || !*err->msg || strchr(err->msg, '\n')) {
        print_error("%s:%d: rc %d, kind %d, \"%s\"\n", file, line, rc, (int)err->kind, err->msg);
        _fail(file, line);
    }
    for (; *words; words++)
        if (!strstr(err->msg, *words)) {
            print_error("%s:%d: \"%s\" does not name \"%s\"\n", file, line, err->msg, *words);
            _fail(file, line);
        }
}

#define assert_near(a, b, tolerance)                                                                         \
    do {                                                                                                     \
        double a_ = (a), b_ = (b);                                                                           \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                 \
            fail_msg("%s is %.12g, expected %.12g", #a, a_, b_);                                             \
    } while (0)

#define assert_ok(rc, err)                                                                                   \
    do {                                                                                                     \
        if ((rc) != 0)                                                                                       \
            fail_msg("%s", (err)->msg);                                                                      \
    } while (0)
