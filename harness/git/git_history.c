#include "harness/git/git_history.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "harness/git/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX = 8 << 20, FIELDS = 4 };

/* Each field ends with a NUL, which no commit can contain. */
static const char format[] = "--format=tformat:%H%x00%at%x00%s%x00%P%x00";

/* Turns off what the user's settings, such as log.showSignature, would add to the output. */
#define PLAIN "--no-patch", "--no-show-signature", "--encoding=UTF-8"

/* Adds a parent if it is in the list, where parents precede their children. */
static int add_parent(struct git_commits *l, const char *id, size_t len, struct err *err)
{
    struct git_commit *c = &l->items[l->count];
    for (size_t i = l->count; i-- > 0;) {
        if (strlen(l->items[i].id) != len || memcmp(l->items[i].id, id, len) != 0)
            continue;
        if (c->n_parents == GIT_PARENTS_MAX)
            return err_set(err, ERR_INPUT, "commit %.12s has more than %d parents: use --first-parent", c->id,
                           GIT_PARENTS_MAX);
        c->parents[c->n_parents++] = i;
        return 0;
    }
    return 0;
}

static int find_parents(struct git_commits *l, const char *ids, bool first_only, const char *from,
                        struct err *err)
{
    for (const char *at = ids; *at;) {
        size_t len = strcspn(at, " ");
        if (add_parent(l, at, len, err) != 0)
            return -1;
        l->items[l->count].after_first |= strlen(from) == len && memcmp(from, at, len) == 0;
        at += len + strspn(at + len, " ");
        if (first_only)
            break;
    }
    return 0;
}

/* Converts seconds since the epoch to a time in UTC. */
static void format_time(char at[GIT_TIME_MAX])
{
    char *end;
    double seconds = strtod(at, &end);
    bool valid = end != at && !*end && seconds > 0;
    at[0] = '\0';
    if (valid)
        clock_iso8601(seconds, at);
}

/* Reads the record at *at and moves *at to the next one; git separates records by newlines. */
static int read_commit(const char **at, const char *end, struct git_commit *out, const char **parents,
                       struct err *err)
{
    char *const texts[FIELDS - 1] = {out->id, out->authored_at, out->subject};
    const size_t sizes[FIELDS - 1] = {sizeof out->id, sizeof out->authored_at, sizeof out->subject};
    for (int i = 0; i < FIELDS; i++) {
        const char *stop = memchr(*at, '\0', (size_t)(end - *at));
        if (!stop)
            return err_set(err, ERR_INPUT, "git log: a commit is cut off");
        if (i < FIELDS - 1)
            text_printable_fixed(texts[i], sizes[i], *at, (size_t)(stop - *at));
        else
            *parents = *at;
        *at = stop + 1;
    }
    *at += *at < end && **at == '\n';
    format_time(out->authored_at);
    return git_is_id(out->id, strlen(out->id)) ? 0 : err_set(err, ERR_INPUT, "git log: found no commit's id");
}

static int read_commits(const struct buf *text, bool first_only, const char *from, struct git_commits *out,
                        struct err *err)
{
    const char *at = buf_str(text), *end = at + text->len, *parents = "";
    size_t room = 1;
    for (const char *c = at; c < end; c++)
        room += *c == '\0';
    out->items = xcalloc(room / FIELDS + 2, sizeof *out->items); /* one more for add_last() */
    for (; at < end; out->count++)
        if (read_commit(&at, end, &out->items[out->count], &parents, err) != 0 ||
            find_parents(out, parents, first_only, from, err) != 0)
            return -1;
    return 0;
}

/* from: the commit after which the range begins, or "". */
static int log_commits(const char *dir, const char *const *args, bool first_only, const char *from,
                       struct git_commits *out, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = OUTPUT_MAX};
    *out = (struct git_commits){0};
    if (git_output(dir, args, &text, err) == 0 && read_commits(&text, first_only, from, out, err) == 0)
        return 0;
    git_commits_release(out);
    return -1;
}

void git_commits_release(struct git_commits *l)
{
    free(l->items);
    *l = (struct git_commits){0};
}

/* Finds the commit of a word; for a tag, that of the commit it refers to. id: "" if there is none. */
static int ask_id(const char *dir, const char *before, const char *revision, char id[GIT_COMMIT_MAX],
                  struct err *err)
{
    char word[512];
    AUTO(buf_release) struct buf text = {.max = 4096};
    struct err why = {0};
    int n = snprintf(word, sizeof word, "%s%s^{commit}", before, revision);
    *id = '\0';
    if (!*revision || n < 0 || (size_t)n >= sizeof word)
        return err_set(err, ERR_INPUT, "expected a git revision of 1 to %zu bytes", sizeof word - 32);
    const char *const args[] = {"rev-parse", "--verify", "--quiet", "--end-of-options", word, NULL};
    int rc = git_output(dir, args, &text, &why);
    if (rc == 0 && text.len > 0)
        text.data[text.len - 1] = '\0';
    if (rc == 0 && git_is_id(buf_str(&text), strlen(buf_str(&text))))
        snprintf(id, GIT_COMMIT_MAX, "%s", buf_str(&text));
    if (rc == 0 || why.kind == ERR_INPUT)
        return 0;
    *err = why;
    return -1;
}

/* If a branch and a tag have the same name, git would silently use the tag. */
static int check_unambiguous(const char *dir, const char *revision, struct err *err)
{
    char branch[GIT_COMMIT_MAX], tag[GIT_COMMIT_MAX];
    if (ask_id(dir, "refs/heads/", revision, branch, err) != 0 ||
        ask_id(dir, "refs/tags/", revision, tag, err) != 0)
        return -1;
    return !*branch || !*tag || strcmp(branch, tag) == 0
               ? 0
               : err_set(err, ERR_INPUT,
                         "%s: \"%.200s\" is a branch and a tag: say heads/%.200s or tags/%.200s", dir,
                         revision, revision, revision);
}

static bool is_shallow(const char *dir)
{
    static const char *const args[] = {"rev-parse", "--is-shallow-repository", NULL};
    struct err ignored = {0};
    AUTO(buf_release) struct buf out = {.max = 64};
    return git_output(dir, args, &out, &ignored) == 0 && strcmp(buf_str(&out), "true\n") == 0;
}

/* A hint for the case that only a shallow clone lacks the commit. */
static const char *shallow_hint(const char *dir)
{
    return is_shallow(dir) ? " (the clone is shallow: git fetch --unshallow)" : "";
}

/* A shallow clone may lack commits of the range, also where both of its ends are there: those of a branch
 * that was merged. Where it was cut, a commit has no parents. */
static int check_whole(const char *dir, const char *range, bool first_parent, struct err *err)
{
    const char *const args[] = {"rev-list", "--max-parents=0",
                                first_parent ? "--first-parent" : "--topo-order", range, NULL};
    AUTO(buf_release) struct buf cut = {.max = OUTPUT_MAX};
    if (!is_shallow(dir))
        return 0;
    if (git_output(dir, args, &cut, err) != 0)
        return -1;
    return cut.len == 0 ? 0
                        : err_set(err, ERR_INPUT,
                                  "%s: the clone is shallow, and cut at %.12s, within the range: git fetch "
                                  "--unshallow",
                                  dir, buf_str(&cut));
}

static int resolve(const char *dir, const char *revision, char *id, struct err *err)
{
    if (ask_id(dir, "", revision, id, err) != 0)
        return -1;
    if (!*id)
        return err_set(err, ERR_INPUT, "%s: git finds no commit \"%.200s\" there%s", dir, revision,
                       shallow_hint(dir));
    return check_unambiguous(dir, revision, err);
}

int git_commit_find(const char *dir, const char *revision, struct git_commit *out, struct err *err)
{
    char id[GIT_COMMIT_MAX];
    AUTO(git_commits_release) struct git_commits one = {.items = NULL};
    if (resolve(dir, revision, id, err) != 0)
        return -1;
    const char *const args[] = {"log", "-1", PLAIN, format, "--end-of-options", id, "--", NULL};
    if (log_commits(dir, args, false, "", &one, err) != 0)
        return -1;
    if (one.count != 1)
        return err_set(err, ERR_INPUT, "%s: git does not show commit %s", dir, id);
    *out = one.items[0];
    return 0;
}

static int ask_ancestor(const char *dir, const char *from, const char *to, bool *is, struct err *err)
{
    const char *const args[] = {"merge-base", "--is-ancestor", from, to, NULL};
    struct err why = {0};
    AUTO(buf_release) struct buf none = {.max = 16};
    *is = git_output(dir, args, &none, &why) == 0;
    if (*is || why.kind == ERR_INPUT)
        return 0;
    *err = why;
    return -1;
}

static int check_ancestor(const char *dir, const char *from, const char *to, struct err *err)
{
    bool is;
    if (ask_ancestor(dir, from, to, &is, err) != 0)
        return -1;
    return is ? 0
              : err_set(err, ERR_INPUT,
                        "%s: %.12s is not an ancestor of %.12s: there is no range between them%s", dir, from,
                        to, shallow_hint(dir));
}

/* Appends the last commit of the range even if it does not change the path. */
static void add_last(struct git_commits *l, const struct git_commit *last)
{
    struct git_commit *c = &l->items[l->count];
    *c = *last;
    c->after_first = l->count == 0;
    if (l->count > 0)
        c->parents[c->n_parents++] = l->count - 1;
    l->count++;
}

/* Following first parents only, the range need not begin at a child of `from`. In that case, finds the first
 * commit that contains `from`, which merged it. */
static int find_merge(const char *dir, const char *from, struct git_commits *l, struct err *err)
{
    size_t low = 0, high = l->count - 1; /* the last commit contains it */
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].after_first)
            return 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        bool is;
        if (ask_ancestor(dir, from, l->items[middle].id, &is, err) != 0)
            return -1;
        if (is)
            high = middle;
        else
            low = middle + 1;
    }
    l->items[low].after_first = true;
    return 0;
}

int git_commits_count(const char *dir, const char *to, const char *const *without, size_t n,
                      bool first_parent, size_t *out, struct err *err)
{
    const char *args[GIT_ARGS_MAX + 1] = {"rev-list", "--count",
                                          first_parent ? "--first-parent" : "--topo-order", to, "--not"};
    AUTO(buf_release) struct buf text = {.max = 64};
    size_t count = 5;
    for (size_t i = 0; i < n && i < GIT_COUNT_WITHOUT_MAX; i++)
        args[count++] = without[i];
    if (git_output(dir, args, &text, err) != 0)
        return -1;
    *out = (size_t)strtoull(buf_str(&text), NULL, 10);
    return 0;
}

int git_commits_between(const char *dir, const char *from, const char *to, const struct git_range *range,
                        struct git_commits *out, struct err *err)
{
    struct git_commit first, last;
    char words[2 * GIT_COMMIT_MAX + 2], most[32];
    *out = (struct git_commits){0};
    if (git_commit_find(dir, from, &first, err) != 0 || git_commit_find(dir, to, &last, err) != 0 ||
        check_ancestor(dir, first.id, last.id, err) != 0)
        return -1;
    snprintf(words, sizeof words, "%s..%s", first.id, last.id);
    if (check_whole(dir, words, range->first_parent, err) != 0)
        return -1;
    snprintf(most, sizeof most, "--max-count=%d", GIT_RANGE_MAX + 1);
    const char *const args[] = {"log",
                                "--reverse",
                                "--topo-order",
                                "--parents", /* with a path, these are the parents among the listed commits */
                                most,
                                PLAIN,
                                format,
                                range->first_parent ? "--first-parent" : "--no-decorate",
                                "--end-of-options",
                                words,
                                "--",
                                range->path,
                                NULL};
    if (log_commits(dir, args, range->first_parent, first.id, out, err) != 0)
        return -1;
    if (out->count > GIT_RANGE_MAX) {
        git_commits_release(out);
        return err_set(err, ERR_INPUT, "%s: more than %d commits between %.12s and %.12s", dir, GIT_RANGE_MAX,
                       first.id, last.id);
    }
    if (out->count == 0 || strcmp(out->items[out->count - 1].id, last.id) != 0)
        add_last(out, &last);
    if (!range->first_parent || find_merge(dir, first.id, out, err) == 0)
        return 0;
    git_commits_release(out);
    return -1;
}
