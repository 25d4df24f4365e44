#include "executor/trial/disbelief.h"

#include "executor/bundle/artifact.h"
#include "executor/trial/perf.h"
#include "executor/trial/test_event.h"

#include <stdio.h>
#include <sys/stat.h>

static int write_diag(struct suite *s, const char *dir, const struct assessment *why, struct err *err)
{
    char text[REASON_MAX + 64];
    int n = snprintf(text, sizeof text, "%s: %s\n", status_name(why->status), why->reason);
    return artifact_text(dir, "diag.txt", text, (size_t)n, &s->secrets, err);
}

/* A folder that is gone, or is a link now, is made anew. */
static int make_folder(struct suite *s, const char *dir, struct err *err)
{
    struct stat st;
    (void)s;
    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return fs_remove_tree(dir, err) != 0 ? -1 : fs_mkdir_p(dir, 0700, err);
}

int disbelief_of(struct suite *s, size_t test, const char *reason, struct err *err)
{
    struct test_state *t = &s->test[test];
    struct assessment why = {.status = STATUS_INVALID};
    char dir[FS_PATH_MAX];
    reason_set(why.reason, "%s", reason);
    bool stuck = s->variant[s->job.test[test].variant].stuck[0];
    if (!stuck && (suite_test_dir(s, test, dir, err) != 0 || make_folder(s, dir, err) != 0 ||
                   write_diag(s, dir, &why, err) != 0 || perf_rewrite(s, test, &why, dir, err) != 0))
        return -1;
    suite_test_result(s, test, &why, t->wall_s, t->prefill_s);
    return test_event_replace(s, test, err);
}
