#include "harness/nightly/timer.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/run.h"
#include "common/base/sha256.h"
#include "common/base/text.h"
#include "harness/nightly/lost_hour.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double program_deadline_s = 30;
enum { TEXT_MAX = 1 << 20, NAME_MAX_BYTES = 96 };

static int must_succeed(const char *const *argv, const struct buf *input, struct err *err)
{
    struct run_result res;
    char what[64];
    if (run_capture(argv, input, program_deadline_s, NULL, &res, err) != 0)
        return -1;
    snprintf(what, sizeof what, "%s %s", argv[0], argv[1]);
    return run_expect_success(&res, what, err);
}

#define NAME_HEAD "kernsweep-nightly-"

/* Selects timers by the end of their names: "-1a2b3c" for all timers of a plan's file, whatever its ticket
 * was; or one whole name. */
struct timer_filter {
    char end[NAME_MAX_BYTES];
};

static struct timer_filter filter_of_file(const char *file)
{
    char sha[SHA256_HEX_LEN + 1];
    struct timer_filter w;
    sha256_of(file, strlen(file), sha);
    snprintf(w.end, sizeof w.end, "-%.6s", sha);
    return w;
}

static bool filter_matches(const struct timer_filter *w, const char *name, size_t len)
{
    static const size_t head = sizeof NAME_HEAD - 1;
    size_t end = strlen(w->end);
    return len > head && len >= end && memcmp(name, NAME_HEAD, head) == 0 &&
           memcmp(name + len - end, w->end, end) == 0;
}

/* "kernsweep-nightly-prefill-1a2b3c". out: char[NAME_MAX_BYTES]. */
static void name_of(const struct plan *p, char *out)
{
    struct timer_filter w = filter_of_file(p->file);
    snprintf(out, NAME_MAX_BYTES, NAME_HEAD "%.32s%.8s", p->settings.ticket, w.end);
}

/* "02:30" to hours and minutes. */
static int parse_time(const char *at, int *hour, int *minute, struct err *err)
{
    char end;
    if (!at)
        at = "02:30";
    /* sscanf() alone would take signs and spaces. */
    if (strlen(at) != 5 || at[2] != ':' || strspn(at, "0123456789:") != 5 ||
        sscanf(at, "%2d:%2d%c", hour, minute, &end) != 2 || *hour > 23 || *minute > 59)
        return err_set(err, ERR_INPUT, "--at: expected a time of day such as 02:30, found \"%.40s\"", at);
    return 0;
}

static int check_words(const char *const *argv, struct err *err)
{
    for (size_t i = 0; argv[i]; i++)
        if (strpbrk(argv[i], "\n\r"))
            return err_set(err, ERR_INPUT, "a timer cannot use a path that contains a line break");
    return 0;
}

/* ---- systemd ---- */

static bool has_systemd(void)
{
    static const char *const argv[] = {"systemctl", "--user", "show-environment", NULL};
    struct err ignored = {0};
    return must_succeed(argv, NULL, &ignored) == 0;
}

/* systemd interprets quotes, backslashes, specifiers and variables in a word of ExecStart. */
static void put_unit_word(struct buf *out, const char *word)
{
    buf_putc(out, '"');
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            buf_putc(out, '\\');
        else if (*word == '%' || *word == '$')
            buf_putc(out, *word);
        buf_putc(out, *word);
    }
    buf_putc(out, '"');
}

static void write_service(const struct nightly_timer *t, struct buf *out)
{
    buf_printf(
        out,
        "# Made by `kernsweep nightly --install-timer`.\n[Unit]\nDescription=kernsweep nightly run of %s\n"
        "Wants=network-online.target\nAfter=network-online.target\n\n[Service]\nType=oneshot\n"
        "ExecStart=",
        t->plan->settings.ticket);
    for (size_t i = 0; t->argv[i]; i++) {
        if (i)
            buf_putc(out, ' ');
        put_unit_word(out, t->argv[i]);
    }
    buf_puts(out, "\n# A failed test and a regression are results; the plan's \"notify\" reports them.\n"
                  "SuccessExitStatus=1 4\nNice=5\nUMask=0077\n");
}

static void write_timer(const struct nightly_timer *t, int hour, int minute, struct buf *out)
{
    buf_printf(
        out,
        "# Made by `kernsweep nightly --install-timer`.\n[Unit]\nDescription=kernsweep nightly run of %s, "
        "every night\n\n[Timer]\nOnCalendar=*-*-* %02d:%02d:00\nPersistent=true\n\n[Install]\n"
        "WantedBy=timers.target\n",
        t->plan->settings.ticket, hour, minute);
}

/* path: char[FS_PATH_MAX]. */
static int units_dir(char *path, struct err *err)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool own = config && *config == '/';
    if (!own && (!home || *home != '/'))
        return err_set(err, ERR_STORAGE, "HOME is not set: no folder for systemd units");
    return fs_join(path, err, own ? config : home, own ? "systemd/user" : ".config/systemd/user");
}

/* path: char[FS_PATH_MAX]. */
static int unit_path(const char *name, const char *suffix, char *path, struct err *err)
{
    char dir[FS_PATH_MAX], file[NAME_MAX_BYTES + 16];
    snprintf(file, sizeof file, "%.*s.%s", NAME_MAX_BYTES, name, suffix);
    return units_dir(dir, err) != 0 ? -1 : fs_join(path, err, dir, file);
}

/* Writes the unit unless the file has this content. */
static int put_unit(const struct nightly_timer *t, const char *name, const char *suffix,
                    const struct buf *text, struct err *err)
{
    char path[FS_PATH_MAX], dir[FS_PATH_MAX];
    AUTO(buf_release) struct buf old = {.max = TEXT_MAX};
    if (unit_path(name, suffix, path, err) != 0)
        return -1;
    fs_parent(path, dir);
    if (fs_read_file(path, TEXT_MAX, &old, NULL) == 0 && old.len == text->len &&
        memcmp(buf_str(&old), buf_str(text), old.len) == 0) {
        fprintf(t->say, "%s is up to date\n", path);
        return 0;
    }
    if (fs_mkdir_p(dir, 0755, err) != 0 || fs_write_file(path, buf_str(text), text->len, 0644, err) != 0)
        return -1;
    fprintf(t->say, "wrote %s\n", path);
    return 0;
}

static int reload(struct err *err)
{
    static const char *const argv[] = {"systemctl", "--user", "daemon-reload", NULL};
    return must_succeed(argv, NULL, err);
}

static int remove_unit(const char *name, FILE *say, struct err *err)
{
    static const char *const suffixes[] = {"timer", "service"};
    char timer[NAME_MAX_BYTES + 8], path[FS_PATH_MAX];
    snprintf(timer, sizeof timer, "%s.timer", name);
    const char *const disable[] = {"systemctl", "--user", "disable", "--now", timer, NULL};
    if (must_succeed(disable, NULL, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (unit_path(name, suffixes[i], path, err) != 0)
            return -1;
        if (unlink(path) != 0 && errno != ENOENT)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot remove", path);
        fprintf(say, "removed %s\n", path);
    }
    return reload(err);
}

/* Removes the units of a plan, except the one named keep, which may be NULL. */
static int remove_units(const struct timer_filter *w, const char *keep, FILE *say, bool *found,
                        struct err *err)
{
    char dir[FS_PATH_MAX], name[NAME_MAX_BYTES];
    if (units_dir(dir, err) != 0)
        return -1;
    DIR *d = opendir(dir);
    struct dirent *e;
    int rc = 0;
    while (d && rc == 0 && (e = readdir(d))) {
        const char *end = strstr(e->d_name, ".timer");
        size_t len = end ? (size_t)(end - e->d_name) : 0;
        if (!end || end[6] || len >= sizeof name || !filter_matches(w, e->d_name, len))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)len, e->d_name);
        if ((keep && strcmp(name, keep) == 0) || !has_systemd())
            continue;
        *found = true;
        rc = remove_unit(name, say, err);
    }
    if (d)
        closedir(d);
    return rc;
}

/* systemd starts nothing at a time that a day does not have; cron does so when the hour is over. */
static void note_lost_hour(int hour, int minute, FILE *say)
{
    char day[LOST_HOUR_DAY_LEN + 1], other[LOST_HOUR_DAY_LEN + 1];
    int later = (hour + 1) % 24;
    const time_t now = time(NULL);
    if (!lost_hour_find(now, hour, minute, day))
        return;
    while (later != hour && lost_hour_find(now, later, minute, other))
        later = (later + 1) % 24;
    fprintf(say,
            "note: %02d:%02d does not exist on %s, when clocks go forward, and systemd skips that night: "
            "--at %02d:%02d exists every day\n",
            hour, minute, day, later, minute);
}

static int install_units(const struct nightly_timer *t, const char *name, int hour, int minute,
                         struct err *err)
{
    char timer[NAME_MAX_BYTES + 8];
    AUTO(buf_release) struct buf service = {.max = TEXT_MAX};
    AUTO(buf_release) struct buf when = {.max = TEXT_MAX};
    write_service(t, &service);
    write_timer(t, hour, minute, &when);
    snprintf(timer, sizeof timer, "%s.timer", name);
    const char *const enable[] = {"systemctl", "--user", "enable", "--now", timer, NULL};
    const struct timer_filter w = filter_of_file(t->plan->file);
    bool ignored = false;
    if (!buf_ok(&service) || !buf_ok(&when))
        return err_set(err, ERR_INTERNAL, "the command of the nightly run is too long");
    /* those that go are of the same plan under an earlier ticket */
    if (remove_units(&w, name, t->say, &ignored, err) != 0 ||
        put_unit(t, name, "service", &service, err) != 0 || put_unit(t, name, "timer", &when, err) != 0 ||
        reload(err) != 0 || must_succeed(enable, NULL, err) != 0)
        return -1;
    fprintf(t->say,
            "enabled %s, every day at %02d:%02d; `loginctl enable-linger` lets it run when you are not "
            "logged in\n",
            timer, hour, minute);
    note_lost_hour(hour, minute, t->say);
    return 0;
}

/* ---- crontab ---- */

/* Reads the user's crontab without the lines of this plan. *had: there were such lines; *there: cron is
 * installed. */
static int read_crontab(const struct timer_filter *w, struct buf *out, bool *had, bool *there,
                        struct err *err)
{
    static const char *const argv[] = {"crontab", "-l", NULL};
    struct run_result res;
    AUTO(buf_release) struct buf text = {.max = TEXT_MAX};
    *had = *there = false;
    if (run_capture(argv, NULL, program_deadline_s, &text, &res, err) != 0)
        return -1;
    *there = res.exited && res.exit_code != SPAWN_NOT_FOUND;
    if (*there && res.exit_code != 0 && !strstr(res.stderr_text, "no crontab for") &&
        run_expect_success(&res, "crontab -l", err) != 0)
        return -1;
    for (const char *line = buf_str(&text); *line; line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n");
        const char *mark = memrchr(line, '#', len);
        bool ours = mark && mark[1] == ' ' && filter_matches(w, mark + 2, len - (size_t)(mark + 2 - line));
        *had = *had || ours;
        if (!ours)
            buf_printf(out, "%.*s\n", (int)len, line);
        if (!line[len])
            break;
    }
    return 0;
}

static int write_crontab(const struct buf *text, struct err *err)
{
    static const char *const argv[] = {"crontab", "-", NULL};
    return buf_ok(text) ? must_succeed(argv, text, err)
                        : err_set(err, ERR_STORAGE, "the crontab is longer than %d bytes", TEXT_MAX);
}

/* cron ends a command at an unescaped '%', even inside quotes. */
static void put_cron_line(const struct nightly_timer *t, const char *name, int hour, int minute,
                          struct buf *out)
{
    AUTO(buf_release) struct buf command = {.max = TEXT_MAX};
    text_shell_join(&command, t->argv);
    buf_puts(&command, " >>");
    text_shell_quote(&command, t->log);
    buf_puts(&command, " 2>&1");
    buf_printf(out, "%d %d * * *  ", minute, hour);
    for (const char *c = buf_str(&command); *c; c++) {
        if (*c == '%')
            buf_putc(out, '\\');
        buf_putc(out, *c);
    }
    buf_printf(out, " # %s\n", name);
}

static int install_cron(const struct nightly_timer *t, const char *name, int hour, int minute,
                        struct err *err)
{
    const struct timer_filter w = filter_of_file(t->plan->file);
    bool had, there;
    AUTO(buf_release) struct buf table = {.max = TEXT_MAX};
    if (read_crontab(&w, &table, &had, &there, err) != 0)
        return -1;
    if (!there)
        return err_set(
            err, ERR_STORAGE,
            "neither a systemd user instance nor crontab is available: schedule `kernsweep nightly` by other "
            "means");
    size_t before = table.len;
    put_cron_line(t, name, hour, minute, &table);
    if (write_crontab(&table, err) != 0)
        return -1;
    fprintf(t->say, "no systemd user instance; %s this line in your crontab:\n%s", had ? "updated" : "added",
            buf_str(&table) + before);
    return 0;
}

static int remove_cron(const struct timer_filter *w, const char *word, FILE *say, bool *found,
                       struct err *err)
{
    bool had, there;
    AUTO(buf_release) struct buf table = {.max = TEXT_MAX};
    if (read_crontab(w, &table, &had, &there, err) != 0)
        return -1;
    if (!had)
        return 0;
    *found = true;
    if (write_crontab(&table, err) != 0)
        return -1;
    fprintf(say, "removed the line of %s from your crontab\n", word);
    return 0;
}

int nightly_timer_install(const struct nightly_timer *t, struct err *err)
{
    char name[NAME_MAX_BYTES];
    int hour, minute;
    name_of(t->plan, name);
    if (parse_time(t->at, &hour, &minute, err) != 0 || check_words(t->argv, err) != 0)
        return -1;
    return has_systemd() ? install_units(t, name, hour, minute, err)
                         : install_cron(t, name, hour, minute, err);
}

int nightly_timer_remove(const char *word, FILE *say, struct err *err)
{
    bool found = false;
    struct timer_filter w;
    if (strncmp(word, NAME_HEAD, strlen(NAME_HEAD)) == 0)
        snprintf(w.end, sizeof w.end, "%.*s", (int)strcspn(word, "."), word);
    else
        w = filter_of_file(word);
    if (remove_units(&w, NULL, say, &found, err) != 0 || remove_cron(&w, word, say, &found, err) != 0)
        return -1;
    if (!found)
        fprintf(say, "there is no timer for %s\n", word);
    return 0;
}
