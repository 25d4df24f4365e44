/* A back-end: the process tree's memory and CPU, from /proc/PID/stat of each member, ten times per second
 * once a test is older than that. The list of members is the costly part and is refreshed rarely: after a
 * tenth of the elapsed time, at least once per second. */
#include "common/base/alloc.h"
#include "executor/process/proctree.h"
#include "executor/telemetry/backend.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMBERS_MAX = 256, STAT_MAX = 1024, FIELD_UTIME = 14, FIELD_STIME = 15, FIELD_RSS = 24 };

static const double cpu_window_s = 0.1;   /* ticks are 10 ms: a shorter window only shows noise */
static const double half_tick_s = 0.0005; /* a sample is a little early or late */

struct member {
    pid_t pid;
    int fd;
    unsigned long long ticks;
    double stopped_since_s; /* NaN: it is not stopped */
};

struct process_tree {
    pid_t root;
    size_t count;
    struct member member[MEMBERS_MAX];
    double next_refresh_s, next_read_s, last_read_s;
    double window_start_s;
    unsigned long long window_ticks;
    double ticks_per_s, page_bytes;
    struct proctree tree;
    struct proctree_seen *seen; /* borrowed, or NULL */
};

static void add_member(struct process_tree *p, pid_t pid)
{
    char path[64];
    for (size_t i = 0; i < p->count; i++) {
        if (p->member[i].pid == pid)
            return;
    }
    if (p->count == MEMBERS_MAX)
        return;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        p->member[p->count++] = (struct member){.pid = pid, .fd = fd, .stopped_since_s = NAN};
    if (fd >= 0 && p->seen)
        proctree_note(p->seen, pid);
}

static void refresh(struct process_tree *p, double t_s)
{
    proctree_listed(&p->tree, p->root);
    for (size_t i = 0; i < p->tree.count; i++)
        add_member(p, p->tree.pid[i]);
    double step = t_s / 10;
    p->next_refresh_s = t_s + (step > 1 ? 1 : step);
}

/* A process that stays stopped to the end held nothing up. One that goes on did, from the reading before it
 * was first seen stopped. A dead one (Z, X) does not go on. */
static void note_stop(struct member *m, char state, double before_s, struct sample *out)
{
    if (state == 'T' && isnan(m->stopped_since_s))
        m->stopped_since_s = before_s;
    if (state == 'T' || isnan(m->stopped_since_s))
        return;
    if (state != 'Z' && state != 'X')
        out->resumed_s = fmax(out->resumed_s, out->t_s - m->stopped_since_s);
    m->stopped_since_s = NAN;
}

/* Returns false when the process is gone. */
static bool read_member(struct member *m, double before_s, unsigned long long *ticks,
                        unsigned long long *pages, struct sample *out)
{
    char text[STAT_MAX];
    ssize_t n = pread(m->fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *p = strrchr(text, ')');
    *ticks = *pages = 0;
    out->runnable |= p && strncmp(p, ") R", 3) == 0;
    if (p && strlen(p) > 2)
        note_stop(m, p[2], before_s, out);
    for (int field = 2; p && field < FIELD_RSS; field++) {
        p = strchr(p, ' ');
        if (!p)
            return false;
        p++;
        if (field + 1 == FIELD_UTIME || field + 1 == FIELD_STIME)
            *ticks += strtoull(p, NULL, 10);
        else if (field + 1 == FIELD_RSS)
            *pages = strtoull(p, NULL, 10);
    }
    return p != NULL;
}

static void process_read(void *state, struct sample *out)
{
    struct process_tree *p = state;
    unsigned long long ticks, pages, rss = 0;
    if (out->t_s >= cpu_window_s && out->t_s < p->next_read_s)
        return;
    p->next_read_s = out->t_s + cpu_window_s - half_tick_s;
    if (out->t_s >= p->next_refresh_s)
        refresh(p, out->t_s);
    for (size_t i = 0; i < p->count;) {
        struct member *m = &p->member[i];
        if (!read_member(m, p->last_read_s, &ticks, &pages, out)) {
            close(m->fd);
            *m = p->member[--p->count];
            continue;
        }
        p->window_ticks += ticks - m->ticks;
        m->ticks = ticks;
        rss += pages;
        i++;
    }
    p->last_read_s = out->t_s;
    if (p->count == 0)
        return;
    if (rss > 0) /* 0 until exec has set up the program's memory */
        sample_put(out, SAMPLE_RSS, (double)rss * p->page_bytes);
    double window = out->t_s - p->window_start_s;
    if (window < cpu_window_s - half_tick_s)
        return;
    sample_put(out, SAMPLE_CPU, (double)p->window_ticks / p->ticks_per_s / window * 100);
    p->window_start_s = out->t_s;
    p->window_ticks = 0;
}

static void *process_open(const struct telemetry_target *target)
{
    if (target->pid <= 0)
        return NULL;
    struct process_tree *p = xcalloc(1, sizeof *p);
    p->root = target->pid;
    p->seen = target->seen;
    p->ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    p->page_bytes = (double)sysconf(_SC_PAGESIZE);
    return p;
}

static void process_close_all(void *state)
{
    AUTO_FREE struct process_tree *p = state;
    for (size_t i = 0; i < p->count; i++)
        close(p->member[i].fd);
}

const struct telemetry_backend telemetry_process_tree = {
    .name = "process tree",
    .per_test = true,
    .open = process_open,
    .read = process_read,
    .close = process_close_all,
};
