#include "executor/bundle/journal.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "executor/workdir/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a line that ends at `at` is one of ours. A test may have written others between them, even with
 * numbers that no journal of this length can have reached. */
static bool is_event(const struct journal *j, const json_t *line, off_t at)
{
    json_int_t seq = json_integer_value(json_object_get(line, "seq"));
    return json_is_string(json_object_get(line, "event")) && seq > j->seq && seq <= at;
}

/* Reads a line with its end, and adds its length to *at. What is too long for an event is kept in part; false
 * at the end of the file, or of what may be ours. */
static bool read_line(FILE *f, struct buf *line, off_t *at)
{
    int c;
    buf_clear(line);
    for (off_t n = 1; n <= JOURNAL_FOREIGN_MAX && (c = getc_unlocked(f)) != EOF; n++) {
        buf_putc(line, (char)c);
        if (c == '\n') {
            *at += n;
            return true;
        }
    }
    return false;
}

/* Reads the existing events; *good: the length up to the end of the last one. */
static int replay_events(struct journal *j, FILE *f, off_t *good, journal_visit *visit, void *arg,
                         struct err *err)
{
    AUTO(buf_release) struct buf line = {.max = LIMIT_EVENT_LINE};
    off_t at = 0;
    while (read_line(f, &line, &at)) {
        json_auto_t *event = buf_ok(&line) ? json_loadb(buf_str(&line), line.len, 0, NULL) : NULL;
        if (!is_event(j, event, at))
            continue;
        j->seq = json_integer_value(json_object_get(event, "seq"));
        *good = at;
        if (visit && visit(event, arg, err) != 0)
            return -1;
    }
    return 0;
}

static int read_back(struct journal *j, const char *path, journal_visit *visit, void *arg, struct err *err)
{
    AUTO_FCLOSE FILE *f = fopen(path, "re");
    off_t good = 0;
    if (!f)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read the journal", path);
    if (replay_events(j, f, &good, visit, arg, err) != 0)
        return -1;
    j->end = good;
    return ftruncate(j->fd, good) == 0 ? 0
                                       : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot truncate", path);
}

int journal_open(struct journal *j, const char *path, const struct secrets *secrets, journal_visit *visit,
                 void *arg, struct err *err)
{
    *j = (struct journal){.secrets = secrets};
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (j->fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the journal", path);
    if (read_back(j, path, visit, arg, err) == 0)
        return 0;
    journal_close(j);
    return -1;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
}

/* Returns the file's end, cut back to ours if others wrote more than anyone would follow. */
static off_t find_end(struct journal *j)
{
    off_t end = lseek(j->fd, 0, SEEK_END);
    j->foreign |= end >= 0 && end != j->end;
    return end - j->end > JOURNAL_FOREIGN_MAX && ftruncate(j->fd, j->end) == 0 ? j->end : end;
}

/* What another process left without the end of a line must not swallow the next event. */
static off_t end_foreign_line(struct journal *j, off_t end)
{
    char last = '\n';
    if (end <= 0 || end == j->end || pread(j->fd, &last, 1, end - 1) != 1 || last == '\n')
        return end;
    return fs_write_all(j->fd, "\n", 1) == 0 ? end + 1 : end;
}

/* An event is one write(); a short one (on a full disk) is truncated away, so that no torn line stays in the
 * middle. */
static int append_line(struct journal *j, const char *data, size_t len, struct err *err)
{
    off_t end = end_foreign_line(j, find_end(j));
    j->end = end + (off_t)len;
    if (end >= 0 && fs_write_all(j->fd, data, len) == 0)
        return 0;
    int saved = errno;
    if (end >= 0 && ftruncate(j->fd, end) != 0)
        saved = errno;
    j->end = end;
    return err_set_errno(err, ERR_STORAGE, saved, "events.jsonl: cannot write");
}

/* The open file is complete, whatever happened to its name. */
static void put_back(struct journal *j, const char *path)
{
    struct err ignored;
    char data[64 << 10];
    int fd = fs_remove_tree(path, &ignored) == 0
                 ? open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    ssize_t n = 0;
    for (off_t at = 0; fd >= 0 && (n = pread(j->fd, data, sizeof data, at)) > 0; at += n)
        if (fs_write_all(fd, data, (size_t)n) != 0)
            break;
    if (fd < 0 || n != 0) {
        if (fd >= 0)
            close(fd);
        return;
    }
    close(j->fd);
    j->fd = fd;
}

bool journal_was_changed(struct journal *j, const char *path)
{
    (void)find_end(j);
    if (held_is_at(j->fd, path))
        return j->foreign;
    put_back(j, path);
    return j->foreign = true;
}

static int encode_event(struct journal *j, enum event_type type, json_t *fields, struct buf *line,
                        struct err *err)
{
    char ts[CLOCK_ISO_LEN + 1];
    clock_iso8601(clock_real_s(), ts);
    json_auto_t *event =
        json_pack("{s:I, s:s, s:s}", "seq", (json_int_t)(j->seq + 1), "ts", ts, "event", event_name(type));
    json_auto_t *clean = secrets_clean_json(j->secrets, fields);
    json_object_update_missing(event, clean);
    return json_encode(event, line, err);
}

int journal_add(struct journal *j, enum event_type type, json_t *fields, struct err *err)
{
    AUTO(buf_release) struct buf line = {.max = LIMIT_EVENT_LINE - 1};
    json_auto_t *taken = fields;
    if (!taken)
        return err_set(err, ERR_INTERNAL, "the text of an event is not UTF-8");
    if (encode_event(j, type, taken, &line, err) != 0)
        return -1;
    line.max++;
    buf_putc(&line, '\n');
    if (append_line(j, buf_str(&line), line.len, err) != 0)
        return -1;
    j->seq++;
    return 0;
}

void journal_last_words(struct journal *j, const char *message)
{
    char line[512], ts[CLOCK_ISO_LEN + 1];
    clock_iso8601(clock_real_s(), ts);
    int n = snprintf(line, sizeof line,
                     "{\"seq\": %lld, \"ts\": \"%s\", \"event\": \"%s\", \"message\": \"%s\"}\n",
                     (long long)++j->seq, ts, event_name(EVENT_NODE), message);
    (void)append_line(j, line, (size_t)n, NULL);
}

int journal_sync(struct journal *j, struct err *err)
{
    if (fdatasync(j->fd) == 0 || errno == EINVAL)
        return 0;
    return err_set_errno(err, ERR_STORAGE, errno, "events.jsonl: cannot sync");
}
