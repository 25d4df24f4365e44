#include "harness/commands/measure/bisect_run.h"

#include "harness/commands/measure/bisect_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { REPORT_MAX = 4 << 20, WAIT_MS = 500 };

static int lock_path(const struct bisect_state *b, const char *db, char *out, struct err *err)
{
    char dir[FS_PATH_MAX], base[FS_PATH_MAX], name[BISECT_NAME_MAX + 8];
    fs_parent(db, base);
    snprintf(name, sizeof name, "%s.lock", b->name);
    return fs_join(dir, err, base, "bisect") != 0 || fs_mkdir_p(dir, 0700, err) != 0
               ? -1
               : fs_join(out, err, dir, name);
}

static int take_lock(const struct bisect_state *b, const struct session_options *o, struct err *err)
{
    bool waited = false;
    char path[FS_PATH_MAX];
    if (lock_path(b, o->db, path, err) != 0)
        return -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", path);
    for (; flock(fd, LOCK_EX | LOCK_NB) != 0; waited = true) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            err_set_errno(err, ERR_STORAGE, errno, "%s: cannot lock", path);
            close(fd);
            return -1;
        }
        if (!waited)
            fprintf(o->progress, "another process is working on this search: waiting for it\n");
        if (o->interrupted && *o->interrupted) {
            close(fd);
            return err_set(err, ERR_INTERRUPTED, "no longer waiting; the other process continues");
        }
        poll(NULL, 0, WAIT_MS);
    }
    return fd;
}

static int write_report(const struct bisect_state *b, struct store *s, FILE *progress, struct err *err)
{
    char path[FS_PATH_MAX];
    struct buf text;
    buf_init(&text, REPORT_MAX);
    int rc = bisect_report_path(b, path, err);
    if (rc == 0)
        rc = bisect_write_markdown(b, s, &text, err);
    if (rc == 0 && !buf_ok(&text))
        rc = err_set(err, ERR_INTERNAL, "the report of the search is too long");
    if (rc == 0)
        rc = fs_write_file(path, buf_str(&text), text.len, 0644, err);
    if (rc == 0)
        fprintf(progress, "report  %s\n", path);
    buf_release(&text);
    return rc;
}

/* Another process may have worked on the search since it was loaded. */
static int reload(struct bisect_state *b, struct store *s, struct err *err)
{
    struct bisect_state now = {.commits = NULL};
    bool found;
    if (bisect_state_load(&now, s, b->name, true, &found, err) != 0)
        return -1;
    if (found) {
        bisect_state_release(b);
        *b = now;
    }
    return 0;
}

int bisect_run_locked(struct bisect_state *b, struct store *s, const struct bisect_settings *o,
                      struct err *err)
{
    struct bisect_settings own = *o;
    int fd = take_lock(b, &o->session, err);
    if (fd < 0)
        return -1;
    int rc = reload(b, s, err);
    own.session.artifacts = b->request.artifacts;
    own.session.overrides.node = *b->request.node ? b->request.node : NULL;
    bool ended = *b->ended_at;
    if (rc == 0)
        rc = bisect_run(b, s, &own, err);
    if (rc == 0 && *b->ended_at && !ended)
        rc = write_report(b, s, o->session.progress, err);
    close(fd);
    return rc;
}
