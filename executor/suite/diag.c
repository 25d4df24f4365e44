#include "executor/suite/diag.h"

#include "common/base/alloc.h"
#include "executor/bundle/logtext.h"
#include "executor/process/proctree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 16, PROC_TEXT_MAX = 4096, LOG_END = 8192 };

static void append(void *arg, const char *data, size_t len)
{
    logtext_lines(arg, data, len);
}

/* The file was cut where its text may end within a secret: that is left out. */
static void add_clean(struct buf *out, const char *text, size_t len, const struct secrets *secrets)
{
    struct secrets_stream stream;
    secrets_stream_init(&stream, secrets, append, out);
    secrets_stream_feed(&stream, text, len);
    if (len < PROC_TEXT_MAX)
        secrets_stream_end(&stream);
    secrets_stream_release(&stream);
}

static void add_proc_file(struct buf *out, pid_t pid, const char *name, const struct secrets *secrets)
{
    char path[64], text[PROC_TEXT_MAX];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (n == 0)
        buf_printf(out, "%s: (empty)\n", name); /* an empty stack: it was in user space */
    if (n <= 0)
        return;
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] == '\0')
            text[i] = ' '; /* cmdline is separated by NUL */
    }
    buf_printf(out, "%s: ", name);
    if (memchr(text, '\n', (size_t)n - 1))
        buf_putc(out, '\n');
    add_clean(out, text, (size_t)n, secrets);
    if (text[n - 1] != '\n')
        buf_putc(out, '\n');
}

/* The few lines of /proc/PID/status that matter here. */
static void add_status(struct buf *out, pid_t pid)
{
    static const char *const wanted[] = {"Name:", "State:", "PPid:", "VmRSS:", "Threads:", NULL};
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    AUTO_FCLOSE FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        for (size_t i = 0; wanted[i]; i++) {
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                logtext_lines(out, line, strlen(line));
        }
    }
}

void diag_processes(struct buf *out, pid_t root, const struct secrets *secrets)
{
    struct proctree tree;
    proctree_listed(&tree, root);
    for (size_t i = 0; i < tree.count && i < PROCESSES_MAX; i++) {
        buf_printf(out, "\n== process %ld when it was stopped ==\n", (long)tree.pid[i]);
        add_status(out, tree.pid[i]);
        add_proc_file(out, tree.pid[i], "cmdline", secrets);
        add_proc_file(out, tree.pid[i], "wchan", secrets);
        add_proc_file(out, tree.pid[i], "syscall", secrets);
        add_proc_file(out, tree.pid[i], "stack", secrets);
    }
    if (tree.count > PROCESSES_MAX)
        buf_printf(out, "\n(%zu more processes)\n", tree.count - PROCESSES_MAX);
}

void diag_sample(struct buf *out, const char *title, const struct sample *s)
{
    buf_printf(out, "%s:", title);
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        if (sample_has(s, (enum sample_field)i))
            buf_printf(out, " %s=%.*f", sample_key((enum sample_field)i),
                       sample_is_whole_number((enum sample_field)i) ? 0 : 1, s->value[i]);
    }
    buf_printf(out, " (at %.3f s)\n", s->t_s);
}

void diag_log_end(struct buf *out, const struct runlog *log)
{
    AUTO(buf_release) struct buf tail = {.max = LOG_END};
    runlog_tail(log, LOG_END, &tail);
    buf_printf(out, "\n== the end of run.log ==\n");
    logtext_lines(out, buf_str(&tail), tail.len);
}
