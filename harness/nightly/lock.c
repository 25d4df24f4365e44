#include "harness/nightly/lock.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "results/store/location.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOOK_AGAIN_MS = 50 };

/* What a killed night had started, such as its part on one of several nodes, ends a moment after it. */
static const double ending_s = 3;

/* The nodes of one plan have nights of their own. */
static void hash_name(const struct plan *plan, char *sha)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, plan->file, strlen(plan->file));
    if (plan_has_nodes(plan)) {
        sha256_add(&h, "\n", 1);
        sha256_add(&h, plan->node, strlen(plan->node));
    }
    sha256_end(&h, sha);
}

static int find_paths(struct nightly_lock *l, char *lock, const char *db, const struct plan *plan,
                      struct err *err)
{
    char dir[FS_PATH_MAX], sha[SHA256_HEX_LEN + 1], name[128];
    hash_name(plan, sha);
    snprintf(name, sizeof name, "%.32s-%.12s.lock", plan->settings.ticket, sha);
    if (location_own(db, "nightly", dir, err) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        fs_join(lock, err, dir, name) != 0)
        return -1;
    snprintf(name, sizeof name, "%.32s-%.12s.json", plan->settings.ticket, sha);
    return fs_join(l->state, err, dir, name);
}

static int fail_held(const char *path, const char *plan, struct err *err)
{
    AUTO(buf_release) struct buf holder = {.max = 4096};
    if (fs_read_file(path, 4096, &holder, NULL) != 0 || holder.len == 0)
        buf_puts(&holder, "another process");
    err_set(err, ERR_NODE, "%s: a nightly run of this plan is in progress: %.200s", plan, buf_str(&holder));
    return -1;
}

static bool is_held(int fd)
{
    int64_t until_ns = clock_deadline_ns(ending_s);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || clock_left_ms(until_ns) == 0 || poll(NULL, 0, LOOK_AGAIN_MS) < 0)
            return true;
    }
    return false;
}

int nightly_lock_take(struct nightly_lock *l, const char *db, const struct plan *plan, struct err *err)
{
    char path[FS_PATH_MAX], now[CLOCK_ISO_LEN + 1], host[128] = "?", text[256];
    if (find_paths(l, path, db, plan, err) != 0)
        return -1;
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (l->fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", path);
    if (is_held(l->fd)) {
        close(l->fd);
        l->fd = -1;
        return fail_held(path, plan->file, err);
    }
    gethostname(host, sizeof host - 1);
    clock_iso8601(clock_real_s(), now);
    int n = snprintf(text, sizeof text, "pid %ld on %s since %s", (long)getpid(), host, now);
    if (ftruncate(l->fd, 0) != 0 || fs_write_all(l->fd, text, (size_t)n) != 0) {
        int failed = errno;
        nightly_lock_release(l);
        return err_set_errno(err, ERR_STORAGE, failed, "%s: cannot write", path);
    }
    return 0;
}

void nightly_lock_release(struct nightly_lock *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

void nightly_state_release(struct nightly_state *s)
{
    json_decref(s->open);
    *s = (struct nightly_state){0};
}

void nightly_lock_load(const struct nightly_lock *l, struct nightly_state *out)
{
    json_t *state = json_load(l->state, LIMIT_JSON_BYTES, NULL);
    json_int_t news = json_integer_value(json_object_get(state, "news"));
    const char *run_id = json_string_value(json_object_get(state, "run_id"));
    const char *night = json_string_value(json_object_get(state, "night"));
    const char *base = json_string_value(json_object_get(state, "base"));
    *out = (struct nightly_state){.news = news > 0 && news < 256 ? (unsigned)news : 0};
    snprintf(out->base, sizeof out->base, "%s", base ? base : "");
    if (run_id && night && text_is_name(run_id) && strlen(run_id) < sizeof out->run_id &&
        strlen(night) == CLOCK_ISO_LEN) {
        snprintf(out->run_id, sizeof out->run_id, "%s", run_id);
        snprintf(out->night, sizeof out->night, "%s", night);
        out->notified = json_is_true(json_object_get(state, "told"));
    }
    if (json_is_array(json_object_get(state, "open")))
        out->open = json_incref(json_object_get(state, "open"));
    json_decref(state);
}

int nightly_lock_save(const struct nightly_lock *l, const struct nightly_state *s, struct err *err)
{
    json_auto_t *state =
        json_pack("{s:i, s:s, s:s, s:s, s:b, s:O*}", "news", (int)s->news, "base", s->base, "run_id",
                  s->run_id, "night", s->night, "told", s->notified, "open", s->open);
    return json_save(l->state, state, err);
}
