#include "harness/git/revision.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/spawn.h"
#include "common/base/text.h"
#include "harness/git/files.h"
#include "harness/git/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ID_MAX = 65,
    SUBJECT_MAX = 160,
    NAME_MAX_BYTES = 64,
    PATH_SHOWN_MAX = 200,
    PARENTS_MAX = 16, /* a commit with more is omitted from the log */
    ANSWER_MAX = 64 << 10,
    STATUS_MAX = 4 << 20,
    LOG_BYTES_MAX = 4 << 20,
};

/* A description while it is built. */
struct describing {
    const char *dir;
    const char *const *include;
    int64_t deadline_ns;
    char id[ID_MAX];
    char prefix[FS_PATH_MAX];  /* path of dir from the top of the work tree, with a final slash; or "" */
    char shallow[FS_PATH_MAX]; /* the file that lists where a shallow clone was cut, if there is one */
    json_t *out;
};

static int ask(struct describing *d, const char *const *args, struct buf *out, struct err *err)
{
    int left_ms = clock_left_ms(d->deadline_ns);
    if (left_ms == 0)
        return err_set(err, ERR_STORAGE, "%s: git took too long: is the folder on a slow file system?",
                       d->dir);
    return git_output_within(d->dir, args, left_ms / 1e3, out, err);
}

/* Returns the first line of an answer, or "" if git has none, which is not an error. */
static void ask_line(struct describing *d, const char *const *args, char *out, size_t size)
{
    struct err ignored = {0};
    AUTO(buf_release) struct buf answer = {.max = ANSWER_MAX};
    *out = '\0';
    if (ask(d, args, &answer, &ignored) == 0)
        snprintf(out, size, "%.*s", (int)strcspn(buf_str(&answer), "\n"), buf_str(&answer));
}

static bool below_a_repository(const char *dir)
{
    char at[FS_PATH_MAX], git[FS_PATH_MAX];
    snprintf(at, sizeof at, "%s", dir);
    for (;;) {
        if (fs_join(git, NULL, at, ".git") == 0 && fs_exists(git))
            return true;
        char *slash = strrchr(at, '/');
        if (!slash || at[1] == '\0')
            return false;
        slash[slash == at] = '\0';
    }
}

/* Takes the next line of *at, without its end. */
static void take_line(const char **at, char *out, size_t size)
{
    size_t len = strcspn(*at, "\n");
    snprintf(out, size, "%.*s", (int)len, *at);
    *at += len + ((*at)[len] == '\n');
}

/* Returns 0 if there is no work tree. */
static int find_tree(struct describing *d, struct err *err)
{
    static const char *const args[] = {"rev-parse", "--is-inside-work-tree", "--git-path",
                                       "shallow",   "--show-prefix",         NULL};
    char inside[8], shallow[FS_PATH_MAX];
    AUTO(buf_release) struct buf answer = {.max = ANSWER_MAX};
    if (ask(d, args, &answer, err) != 0)
        return -1;
    const char *at = buf_str(&answer);
    take_line(&at, inside, sizeof inside);
    take_line(&at, shallow, sizeof shallow);
    take_line(&at, d->prefix, sizeof d->prefix);
    if (*shallow == '/')
        snprintf(d->shallow, sizeof d->shallow, "%s", shallow);
    else if (fs_join(d->shallow, err, d->dir, shallow) != 0)
        return -1;
    return strcmp(inside, "true") == 0;
}

/* Returns false if there is no commit yet, or if the commit does not contain dir. */
static bool find_commit(struct describing *d, const char *commit)
{
    char wanted[ID_MAX + 16], tree[ID_MAX];
    snprintf(wanted, sizeof wanted, "%s^{commit}", commit);
    const char *const head[] = {"rev-parse", "--verify", "--quiet", "--end-of-options", wanted, NULL};
    ask_line(d, head, d->id, sizeof d->id);
    if (!git_is_id(d->id, strlen(d->id)))
        return false;
    snprintf(wanted, sizeof wanted, "%s:./", d->id);
    const char *const folder[] = {"rev-parse", "--verify", "--quiet", "--end-of-options", wanted, NULL};
    ask_line(d, folder, tree, sizeof tree);
    return git_is_id(tree, strlen(tree));
}

static json_t *text_of(const char *s, size_t size)
{
    char clean[PATH_SHOWN_MAX];
    text_printable_fixed(clean, size < sizeof clean ? size : sizeof clean, s, strlen(s));
    return json_string(clean);
}

static json_t *time_of(const char *seconds)
{
    char iso[CLOCK_ISO_LEN + 1] = "", *end;
    double at = strtod(seconds, &end);
    if (end != seconds && !*end && at > 0)
        clock_iso8601(at, iso);
    return json_string(iso);
}

/* Returns NULL if there are too many. */
static json_t *parents_of(const char *list)
{
    json_auto_t *parents = json_array();
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, " ");
        if (!git_is_id(at, len) || json_array_size(parents) == PARENTS_MAX)
            return NULL;
        json_array_append_new(parents, json_stringn(at, len));
        at += len + strspn(at + len, " ");
    }
    return json_incref(parents);
}

enum field { ID, PARENTS, TIME, AUTHOR, SUBJECT, FIELDS };

/* Reads the fields of the next commit. Returns false at the end. */
static bool take_commit(const char **at, const char *end, const char *field[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        const char *stop = memchr(*at, '\0', (size_t)(end - *at));
        if (!stop)
            return false;
        field[i] = *at;
        *at = stop + 1;
    }
    return git_is_id(field[ID], strlen(field[ID]));
}

static void describe_head(struct describing *d, const char *const field[FIELDS])
{
    json_object_set_new(d->out, "subject", text_of(field[SUBJECT], SUBJECT_MAX));
    json_object_set_new(d->out, "authored_at", time_of(field[TIME]));
}

/* A commit at which a shallow clone was cut has no parents in git's output and would look like the first
 * commit of all, so it is omitted. */
static void add_to_log(json_t *log, const char *const field[FIELDS], const char *cut)
{
    json_t *parents = strstr(cut, field[ID]) ? NULL : parents_of(field[PARENTS]);
    if (parents)
        json_array_append_new(log, json_pack("{s:s, s:o, s:o, s:o, s:o}", "id", field[ID], "parents", parents,
                                             "subject", text_of(field[SUBJECT], SUBJECT_MAX), "author",
                                             text_of(field[AUTHOR], NAME_MAX_BYTES), "authored_at",
                                             time_of(field[TIME])));
}

static void read_log(struct describing *d, const struct buf *text, const char *cut)
{
    const char *field[FIELDS], *at = buf_str(text), *end = at + text->len;
    json_t *log = json_array();
    bool first = true;
    for (; take_commit(&at, end, field); first = false) {
        if (first)
            describe_head(d, field);
        add_to_log(log, field, cut);
    }
    json_object_set_new(d->out, "log", log);
}

static int add_log(struct describing *d, struct err *err)
{
    char count[32];
    snprintf(count, sizeof count, "--max-count=%d", REVISION_LOG_MAX);
    const char *const args[] = {"log",
                                "-z",
                                "--no-patch",
                                "--no-show-signature",
                                "--encoding=UTF-8",
                                "--format=tformat:%H%x00%P%x00%at%x00%an%x00%s",
                                count,
                                "--end-of-options",
                                d->id,
                                "--",
                                NULL};
    AUTO(buf_release) struct buf text = {.max = LOG_BYTES_MAX};
    AUTO(buf_release) struct buf cut = {.max = LOG_BYTES_MAX};
    if (ask(d, args, &text, err) != 0 ||
        (fs_exists(d->shallow) && fs_read_file(d->shallow, LOG_BYTES_MAX, &cut, err) != 0))
        return -1;
    read_log(d, &text, buf_str(&cut));
    return 0;
}

/* text: "XY path" for each file, NUL-terminated, relative to the top of the work tree. */
static void read_status(struct describing *d, const struct buf *text)
{
    const char *at = buf_str(text), *end = at + text->len;
    size_t prefix = strlen(d->prefix);
    json_t *files = json_array();
    json_int_t count = 0;
    for (; at < end; at += strlen(at) + 1) {
        if (strlen(at) < 4 + prefix || strncmp(at + 3, d->prefix, prefix) != 0 ||
            !git_file_is_sent(d->include, at + 3 + prefix, *at != '?'))
            continue;
        if (count++ < REVISION_FILES_MAX)
            json_array_append_new(files, text_of(at + 3 + prefix, PATH_SHOWN_MAX));
    }
    json_object_set_new(d->out, "dirty", json_boolean(count > 0));
    json_object_set_new(d->out, "dirty_files", files);
    json_object_set_new(d->out, "dirty_count", json_integer(count));
}

static int add_state(struct describing *d, struct err *err)
{
    static const char *const args[] = {"status",
                                       "--porcelain=v1",
                                       "-z",
                                       "--no-renames",
                                       "--untracked-files=all",
                                       "--ignore-submodules=none",
                                       "--",
                                       ".",
                                       NULL};
    AUTO(buf_release) struct buf text = {.max = STATUS_MAX};
    if (ask(d, args, &text, err) != 0)
        return -1;
    read_status(d, &text);
    return 0;
}

static void add_branch(struct describing *d)
{
    static const char *const args[] = {"symbolic-ref", "--quiet", "--short", "HEAD", NULL};
    char branch[FS_PATH_MAX];
    ask_line(d, args, branch, sizeof branch);
    json_object_set_new(d->out, "branch", text_of(branch, NAME_MAX_BYTES));
}

static int begin(struct describing *d, const char *dir, double deadline_s, json_t **out, struct err *err)
{
    *out = NULL;
    *d = (struct describing){.dir = dir, .deadline_ns = clock_deadline_ns(deadline_s)};
    if (!below_a_repository(dir))
        return 0;
    if (!spawn_on_path("git"))
        return err_set(err, ERR_INPUT, "%s: git is not installed", dir);
    return find_tree(d, err);
}

static int finish(struct describing *d, int rc, json_t **out, struct err *err)
{
    if (rc == 0 && clock_left_ms(d->deadline_ns) == 0) /* then an answer may be missing */
        rc = err_set(err, ERR_STORAGE, "%s: git took too long: is the folder on a slow file system?", d->dir);
    if (rc == 0)
        *out = d->out;
    else
        json_decref(d->out);
    return rc;
}

int revision_describe(const char *dir, const char *const *include, double deadline_s, json_t **out,
                      struct err *err)
{
    struct describing d;
    int rc = begin(&d, dir, deadline_s, out, err);
    if (rc <= 0)
        return rc;
    d.include = include;
    if (!find_commit(&d, "HEAD"))
        return finish(&d, 0, out, err);
    d.out = json_pack("{s:s}", "commit", d.id);
    add_branch(&d);
    rc = add_state(&d, err) != 0 ? -1 : add_log(&d, err);
    return finish(&d, rc, out, err);
}

int revision_describe_commit(const char *dir, const char *commit, double deadline_s, json_t **out,
                             struct err *err)
{
    struct describing d;
    int rc = begin(&d, dir, deadline_s, out, err);
    if (rc <= 0)
        return rc;
    if (!git_is_id(commit, strlen(commit)) || !find_commit(&d, commit))
        return finish(&d, 0, out, err);
    d.out = json_pack("{s:s, s:s, s:b, s:[], s:i}", "commit", d.id, "branch", "", "dirty", 0, "dirty_files",
                      "dirty_count", 0);
    return finish(&d, add_log(&d, err), out, err);
}
