#include "results/source.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Reading a folder takes several times as long as storing it: threads read, ahead of the caller by a few
 * folders at most, and the caller stores in the order of the list. */
enum { THREADS_MAX = 8, AHEAD = 4 };

/* One folder between its reader and the caller. */
struct parcel {
    bool ready;
    bool known; /* in the store already: result says so, there is no draft */
    bool failed;
    struct draft draft;
    struct ingest_result result;
    struct err err;
};

struct reading {
    struct store *store;
    const char *const *dirs;
    size_t count;
    const struct ingest_options *options;
    struct parcel *parcels; /* a ring: folder i lies in parcels[i % window] */
    size_t window;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a parcel became ready, or was taken */
    size_t next;          /* the folder that the next reader takes */
    size_t taken;         /* folders that the caller is done with */
    pthread_mutex_t store_lock;
};

static int look_up(struct reading *r, const struct run_info *info, struct parcel *p)
{
    pthread_mutex_lock(&r->store_lock);
    int rc = ingest_known(r->store, info, &p->result, &p->err);
    pthread_mutex_unlock(&r->store_lock);
    return rc;
}

static void read_folder(struct reading *r, const char *dir, struct parcel *p)
{
    struct source f;
    struct run_info info = {0};
    p->known = false;
    p->err = (struct err){0};
    p->result = (struct ingest_result){0};
    draft_init(&p->draft);
    int rc = source_open(&f, dir, r->options, &info, &p->err);
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
    struct reading *r = arg;
    pthread_mutex_lock(&r->lock);
    while (r->next < r->count) {
        size_t i = r->next++;
        while (i >= r->taken + r->window)
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

static void store_parcel(struct reading *r, struct parcel *p)
{
    if (!p->failed && !p->known) {
        pthread_mutex_lock(&r->store_lock);
        p->failed = ingest_draft(r->store, &p->draft, &p->result, &p->err) != 0;
        pthread_mutex_unlock(&r->store_lock);
    }
    draft_release(&p->draft);
}

static void store_folders(struct reading *r, ingest_told_fn *told, void *arg)
{
    for (size_t i = 0; i < r->count; i++) {
        struct parcel *p = &r->parcels[i % r->window];
        pthread_mutex_lock(&r->lock);
        while (!p->ready)
            pthread_cond_wait(&r->moved, &r->lock);
        pthread_mutex_unlock(&r->lock);
        store_parcel(r, p);
        told(arg, r->dirs[i], p->failed ? NULL : &p->result, &p->err);
        pthread_mutex_lock(&r->lock);
        p->ready = false;
        r->taken++;
        pthread_cond_broadcast(&r->moved);
        pthread_mutex_unlock(&r->lock);
    }
}

/* One more than there are cores: now and then one of them waits for the store. */
static size_t wanted_threads(size_t folders)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores >= THREADS_MAX ? THREADS_MAX : (size_t)cores + 1;
    return n < folders ? n : folders;
}

static int run_threads(struct reading *r, ingest_told_fn *told, void *arg, struct err *err)
{
    pthread_t threads[THREADS_MAX];
    size_t wanted = wanted_threads(r->count), n = 0;
    while (n < wanted && pthread_create(&threads[n], NULL, read_folders, r) == 0)
        n++;
    if (n > 0 || r->count == 0)
        store_folders(r, told, arg);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return n > 0 || r->count == 0 ? 0 : err_set(err, ERR_INTERNAL, "no thread to read the folders with");
}

int ingest_bundles(struct store *s, const char *const *dirs, size_t n, const struct ingest_options *options,
                   ingest_told_fn *told, void *arg, struct err *err)
{
    struct reading r = {.store = s,
                        .dirs = dirs,
                        .count = n,
                        .options = options,
                        .window = wanted_threads(n) + AHEAD,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .moved = PTHREAD_COND_INITIALIZER,
                        .store_lock = PTHREAD_MUTEX_INITIALIZER};
    r.parcels = calloc(r.window, sizeof *r.parcels);
    if (!r.parcels)
        return err_set(err, ERR_INTERNAL, "no memory to read %zu folders", n);
    int rc = run_threads(&r, told, arg, err);
    free(r.parcels);
    pthread_cond_destroy(&r.moved);
    pthread_mutex_destroy(&r.store_lock);
    pthread_mutex_destroy(&r.lock);
    return rc;
}
