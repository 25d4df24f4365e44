#include "executor/bundle/artifact.h"
#include "executor/suite/folders.h"
#include "executor/trial/perf.h"
#include "executor/trial/test.h"
#include "executor/trial/test_event.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

bool test_is_out_of_attempts(const struct suite *s, size_t test, struct assessment *why)
{
    if (s->test[test].attempts < ATTEMPTS_MAX)
        return false;
    why->status = STATUS_INTERRUPTED;
    reason_set(why->reason, "the executor died in each of %u attempts", s->test[test].attempts);
    return true;
}

/* Without what an attempt before has left there. */
static int make_folder(struct suite *s, size_t test, struct err *err)
{
    int folder = -1;
    char rel[FS_PATH_MAX];
    suite_test_rel(s, test, rel);
    int rc = folders_make(s, rel, &folder, err);
    if (folder >= 0)
        close(folder);
    return rc;
}

int test_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err)
{
    char dir[FS_PATH_MAX], text[REASON_MAX + 64];
    struct perf perf = {.test = test, .attempt = s->test[test].attempts, .assessment = why};
    int n = snprintf(text, sizeof text, "%s: %s\n", status_name(why->status), why->reason);
    bool stuck = s->variant[s->job.test[test].variant].stuck[0];
    if (!stuck && (suite_test_dir(s, test, dir, err) != 0 || make_folder(s, test, err) != 0 ||
                   artifact_text(dir, "diag.txt", text, (size_t)n, &s->secrets, err) != 0 ||
                   perf_write(s, &perf, dir, err) != 0))
        return -1;
    suite_test_result(s, test, why, NAN, NAN);
    return test_event_skip(s, test, why, err);
}
