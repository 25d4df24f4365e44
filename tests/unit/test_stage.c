/* stage: a source tree that arrives, or does not. */
#include "tests/unit/support.h"

#include "common/base/buf.h"
#include "common/base/run.h"
#include "common/base/sha256.h"
#include "executor/commands/commands.h"

#include <dirent.h>
#include <fcntl.h>

static const double never_s = 3600, at_once_s = 0.05;

static struct layout layout;
static struct buf archive; /* a tree of one file, as tar writes it */
static char sha256[SHA256_HEX_LEN + 1];

static int make(void **state)
{
    struct err err = {0};
    struct run_result res;
    if (scratch_make(state) != 0)
        return -1;
    put("tree/number", "1\n");
    const char *argv[] = {"tar", "-c", "-C", in_scratch("tree"), "number", NULL};
    buf_init(&archive, 32 << 10); /* less than a pipe holds */
    assert_ok(run_capture(argv, NULL, 60, &archive, &res, &err), &err);
    sha256_of(archive.data, archive.len, sha256);
    assert_ok(layout_init(&layout, in_scratch("work"), NULL, NULL, &err), &err);
    return res.exited && res.exit_code == 0 ? 0 : -1;
}

static int clean(void **state)
{
    buf_release(&archive);
    return scratch_remove(state);
}

/* Stages what a connection has brought, len bytes of the archive; it is closed or stays open. */
static int staged(size_t len, bool closed, double idle_s, struct err *err)
{
    char path[FS_PATH_MAX];
    int fd[2];
    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    assert_int_equal(write(fd[1], archive.data, len), len);
    if (closed)
        close(fd[1]);
    int rc = stage(&layout, sha256, fd[0], idle_s, path, err);
    if (!closed)
        close(fd[1]);
    close(fd[0]);
    return rc;
}

/* Folders of trees, whole or not. */
static int folders(void)
{
    int n = 0;
    DIR *d = opendir(in_scratch("work/src"));
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static bool is_there(void)
{
    bool has = false;
    assert_int_equal(stage_has(&layout, sha256, &has, NULL), 0);
    return has;
}

TEST_BETWEEN(a_tree_that_arrives_is_there, make, clean)
{
    struct err err = {0};
    assert_ok(staged(archive.len, true, never_s, &err), &err);
    assert_true(is_there());
    assert_int_equal(folders(), 1);
}

TEST_BETWEEN(half_a_tree_is_refused_and_removed, make, clean)
{
    struct err err = {0};
    assert_err(staged(archive.len / 2, true, never_s, &err), &err, ERR_INPUT, "arrived with sha256");
    assert_false(is_there());
    assert_int_equal(folders(), 0);
}

/* A firewall or a power cut ends a connection without a word. */
TEST_BETWEEN(half_a_tree_is_removed_when_no_more_arrives, make, clean)
{
    struct err err = {0};
    assert_err(staged(archive.len / 2, false, at_once_s, &err), &err, ERR_NODE, "nothing has arrived");
    assert_false(is_there());
    assert_int_equal(folders(), 0);
}
