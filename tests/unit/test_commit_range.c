/* commit_range: what is said to lie between two commits, over histories of every shape, and where they are
 * known in part. A history is a line: "c:ab" is a commit c with the parents a and b. */
#include "tests/unit/results_support.h"

#include "results/store/commit_range.h"

/* "c" as a whole id. */
static void id_of(char letter, char out[COMMIT_ID_MAX])
{
    snprintf(out, COMMIT_ID_MAX, "%040x", (unsigned)letter);
}

static void add_commit(struct commit_list *log, const char *text)
{
    struct commit *c = &log->items[log->count++];
    *c = (struct commit){0};
    id_of(text[0], c->id);
    snprintf(c->subject, sizeof c->subject, "subject of %c", text[0]);
    for (const char *p = text + 2; *p && *p != ' '; p++) {
        char id[COMMIT_ID_MAX];
        id_of(*p, id);
        size_t used = strlen(c->parents);
        snprintf(c->parents + used, sizeof c->parents - used, "%s%s", used ? " " : "", id);
    }
}

/* Stores a run of the commit `head` that knows these commits. */
static int64_t store_history(struct store *s, int night, char head, const char *history)
{
    struct draft d;
    draft_night(&d, night);
    draft_shot(&d, "v", 4096, 1, 10.0);
    d.commits.items = calloc(64, sizeof *d.commits.items);
    for (const char *p = history; p && *p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
        add_commit(&d.commits, p);
    id_of(head, d.info.revision.commit);
    snprintf(d.info.revision.subject, sizeof d.info.revision.subject, "subject of %c", head);
    return must_store(s, &d);
}

static struct commit_range *range_of(const char *name, const char *history, char from, char to)
{
    static struct commit_range out;
    struct err err = {0};
    struct store s = open_store(name);
    struct run_revision a = {0}, b = {0};
    store_history(&s, 0, to, history);
    id_of(from, a.commit);
    id_of(to, b.commit);
    assert_ok(commit_range_load(&s, &a, &b, &out, &err), &err);
    store_close(&s);
    return &out;
}

static void assert_range(const struct commit_range *r, enum range_kind kind, size_t count, bool exact,
                         const char *listed)
{
    assert_string_equal(range_kind_name(r->kind), range_kind_name(kind));
    assert_int_equal(r->count, count);
    assert_int_equal(r->exact, exact);
    assert_int_equal(r->n_listed, strlen(listed));
    for (size_t i = 0; i < r->n_listed; i++) {
        char id[COMMIT_ID_MAX];
        id_of(listed[i], id);
        assert_string_equal(r->listed[i].id, id);
        assert_int_equal(r->listed[i].subject[strlen("subject of ")], listed[i]);
    }
}

TEST(a_line_of_commits_is_counted)
{
    static const char line[] = "a: b:a c:b d:c e:d";
    assert_range(range_of("line.db", line, 'b', 'e'), RANGE_ON, 3, true, "edc");
    assert_range(range_of("line1.db", line, 'd', 'e'), RANGE_ON, 1, true, "e");
    assert_range(range_of("line2.db", line, 'e', 'b'), RANGE_BACK, 0, true, "");
    assert_range(range_of("line3.db", line, 'c', 'c'), RANGE_SAME, 0, true, "");
}

/* a - b - d - m, with c from a merged by m. */
TEST(what_a_merge_brought_counts)
{
    static const char merge[] = "a: b:a c:a d:b m:dc";
    assert_range(range_of("merge.db", merge, 'd', 'm'), RANGE_ON, 2, true, "mc");
    assert_range(range_of("merge1.db", merge, 'c', 'm'), RANGE_ON, 3, true, "mdb");
    assert_range(range_of("merge2.db", merge, 'a', 'm'), RANGE_ON, 4, true, "mdcb");
}

TEST(branches_have_a_merge_base)
{
    char a[COMMIT_ID_MAX];
    const struct commit_range *r = range_of("apart.db", "o: a:o b:a c:b x:a y:x", 'c', 'y');
    id_of('a', a);
    assert_range(r, RANGE_APART, 2, true, "yx");
    assert_string_equal(r->base, a);
}

/* Two merges across: x and y are both best common ancestors of m and n, so neither is named. */
TEST(two_merge_bases_are_not_one)
{
    const struct commit_range *r = range_of("cross.db", "a: x:a y:a m:xy n:yx", 'm', 'n');
    assert_range(r, RANGE_APART, 1, true, "n");
    assert_string_equal(r->base, "");
}

TEST(histories_without_a_common_commit_are_apart)
{
    const struct commit_range *r = range_of("strangers.db", "a: b:a x: y:x", 'b', 'y');
    assert_range(r, RANGE_APART, 2, true, "yx");
    assert_string_equal(r->base, "");
}

/* The parents of c were never stored. */
TEST(beyond_the_stored_history_there_are_more)
{
    assert_range(range_of("beyond.db", "c:b d:c e:d", 'a', 'e'), RANGE_OPEN, 3, false, "edc");
    assert_range(range_of("nothing.db", "", 'a', 'e'), RANGE_OPEN, 0, false, "");
}

/* d merges a branch whose beginning, x, is not stored: it may be an ancestor of b or not. */
TEST(a_branch_of_unknown_beginning_is_at_least_that_long)
{
    assert_range(range_of("side.db", "b:a c:b y:x d:cy", 'b', 'd'), RANGE_ON, 3, false, "dcy");
}

/* Of e only the newest two commits are known, of b all: b may be an ancestor of e, and is. */
TEST(the_history_of_the_first_may_end_too)
{
    static const char history[] = "a: b:a d:c e:d";
    assert_range(range_of("first.db", history, 'e', 'b'), RANGE_OPEN, 2, false, "ba");
    assert_range(range_of("first1.db", history, 'b', 'e'), RANGE_OPEN, 2, false, "ed");
    assert_range(range_of("first2.db", "b:a c:b d:c", 'b', 'd'), RANGE_ON, 2, true, "dc");
}

TEST(nights_add_to_what_is_known)
{
    AUTO(store_close) struct store s = open_store("nights.db");
    struct err err = {0};
    struct commit_range r;
    int64_t first = store_history(&s, 0, 'b', "a: b:a"), second = store_history(&s, 1, 'd', "c:b d:c");
    struct run_data x = must_load(&s, first), y = must_load(&s, second);
    assert_ok(commit_range_load(&s, &x.info.revision, &y.info.revision, &r, &err), &err);
    assert_range(&r, RANGE_ON, 2, true, "dc");
    assert_string_equal(y.info.revision.subject, "subject of d");
    run_data_release(&x);
    run_data_release(&y);
}

TEST(a_run_without_a_commit_has_no_range)
{
    AUTO(store_close) struct store s = open_store("without.db");
    struct err err = {0};
    struct commit_range r;
    struct run_revision none = {0}, some = {0};
    id_of('a', some.commit);
    assert_ok(commit_range_load(&s, &none, &some, &r, &err), &err);
    assert_range(&r, RANGE_NONE, 0, false, "");
    assert_ok(commit_range_load(&s, &some, &none, &r, &err), &err);
    assert_range(&r, RANGE_NONE, 0, false, "");
}

/* Only a forged bundle has a commit among its own ancestors. */
TEST(a_circle_ends)
{
    assert_range(range_of("circle.db", "a:c b:a c:b", 'x', 'c'), RANGE_APART, 3, true, "cba");
}

TEST(a_long_list_is_cut)
{
    char line[512] = "A:";
    for (int c = 'B'; c <= 'Z'; c++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " %c:%c", c, c - 1);
    const struct commit_range *r = range_of("cut.db", line, 'A', 'Z');
    assert_int_equal(r->count, 25);
    assert_int_equal(r->n_listed, RANGE_LISTED_MAX);
}

/* Between the ends there are more commits than are looked at. */
TEST(a_search_has_an_end)
{
    AUTO(store_close) struct store s = open_store("search.db");
    struct err err = {0};
    struct commit_range r;
    struct commit_list log = {.items = calloc(RANGE_SEARCHED_MAX + 100, sizeof *log.items)};
    struct run_revision from = {0}, to = {0};
    for (size_t i = 0; i < RANGE_SEARCHED_MAX + 100; i++) {
        snprintf(log.items[i].id, COMMIT_ID_MAX, "%040zx", i);
        if (i > 0)
            memcpy(log.items[i].parents, log.items[i - 1].id, 41);
        log.count++;
    }
    int64_t key = store_history(&s, 0, 'z', "");
    memcpy(from.commit, log.items[0].id, 41);
    memcpy(to.commit, log.items[log.count - 1].id, 41);
    assert_ok(sql_exec(&s, "DELETE FROM run_revision", &err), &err);
    assert_ok(revision_store(&s, key, &to, &log, &err), &err);
    assert_ok(commit_range_load(&s, &from, &to, &r, &err), &err);
    assert_string_equal(range_kind_name(r.kind), "open");
    assert_int_equal(r.count, RANGE_SEARCHED_MAX);
    commit_list_release(&log);
}

GROUP(scratch_make, scratch_remove);
