#include "results/ingest/ingest.h"
#include "results/ingest/source.h"
#include "results/store/sql.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Reading a folder takes several times as long as storing it: threads read, at most a few folders ahead of
 * the caller, and the caller stores in the order of the list. Each run modifies one page of the history's
 * index per cell, so several runs share a transaction; each is stored completely or not at all, and reported
 * after the commit. */
enum { THREADS_MAX = 8, AHEAD = 4, BATCH = 16 };
static const double batch_s = 0.2; /* do not block other writers for longer */

/* A folder on its way from a reader to the caller. */
struct parcel {
    bool ready;
    bool known; /* already stored: result is set, there is no draft */
    bool failed;
    struct draft draft;
    struct ingest_result result;
    struct err err;
};

struct pipeline {
    struct store *store;
    const char *const *dirs;
    size_t count;
    const struct ingest_options *options;
    ingest_told_fn *told;
    void *told_arg;
    struct parcel *parcels; /* a ring: folder i uses parcels[i % window] */
    size_t window, ahead;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a parcel became ready, was stored, or was reported */
    size_t next;          /* the next folder to read */
    size_t stored;        /* how many folders were stored or failed */
    size_t taken;         /* how many of those were reported */
    pthread_mutex_t store_lock;
    bool open; /* a transaction is open; this and the following members are used by the caller only */
    double since;
    bool lost; /* a transaction failed: runs that look-ups found meanwhile may have been part of it */
    struct err lost_err;
};

static int look_up(struct pipeline *r, const struct run_info *info, struct parcel *p)
{
    pthread_mutex_lock(&r->store_lock);
    int rc = ingest_known(r->store, info, r->options && r->options->replace, &p->result, &p->err);
    pthread_mutex_unlock(&r->store_lock);
    return rc;
}

static void read_folder(struct pipeline *r, const char *dir, struct parcel *p)
{
    struct source f = {.bundle.files.fd = -1};
    struct run_info info = {0};
    p->known = false;
    p->err = (struct err){0};
    p->result = (struct ingest_result){0};
    draft_init(&p->draft);
    int rc = store_is_interrupted(r->store) ? err_set(&p->err, ERR_INTERRUPTED, "interrupted")
                                            : source_open(&f, dir, r->options, &info, &p->err);
    if (rc == 0)
        rc = look_up(r, &info, p);
    p->known = rc > 0;
    if (rc == 0)
        rc = source_read(&f, &p->draft, &p->err);
    p->failed = rc < 0;
    source_release(&f);
}

static void *read_folders(void *arg)
{
    struct pipeline *r = arg;
    pthread_mutex_lock(&r->lock);
    while (r->next < r->count) {
        size_t i = r->next++;
        while (i >= r->taken + r->window || i >= r->stored + r->ahead)
            pthread_cond_wait(&r->moved, &r->lock);
        pthread_mutex_unlock(&r->lock);
        read_folder(r, r->dirs[i], &r->parcels[i % r->window]);
        pthread_mutex_lock(&r->lock);
        r->parcels[i % r->window].ready = true;
        pthread_cond_broadcast(&r->moved);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static struct parcel *parcel_of(struct pipeline *r, size_t folder)
{
    return &r->parcels[folder % r->window];
}

static void fail_parcel(struct parcel *p, const struct err *err)
{
    if (p->failed)
        return;
    p->failed = true;
    p->err = *err;
}

/* The transaction failed, and with it all runs that were waiting for its end. */
static void lose_batch(struct pipeline *r, const struct err *err)
{
    r->open = false;
    r->lost = true;
    r->lost_err = *err;
    for (size_t i = r->taken; i < r->stored; i++)
        fail_parcel(parcel_of(r, i), err);
}

static int begin_batch(struct pipeline *r, struct err *err)
{
    if (r->open)
        return 0;
    if (sql_exec(r->store, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    r->open = true;
    r->since = clock_mono_s();
    return 0;
}

static int store_draft(struct pipeline *r, struct parcel *p)
{
    return begin_batch(r, &p->err) != 0 ? -1 : ingest_draft_within(r->store, &p->draft, &p->result, &p->err);
}

static void store_parcel(struct pipeline *r, const char *dir, struct parcel *p)
{
    pthread_mutex_lock(&r->store_lock);
    if (p->known && r->lost)
        fail_parcel(p, &r->lost_err);
    if (!p->failed)
        p->failed = (p->known ? ingest_moved(r->store, dir, &p->result, &p->err) : store_draft(r, p)) != 0;
    if (r->open && sqlite3_get_autocommit(r->store->db))
        lose_batch(r, &p->err);
    pthread_mutex_unlock(&r->store_lock);
    draft_release(&p->draft);
}

static void commit_batch(struct pipeline *r)
{
    struct err err = {0};
    if (!r->open)
        return;
    pthread_mutex_lock(&r->store_lock);
    if (sql_end(r->store, 0, &err) != 0)
        lose_batch(r, &err);
    r->open = false;
    pthread_mutex_unlock(&r->store_lock);
}

static void end_batch(struct pipeline *r)
{
    commit_batch(r);
    for (size_t i = r->taken; i < r->stored; i++) {
        struct parcel *p = parcel_of(r, i);
        r->told(r->told_arg, r->dirs[i], p->failed ? NULL : &p->result, &p->err);
    }
    pthread_mutex_lock(&r->lock);
    for (; r->taken < r->stored; r->taken++)
        parcel_of(r, r->taken)->ready = false;
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->lock);
}

static bool is_overdue(const struct pipeline *r)
{
    return r->open && clock_mono_s() >= r->since + batch_s;
}

/* Waits until the parcel is ready or an open transaction is overdue. */
static bool wait_for(struct pipeline *r, const struct parcel *p)
{
    double until = r->since + batch_s, whole = floor(until);
    const struct timespec at = {(time_t)whole, (long)((until - whole) * 1e9)};
    pthread_mutex_lock(&r->lock);
    while (!p->ready && !is_overdue(r))
        if (r->open)
            pthread_cond_timedwait(&r->moved, &r->lock, &at);
        else
            pthread_cond_wait(&r->moved, &r->lock);
    bool ready = p->ready;
    pthread_mutex_unlock(&r->lock);
    return ready;
}

static void store_folders(struct pipeline *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct parcel *p = parcel_of(r, i);
        while (!wait_for(r, p))
            end_batch(r);
        store_parcel(r, r->dirs[i], p);
        pthread_mutex_lock(&r->lock);
        r->stored = i + 1;
        pthread_cond_broadcast(&r->moved);
        pthread_mutex_unlock(&r->lock);
        if (!r->open || r->stored - r->taken == BATCH || is_overdue(r))
            end_batch(r);
    }
    end_batch(r);
}

/* One more than there are cores, because readers sometimes wait for the store. */
static size_t wanted_threads(size_t folders)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores >= THREADS_MAX ? THREADS_MAX : (size_t)cores + 1;
    return n < folders ? n : folders;
}

static int run_threads(struct pipeline *r, struct err *err)
{
    pthread_t threads[THREADS_MAX];
    size_t wanted = wanted_threads(r->count), n = 0;
    while (n < wanted && pthread_create(&threads[n], NULL, read_folders, r) == 0)
        n++;
    if (n > 0 || r->count == 0)
        store_folders(r);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return n > 0 || r->count == 0 ? 0
                                  : err_set(err, ERR_INTERNAL, "cannot start a thread to read the folders");
}

int ingest_bundles(struct store *s, const char *const *dirs, size_t n, const struct ingest_options *options,
                   ingest_told_fn *told, void *arg, struct err *err)
{
    size_t ahead = wanted_threads(n) + AHEAD;
    struct pipeline r = {.store = s,
                         .dirs = dirs,
                         .count = n,
                         .options = options,
                         .told = told,
                         .told_arg = arg,
                         .window = ahead + BATCH,
                         .ahead = ahead,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .store_lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_t monotonic;
    r.parcels = xcalloc(r.window, sizeof *r.parcels);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r.moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int rc = run_threads(&r, err);
    free(r.parcels);
    pthread_cond_destroy(&r.moved);
    pthread_mutex_destroy(&r.store_lock);
    pthread_mutex_destroy(&r.lock);
    return rc;
}
