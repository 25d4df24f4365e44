#include "executor/trial/ended.h"

#include "common/base/clock.h"
#include "common/base/fs.h"

#include <sys/stat.h>

static int take_newest(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    double *newest = arg;
    struct stat st;
    (void)relpath;
    (void)err;
    if (lstat(fullpath, &st) != 0)
        return 0;
    double changed = (double)st.st_ctim.tv_sec + (double)st.st_ctim.tv_nsec * 1e-9;
    if (changed > *newest)
        *newest = changed;
    return 0;
}

void ended_writing(struct suite *s, size_t test)
{
    s->test[test].writing_real_s = clock_exact_real_s();
}

void ended_note(struct suite *s, size_t test, const char *dir)
{
    struct test_state *t = &s->test[test];
    struct err ignored;
    t->ended_real_s = clock_exact_real_s();
    t->written_real_s = 0;
    if (dir)
        (void)fs_walk(dir, true, take_newest, &t->written_real_s, &ignored);
    t->read_real_s = clock_exact_real_s();
}
