#include "harness/transport/spool.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_file(struct spool *s, const char *dir, struct err *err)
{
    s->file = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->file >= 0)
        return 0;
    /* Some file systems do not support O_TMPFILE. */
    char name[FS_PATH_MAX];
    if (fs_join(name, err, dir, ".spool.XXXXXX"))
        return -1;
    s->file = mkostemp(name, O_CLOEXEC);
    if (s->file < 0 || unlink(name) < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s", name);
    return 0;
}

int spool_open(struct spool *s, const char *dir, struct err *err)
{
    *s = (struct spool){.file = -1, .memory = xmalloc(SPOOL_MEMORY)};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    return open_file(s, dir, err);
}

void spool_close(struct spool *s)
{
    if (s->file >= 0)
        close(s->file);
    free(s->memory);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
}

static void keep_tail(struct spool *s, const char *data, size_t len)
{
    size_t n = len < SPOOL_TAIL ? len : SPOOL_TAIL;
    memmove(s->tail, s->tail + n, SPOOL_TAIL - n);
    memcpy(s->tail + SPOOL_TAIL - n, data + len - n, n);
}

/* The other thread does not read this part before `added` is advanced. */
static void add_to_memory(struct spool *s, uint64_t at, const char *data, size_t len)
{
    size_t from = (size_t)(at % SPOOL_MEMORY);
    size_t first = len < SPOOL_MEMORY - from ? len : SPOOL_MEMORY - from;
    memcpy(s->memory + from, data, first);
    memcpy(s->memory, data + first, len - first);
}

/* The file uses positions of the stream as well, so parts that went through memory are holes. */
static int add_to_file(struct spool *s, uint64_t at, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = pwrite(s->file, data, len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

/* Whether the next len bytes go to the file. Memory is used again once everything has been taken. */
static bool choose_place(struct spool *s, size_t len)
{
    pthread_mutex_lock(&s->lock);
    if (s->spilled && s->taken == s->added)
        s->spilled = false;
    if (!s->spilled && len > SPOOL_MEMORY - (s->added - s->taken)) {
        s->spilled = true;
        s->spilled_at = s->added;
    }
    bool spilled = s->spilled;
    pthread_mutex_unlock(&s->lock);
    return spilled;
}

int spool_add(struct spool *s, const char *data, size_t len, struct err *err)
{
    uint64_t at = s->added; /* only this thread changes it */
    if (!choose_place(s, len))
        add_to_memory(s, at, data, len);
    else if (add_to_file(s, at, data, len) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "cannot keep what arrived");
    keep_tail(s, data, len);
    pthread_mutex_lock(&s->lock);
    s->added = at + len;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

void spool_stop(struct spool *s, bool abandoned)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    s->abandoned = abandoned;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* The number of bytes that can be taken at once, and whether they are in the file; -1 if abandoned. */
static int64_t wait_for_bytes(struct spool *s, bool *in_file)
{
    pthread_mutex_lock(&s->lock);
    s->taken += s->held;
    s->held = 0;
    while (s->added == s->taken && !s->ended)
        pthread_cond_wait(&s->changed, &s->lock);
    *in_file = s->spilled && s->taken >= s->spilled_at;
    uint64_t end = s->spilled && !*in_file ? s->spilled_at : s->added;
    int64_t left = s->abandoned ? -1 : (int64_t)(end - s->taken);
    pthread_mutex_unlock(&s->lock);
    return left;
}

static ssize_t take_from_file(struct spool *s, int64_t left)
{
    ssize_t n;
    do
        n = pread(s->file, s->block, left < SPOOL_BLOCK ? (size_t)left : SPOOL_BLOCK, (off_t)s->taken);
    while (n < 0 && errno == EINTR);
    return n;
}

ssize_t spool_take(struct spool *s, const void **data)
{
    bool in_file;
    int64_t left = wait_for_bytes(s, &in_file);
    if (left < 0) {
        errno = ECANCELED;
        return -1;
    }
    size_t from = (size_t)(s->taken % SPOOL_MEMORY);
    int64_t in_a_row = (int64_t)(SPOOL_MEMORY - from);
    ssize_t n = in_file ? take_from_file(s, left) : left < in_a_row ? left : in_a_row;
    if (n < 0)
        return -1;
    s->held = (uint64_t)n;
    *data = in_file ? s->block : s->memory + from;
    return n;
}
