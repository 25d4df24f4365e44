#include "executor/node/clocks.h"

#include "executor/node/clocks_record.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/lock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int put_back_one(struct clocks *c, size_t i, const struct layout *l, struct err *err)
{
    if (!c->item[i].held)
        return 0;
    if (control_put_back(&c->item[i].gpu, &c->item[i].before, err) != CONTROL_DONE)
        return -1;
    c->item[i].held = false;
    return record_clear(l, c->item[i].gpu.name, geteuid(), err);
}

/* After a failure in the middle, the GPU may be half set, or as it was. */
static void undo(struct clocks *c, size_t i, const struct layout *l, enum control_result why)
{
    struct err ignored;
    struct clocks_state now;
    const struct clocks_gpu *gpu = &c->item[i].gpu;
    bool untouched = gpu->nvidia
                         ? why == CONTROL_DENIED
                         : clocks_state_read(gpu, &now) && clocks_state_equal(&now, &c->item[i].before);
    c->item[i].held = !untouched;
    if (untouched)
        record_clear(l, gpu->name, geteuid(), &ignored);
    else
        put_back_one(c, i, l, &ignored);
}

/* Whether the record's setting no longer holds: somebody else changed it, or it was never made. */
static bool is_moot(const struct clocks_gpu *gpu, const struct clocks_record *r)
{
    struct clocks_state now, expected;
    if (gpu->nvidia || !clocks_state_read(gpu, &now))
        return false;
    control_expected(&r->set, &r->before, &expected);
    return clocks_state_equal(&now, &r->before) || strcmp(now.level, expected.level) != 0;
}

/* Returns why nothing is left to do for a record, or NULL. */
static const char *settled(const struct layout *l, const json_t *gpus, const struct clocks_record *r)
{
    struct clocks_gpu gpu;
    if (record_is_outdated(l, r))
        return "the restart of the machine has put them back";
    return clocks_gpu_find(l, gpus, r->gpu, &gpu) && is_moot(&gpu, r) ? "they are no longer set" : NULL;
}

struct standing {
    const struct layout *layout;
    const json_t *gpus;
    struct err *err;
    bool found;
};

/* A record that stands after clocks_recover() is the only trace of what the clocks were. */
static void note_standing(const struct clocks_record *r, void *arg)
{
    struct standing *s = arg;
    if (settled(s->layout, s->gpus, r))
        return;
    s->found = true;
    err_set(s->err, ERR_NODE,
            "GPU %s still has the clocks that the run %s set (%s, %d MHz): a run by a user who may set them, "
            "or a restart of the node, puts them back",
            r->gpu, r->run_id, clocks_mode_names[r->set.mode], r->set.mhz);
}

enum control_result clocks_hold(struct clocks *c, const struct layout *l, const json_t *gpus,
                                const char *name, const char *run_id, struct err *err)
{
    size_t i = c->count;
    struct clocks_record r = {.set = c->want};
    if (i == CLOCKS_GPUS_MAX || !clocks_gpu_find(l, gpus, name, &c->item[i].gpu)) {
        err_set(err, ERR_NODE, "GPU %s cannot be found among those whose clocks can be set", name);
        return CONTROL_FAILED;
    }
    struct standing standing = {.layout = l, .gpus = gpus, .err = err};
    record_each(l, name, note_standing, &standing);
    if (standing.found)
        return CONTROL_FAILED;
    clocks_state_read(&c->item[i].gpu, &c->item[i].before);
    snprintf(r.gpu, sizeof r.gpu, "%s", name);
    snprintf(r.run_id, sizeof r.run_id, "%s", run_id);
    r.before = c->item[i].before;
    if (record_write(l, &r, err) != 0) {
        err_wrap(err, "the record that is needed to put the clocks back cannot be kept");
        return CONTROL_FAILED;
    }
    c->count++;
    enum control_result result = control_hold(&c->item[i].gpu, &c->want, &c->item[i].through, err);
    c->item[i].held = result == CONTROL_DONE;
    if (result != CONTROL_DONE)
        undo(c, i, l, result);
    return result;
}

int clocks_put_back(struct clocks *c, const struct layout *l, struct err *err)
{
    int rc = 0;
    for (size_t i = c->count; i-- > 0;)
        rc |= put_back_one(c, i, l, err);
    return rc;
}

/* What is settled, and another user's, stays without a word: it can only be removed by that user and root. */
static int forget(const struct layout *l, const struct clocks_record *r, char *note, const char *why,
                  bool put_back)
{
    struct err err;
    bool can_remove = geteuid() == 0 || r->user == (long)geteuid();
    int rc = can_remove ? record_clear(l, r->gpu, (uid_t)r->user, &err) : 0;
    if (can_remove || put_back)
        snprintf(note, CLOCKS_NOTE_MAX, "GPU %s: the run %s had set its clocks; %s%s%.200s", r->gpu,
                 r->run_id, why,
                 rc == 0 ? "" : ", but its record cannot be removed: ", rc == 0 ? "" : err.msg);
    return rc;
}

struct recovery {
    const struct layout *layout;
    const json_t *gpus;
    const char *run_id;
    char *note;
    int rc;
};

static int recover(const struct recovery *search, const struct clocks_record *r)
{
    const struct layout *l = search->layout;
    struct clocks_gpu gpu;
    struct err err;
    const char *why = settled(l, search->gpus, r);
    if (why)
        return forget(l, r, search->note, why, false);
    if (!clocks_gpu_find(l, search->gpus, r->gpu, &gpu)) {
        snprintf(search->note, CLOCKS_NOTE_MAX,
                 "GPU %s: the run %s had set its clocks, and the GPU is not visible now", r->gpu, r->run_id);
        return -1;
    }
    if (control_put_back(&gpu, &r->before, &err) == CONTROL_DONE)
        return forget(l, r, search->note, "they were put back", true);
    snprintf(search->note, CLOCKS_NOTE_MAX,
             "GPU %s still has the clocks that the run %s set (%s, %d MHz): %.300s", r->gpu, r->run_id,
             clocks_mode_names[r->set.mode], r->set.mhz, err.msg);
    return -1;
}

static void recover_one(const struct clocks_record *r, void *arg)
{
    struct recovery *search = arg;
    search->rc |= recover(search, r);
}

int clocks_recover(const struct layout *l, const json_t *gpus, const char *name, char *note)
{
    struct recovery search = {.layout = l, .gpus = gpus, .note = note};
    *note = '\0';
    record_each(l, name, recover_one, &search);
    return search.rc;
}

static void recover_if_free(const struct clocks_record *r, void *arg)
{
    struct recovery *search = arg;
    struct lock lock = {.fd = -1};
    struct err err;
    char path[FS_PATH_MAX];
    if (strcmp(r->run_id, search->run_id) != 0 ||
        machine_gpu_file(search->layout, r->gpu, "lock", path, &err) != 0 ||
        lock_open_shared(&lock, path, &err) != 0)
        return;
    if (lock_try_after(&lock, path, r->run_id, &err) == 1)
        recover_one(r, arg);
    lock_close(&lock);
}

int clocks_recover_run(const struct layout *l, const json_t *gpus, const char *run_id, char *note)
{
    struct recovery search = {.layout = l, .gpus = gpus, .run_id = run_id, .note = note};
    *note = '\0';
    record_each(l, NULL, recover_if_free, &search);
    return search.rc;
}

struct listing {
    const struct layout *layout;
    const json_t *gpus;
    json_t *out;
};

/* Root can set clocks; others can where the file of their GPU lets them. */
static bool may_set(const struct layout *l, const json_t *gpus, const char *name)
{
    struct clocks_gpu gpu;
    char path[FS_PATH_MAX];
    if (geteuid() == 0)
        return true;
    return clocks_gpu_find(l, gpus, name, &gpu) && !gpu.nvidia &&
           fs_join(path, NULL, gpu.device, "power_dpm_force_performance_level") == 0 &&
           access(path, W_OK) == 0;
}

static void list_one(const struct clocks_record *r, void *arg)
{
    struct listing *list = arg;
    struct lock_holder holder = {.held = false};
    char path[FS_PATH_MAX], user[32];
    if (settled(list->layout, list->gpus, r))
        return;
    if (machine_gpu_file(list->layout, r->gpu, "lock", path, NULL) == 0)
        lock_look(path, &holder, NULL);
    snprintf(user, sizeof user, "%ld", r->user);
    json_array_append_new(
        list->out, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:b}", "gpu", r->gpu, "run_id", r->run_id,
                             "user", user, "since", r->since, "mode", clocks_mode_names[r->set.mode], "mhz",
                             r->set.mhz, "held", holder.held && strcmp(holder.what, r->run_id) == 0,
                             "can_put_back", (int)may_set(list->layout, list->gpus, r->gpu)));
}

json_t *clocks_left(const struct layout *l, const json_t *gpus)
{
    struct listing list = {.layout = l, .gpus = gpus, .out = json_array()};
    record_each(l, NULL, list_one, &list);
    return list.out;
}
