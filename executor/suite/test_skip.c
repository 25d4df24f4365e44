#include "common/base/alloc.h"
#include "executor/bundle/artifact.h"
#include "executor/suite/folders.h"
#include "executor/suite/perf.h"
#include "executor/suite/test.h"
#include "executor/suite/test_event.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

bool test_is_out_of_attempts(const struct suite *s, size_t test, struct assessment *why)
{
    if (s->test[test].attempts < ATTEMPTS_MAX)
        return false;
    why->status = STATUS_INTERRUPTED;
    reason_set(why->reason, "the executor died in each of %u attempts", s->test[test].attempts);
    return true;
}

/* Makes the folder of a test, without what an attempt before has left there. */
static int make_folder(struct suite *s, size_t test, struct err *err)
{
    AUTO_CLOSE int folder = -1;
    char rel[FS_PATH_MAX];
    suite_test_rel(s, test, rel);
    return folders_make(s, rel, &folder, err);
}

static int write_diag(struct suite *s, const char *dir, const struct assessment *why, struct err *err)
{
    char text[REASON_MAX + 64];
    int n = snprintf(text, sizeof text, "%s: %s\n", status_name(why->status), why->reason);
    return artifact_text(dir, "diag.txt", text, (size_t)n, &s->secrets, err);
}

static bool is_stuck(const struct suite *s, size_t test)
{
    return s->variant[s->job.test[test].variant].stuck[0];
}

int test_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err)
{
    char dir[FS_PATH_MAX];
    if (!is_stuck(s, test) &&
        (suite_test_dir(s, test, dir, err) != 0 || make_folder(s, test, err) != 0 ||
         write_diag(s, dir, why, err) != 0 || perf_write(s, test, why, NULL, dir, err) != 0))
        return -1;
    suite_test_result(s, test, why, NAN, NAN);
    return test_event_skip(s, test, why, err);
}

/* A folder that is gone, or is a link now, is made anew. */
static int keep_folder(const char *dir, struct err *err)
{
    struct stat st;
    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return fs_remove_tree(dir, err) != 0 ? -1 : fs_mkdir_p(dir, 0700, err);
}

int test_disbelieve(struct suite *s, size_t test, const char *reason, struct err *err)
{
    const struct test_state *t = &s->test[test];
    struct assessment why = {.status = STATUS_INVALID};
    char dir[FS_PATH_MAX];
    reason_set(why.reason, "%s", reason);
    if (!is_stuck(s, test) &&
        (suite_test_dir(s, test, dir, err) != 0 || keep_folder(dir, err) != 0 ||
         write_diag(s, dir, &why, err) != 0 || perf_rewrite(s, test, &why, dir, err) != 0))
        return -1;
    suite_test_result(s, test, &why, t->wall_s, t->prefill_s);
    return test_event_replace(s, test, err);
}
