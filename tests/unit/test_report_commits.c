/* Commits in what people read: the words of each kind of range, in every language; what a bundle says of its
 * commit, also where it is wrong; and the report of nights over commits. */
#include "reports/report.h"
#include "reports/words/range.h"
#include "tests/unit/results_support.h"

#define ID_A "a1b2c3d000000000000000000000000000000000"
#define ID_B "e4f5a6b000000000000000000000000000000000"
#define ID_C "9f8e7d6000000000000000000000000000000000"

static void says(struct commit_range r, const char *english, const char *spanish)
{
    const char *const want[] = {[REPORT_EN] = english, [REPORT_ES] = spanish};
    snprintf(r.from.commit, sizeof r.from.commit, ID_A);
    snprintf(r.to.commit, sizeof r.to.commit, ID_B);
    for (int lang = 0; lang < REPORT_LANG_COUNT; lang++) {
        AUTO(buf_release) struct buf text = {.max = 1024};
        range_phrase(&r, (enum report_lang)lang, &text);
        assert_string_equal(buf_str(&text), want[lang]);
    }
}

TEST(every_kind_of_range_has_its_words)
{
    says((struct commit_range){.kind = RANGE_NONE}, "", "");
    says((struct commit_range){.kind = RANGE_SAME, .exact = true}, "same commit a1b2c3d",
         "mismo commit a1b2c3d");
    says((struct commit_range){.kind = RANGE_ON, .exact = true, .count = 1}, "a1b2c3d..e4f5a6b, 1 commit",
         "a1b2c3d..e4f5a6b, 1 commit");
    says((struct commit_range){.kind = RANGE_ON, .exact = true, .count = 3, .to.dirty = true},
         "a1b2c3d..e4f5a6b, 3 commits + local changes", "a1b2c3d..e4f5a6b, 3 commits + cambios locales");
    says((struct commit_range){.kind = RANGE_ON, .count = 3, .from.dirty = true},
         "a1b2c3d..e4f5a6b, at least 3 commits (the earlier one with local changes)",
         "a1b2c3d..e4f5a6b, al menos 3 commits (el anterior con cambios locales)");
    says((struct commit_range){.kind = RANGE_OPEN, .count = 300}, "a1b2c3d..e4f5a6b, more than 300 commits",
         "a1b2c3d..e4f5a6b, más de 300 commits");
    says((struct commit_range){.kind = RANGE_OPEN},
         "a1b2c3d..e4f5a6b, the commits between them are not known",
         "a1b2c3d..e4f5a6b, se desconocen los commits intermedios");
    says((struct commit_range){.kind = RANGE_BACK, .exact = true},
         "a1b2c3d..e4f5a6b, back to an earlier commit", "a1b2c3d..e4f5a6b, vuelta a un commit anterior");
    says((struct commit_range){.kind = RANGE_APART, .exact = true, .count = 2, .base = ID_C},
         "a1b2c3d..e4f5a6b, 2 commits; a1b2c3d is not an ancestor (merge base 9f8e7d6)",
         "a1b2c3d..e4f5a6b, 2 commits; a1b2c3d no es un antecesor (base común 9f8e7d6)");
    says((struct commit_range){.kind = RANGE_APART, .exact = true, .count = 2},
         "a1b2c3d..e4f5a6b, 2 commits; a1b2c3d is not an ancestor",
         "a1b2c3d..e4f5a6b, 2 commits; a1b2c3d no es un antecesor");
}

/* Stores a bundle whose job has this "source.git", which it takes over. */
static struct run_data store_with(struct store *s, const char *name, json_t *git, int *warnings)
{
    struct err err = {0};
    struct ingest_result result;
    char path[FS_PATH_MAX], id[64];
    snprintf(id, sizeof id, "20260214T031500Z-%s", name);
    snprintf(path, sizeof path, "%s/job.json", make_bundle(name, id));
    json_t *job = json_load(path, 1 << 20, &err);
    assert_non_null(job);
    json_object_set_new(json_object_get(job, "source"), "git", git);
    assert_ok(json_save(path, job, &err), &err);
    json_decref(job);
    write_manifest(name, id);
    assert_ok(ingest_bundle(s, in_scratch(name), NULL, &result, &err), &err);
    *warnings = result.warnings;
    return must_load(s, result.key);
}

static json_t *git_of(const char *id)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:[s, s], s:i, s:[{s:s, s:[s], s:s, s:s, s:s}]}", "commit",
                     id, "branch", "main", "subject", "a subject", "authored_at", "2026-02-13T20:00:00.000Z",
                     "dirty", 1, "dirty_files", "a.c", "b.c", "dirty_count", 2, "log", "id", ID_B, "parents",
                     ID_A, "subject", "a subject", "author", "An Author", "authored_at",
                     "2026-02-13T20:00:00.000Z");
}

TEST(a_bundle_says_which_commit_it_measured)
{
    AUTO(store_close) struct store s = open_store("said.db");
    int warnings;
    AUTO(run_data_release) struct run_data r = store_with(&s, "said", git_of(ID_B), &warnings);
    const struct run_revision *v = &r.info.revision;
    assert_int_equal(warnings, 0);
    assert_string_equal(v->commit, ID_B);
    assert_string_equal(v->branch, "main");
    assert_string_equal(v->subject, "a subject");
    assert_string_equal(v->authored_at, "2026-02-13T20:00:00.000Z");
    assert_true(v->dirty);
    assert_string_equal(v->dirty_files, "a.c\nb.c");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM git_commit WHERE commit_id = '" ID_B
                                   "' AND parents = '" ID_A "' AND author = 'An Author'"),
                     1);
}

/* As where the id contains a secret, or somebody wrote the bundle by hand. */
TEST(a_commit_that_cannot_be_is_left_out)
{
    AUTO(store_close) struct store s = open_store("wrong.db");
    int warnings;
    json_t *bad_log = git_of(ID_B);
    struct run_data r = store_with(&s, "masked", git_of("a1b***d"), &warnings);
    assert_int_equal(warnings, 1);
    assert_string_equal(r.info.revision.commit, "");
    run_data_release(&r);
    r = store_with(&s, "number", json_integer(1), &warnings);
    assert_string_equal(r.info.revision.commit, "");
    run_data_release(&r);
    json_object_set_new(json_array_get(json_object_get(bad_log, "log"), 0), "parents",
                        json_pack("[s]", "zz"));
    r = store_with(&s, "parents", bad_log, &warnings);
    assert_int_equal(warnings, 1);
    assert_string_equal(r.info.revision.commit, ID_B);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM git_commit"), 0);
    run_data_release(&r);
}

TEST(text_of_a_repository_is_harmless)
{
    AUTO(store_close) struct store s = open_store("harmless.db");
    int warnings;
    json_t *git = git_of(ID_B), *files = json_array();
    char long_path[200], subject[1000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    memset(subject, 's', sizeof subject - 1);
    subject[sizeof subject - 1] = '\0';
    memcpy(subject, "\033[2J\n", 5);
    json_array_append_new(files, json_string("new\nline"));
    json_array_append_new(files, json_string(long_path));
    json_array_append_new(files, json_string(long_path));
    json_object_set_new(git, "dirty_files", files);
    json_object_set_new(git, "dirty_count", json_integer(3));
    json_object_set_new(git, "subject", json_string(subject));
    AUTO(run_data_release) struct run_data r = store_with(&s, "harmless", git, &warnings);
    char want[RUN_FACT_MAX];
    snprintf(want, sizeof want, "new\\x0aline\n%s\n...", long_path);
    assert_int_equal(warnings, 0);
    assert_string_equal(r.info.revision.dirty_files, want);
    assert_memory_equal(r.info.revision.subject, "\\x1b[2J\\x0as", strlen("\\x1b[2J\\x0as"));
    assert_int_equal(strlen(r.info.revision.subject), RUN_SUBJECT_MAX - 1);
}

enum { NIGHTS = 14, SLOWER_FROM = 9 };

/* One commit a night, from the first on; slower from the commit of night SLOWER_FROM. */
static void store_nights(struct store *s)
{
    for (int n = 0; n < NIGHTS; n++) {
        struct draft d;
        struct commit c = {.subject = "`tick` <b>"};
        draft_night(&d, n);
        for (int i = 1; i <= 3; i++)
            draft_shot(&d, "v", 4096, i, (n < SLOWER_FROM ? 1.0 : 1.2) + 0.001 * i + 0.002 * (n % 3));
        snprintf(c.id, sizeof c.id, "%07x%033x", n + 0x1000000, 0);
        if (n > 0)
            snprintf(c.parents, sizeof c.parents, "%07x%033x", n - 1 + 0x1000000, 0);
        memcpy(d.info.revision.commit, c.id, sizeof c.id);
        d.commits.items = calloc(1, sizeof c);
        d.commits.items[d.commits.count++] = c;
        must_store(s, &d);
    }
}

static char *render(struct store *s, const char *run, const char *against, enum report_lang lang)
{
    struct report_request req = report_defaults();
    struct err err = {0};
    struct buf out;
    req.store = s;
    req.run = run;
    req.against = against;
    req.kind = REPORT_REGRESSION;
    req.langs[0] = lang;
    buf_init(&out, REPORT_BYTES_MAX);
    assert_ok(report_render(&req, &out, &err), &err);
    return buf_steal(&out);
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

TEST(a_report_names_commits)
{
    AUTO(store_close) struct store s = open_store("nights.db");
    store_nights(&s);
    char *text = render(&s, "night-0009", "night-0006", REPORT_EN);
    holds(text, "- Commits since the base: 1000006..1000009, 3 commits.");
    holds(text, "- Commits since the night before: 1000008..1000009, 1 commit.");
    holds(text,
          "## Commits\n\nSince the base: 1000006..1000009, 3 commits.\n\n- `1000009` `` `tick` <b> ``\n");
    holds(text, "**Commit:** `1000009000000000000000000000000000000000`");
    free(text);
    text = render(&s, "night-0013", NULL, REPORT_ES);
    holds(text, "Commits desde la noche anterior: 100000c..100000d, 1 commit.");
    free(text);
}

TEST(a_change_of_level_has_its_commits)
{
    AUTO(store_close) struct store s = open_store("levels.db");
    store_nights(&s);
    AUTO_FREE char *text = render(&s, "night-0010", "night-0005", REPORT_EN);
    const char *history = strstr(text, "## History");
    assert_non_null(history);
    holds(history, "1000008..1000009, 1 commit");
}

GROUP(scratch_make, scratch_remove);
