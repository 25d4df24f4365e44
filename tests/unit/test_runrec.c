/* runrec: records round-trip, and a word matches at most one run. */
#include "tests/unit/support.h"

#include "harness/session/runrec.h"

#define EARLY "20260101T000000Z-b3_90-aaaaaa"
#define MIDDLE "20260214T031500Z-b3_90-1a2b3c"
#define LATE "20260214T031500Z-nightly-f00001"

static const char *db;

static struct runrec record(const char *run_id)
{
    struct runrec r = {
        .threshold = 0.05, .connect_timeout_s = 10, .patience_s = 60.5, .state = RUNREC_RUNNING};
    snprintf(r.run_id, sizeof r.run_id, "%s", run_id);
    snprintf(r.node, sizeof r.node, "user@[::1]:2222");
    snprintf(r.ssh_config, sizeof r.ssh_config, "/etc/a config");
    snprintf(r.workdir, sizeof r.workdir, ".kernsweep");
    snprintf(r.bundle, sizeof r.bundle, "%s/bundle-%s", scratch, run_id);
    snprintf(r.plan, sizeof r.plan, "plans/\"quoted\" \xc3\xa9.json");
    snprintf(r.ticket, sizeof r.ticket, "b3_90");
    snprintf(r.baseline, sizeof r.baseline, "nightly");
    return r;
}

static void save(const char *run_id)
{
    struct err err = {0};
    struct runrec r = record(run_id);
    assert_ok(runrec_save(&r, db, &err), &err);
}

/* A store's folder with three runs. */
static int set_up(void **state)
{
    static char path[FS_PATH_MAX];
    if (scratch_make(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/store/results.db", scratch);
    db = path;
    return 0;
}

static int clear(void **state)
{
    (void)state;
    return fs_remove_tree(in_scratch("store"), NULL);
}

static int three_runs(void **state)
{
    clear(state);
    save(MIDDLE);
    save(LATE);
    save(EARLY);
    return 0;
}

static void assert_finds(const char *word, const char *run_id)
{
    struct runrec r;
    struct err err = {0};
    assert_ok(runrec_find(&r, db, word, &err), &err);
    assert_string_equal(r.run_id, run_id);
}

TEST_BETWEEN(every_field_comes_back, clear, NULL)
{
    struct runrec found, saved = record(MIDDLE);
    struct err err = {0};
    for (int s = 0; s < RUNREC_STATE_COUNT; s++) {
        saved.state = (enum runrec_state)s;
        assert_ok(runrec_save(&saved, db, &err), &err);
        assert_ok(runrec_find(&found, db, MIDDLE, &err), &err);
        assert_int_equal(found.state, s);
    }
    assert_string_equal(found.run_id, saved.run_id);
    assert_string_equal(found.node, saved.node);
    assert_string_equal(found.ssh_config, saved.ssh_config);
    assert_string_equal(found.workdir, saved.workdir);
    assert_string_equal(found.bundle, saved.bundle);
    assert_string_equal(found.plan, saved.plan);
    assert_string_equal(found.ticket, saved.ticket);
    assert_string_equal(found.baseline, saved.baseline);
    assert_true(found.threshold == 0.05 && found.connect_timeout_s == 10 && found.patience_s == 60.5);
    struct stat st;
    assert_int_equal(stat(in_scratch("store/runs/" MIDDLE ".json"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(in_scratch("store/runs"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static struct runrec_request request(void)
{
    struct runrec_request o = {.known = true, .overrides = {.fresh = true}};
    snprintf(o.plan, sizeof o.plan, "/plans/\"quoted\" \xc3\xa9.json");
    snprintf(o.plan_sha256, sizeof o.plan_sha256, "ab12");
    snprintf(o.source_sha256, sizeof o.source_sha256, "cd34");
    snprintf(o.overrides.variants, sizeof o.overrides.variants, "v3,v4");
    snprintf(o.overrides.contexts, sizeof o.overrides.contexts, "512,1024");
    snprintf(o.overrides.repeat, sizeof o.overrides.repeat, "512:2");
    snprintf(o.overrides.date, sizeof o.overrides.date, "2026-02-14");
    snprintf(o.overrides.tag, sizeof o.overrides.tag, "t");
    snprintf(o.overrides.mode, sizeof o.overrides.mode, "debug");
    return o;
}

/* The request is kept only until the node has the run. */
TEST_BETWEEN(request_comes_back_while_a_run_is_starting, clear, NULL)
{
    struct runrec found, saved = record(MIDDLE);
    struct err err = {0};
    const struct runrec_request o = saved.request = request();
    saved.state = RUNREC_STARTING;
    assert_ok(runrec_save(&saved, db, &err), &err);
    assert_ok(runrec_find(&found, db, MIDDLE, &err), &err);
    assert_true(found.request.known && found.request.overrides.fresh);
    assert_string_equal(found.request.plan, o.plan);
    assert_string_equal(found.request.plan_sha256, o.plan_sha256);
    assert_string_equal(found.request.source_sha256, o.source_sha256);
    assert_string_equal(found.request.overrides.variants, o.overrides.variants);
    assert_string_equal(found.request.overrides.contexts, o.overrides.contexts);
    assert_string_equal(found.request.overrides.repeat, o.overrides.repeat);
    assert_string_equal(found.request.overrides.date, o.overrides.date);
    assert_string_equal(found.request.overrides.tag, o.overrides.tag);
    assert_string_equal(found.request.overrides.mode, o.overrides.mode);
    saved.state = RUNREC_RUNNING;
    assert_ok(runrec_save(&saved, db, &err), &err);
    assert_ok(runrec_find(&found, db, MIDDLE, &err), &err);
    assert_false(found.request.known);
}

TEST_BETWEEN(removed_is_gone, three_runs, NULL)
{
    struct err err = {0};
    struct runrec found, r = record(MIDDLE);
    assert_ok(runrec_remove(&r, db, &err), &err);
    assert_err(runrec_find(&found, db, MIDDLE, &err), &err, ERR_INPUT, "no run");
    assert_finds(EARLY, EARLY);
    assert_ok(runrec_remove(&r, db, &err), &err);
}

/* Its run had no record yet, so that nothing will be saved under its name again. */
TEST_BETWEEN(half_a_record_of_a_killed_command_goes, three_runs, NULL)
{
    put("store/runs/" LATE "x.json.tmp.4194305", "half"); /* no process has that number */
    save(EARLY);
    assert_false(fs_exists(in_scratch("store/runs/" LATE "x.json.tmp.4194305")));
}

TEST_BETWEEN(found_by_id_prefix_and_latest, three_runs, NULL)
{
    assert_finds(EARLY, EARLY);
    assert_finds("202601", EARLY);
    assert_finds("20260214T031500Z-b", MIDDLE);
    assert_finds("20260214T031500Z-n", LATE);
    assert_finds("latest", LATE);
}

/* Two runs began in one second: as text, the older one's id would come last. */
TEST_BETWEEN(latest_is_the_newer_of_one_second, three_runs, NULL)
{
    struct err err = {0};
    bool found;
    struct runrec r, older = record("20270101T000000Z-mixed-10000000"),
                     newer = record("20270101T000000Z-kill-20000000");
    assert_ok(runrec_save(&older, db, &err), &err);
    assert_ok(runrec_save(&newer, db, &err), &err);
    assert_finds("latest", newer.run_id);
    assert_ok(runrec_unfinished(&r, db, &found, &err), &err);
    assert_true(found);
    assert_string_equal(r.run_id, newer.run_id);
}

TEST_BETWEEN(ambiguous_or_unknown_words_are_refused, three_runs, NULL)
{
    struct runrec r;
    struct err err = {0};
    assert_err(runrec_find(&r, db, "2026", &err), &err, ERR_INPUT, "\"2026\" matches 3 runs");
    assert_err(runrec_find(&r, db, "20260214T", &err), &err, ERR_INPUT, "matches 2 runs");
    assert_err(runrec_find(&r, db, "b3_9", &err), &err, ERR_INPUT, "no run or ticket \"b3_9\"");
    assert_err(runrec_find(&r, db, EARLY "x", &err), &err, ERR_INPUT, "no run");
    assert_err(runrec_find(&r, db, "x\n\033[2J", &err), &err, ERR_INPUT,
               "no run or ticket \"x\\x0a\\x1b[2J\"");
    assert_err(runrec_find(&r, db, "/etc", &err), &err, ERR_INPUT, "no run");
}

TEST_BETWEEN(a_ticket_means_its_newest_sweep, three_runs, NULL)
{
    struct err err = {0};
    struct runrec r = record("20270101T000000Z-b3_90-cccccc"),
                  other = record("20270202T000000Z-other-dddddd");
    r.purpose = PURPOSE_CONFIRM;
    snprintf(other.ticket, sizeof other.ticket, "2026");
    assert_ok(runrec_save(&r, db, &err), &err);
    assert_ok(runrec_save(&other, db, &err), &err);
    assert_finds("b3_90", LATE);
    assert_finds("2026", other.run_id); /* and the start of three ids, which is no answer */
    snprintf(other.ticket, sizeof other.ticket, "20260101");
    assert_ok(runrec_save(&other, db, &err), &err);
    assert_finds("20260101", EARLY); /* the start of one id */
}

/* `kernsweep cancel "$RUN"` with RUN unset must not mean the only run there is. */
TEST_BETWEEN(empty_word_means_no_run, three_runs, NULL)
{
    struct runrec r;
    struct err err = {0};
    assert_err(runrec_find(&r, db, "", &err), &err, ERR_INPUT, "no run or ticket \"\"");
    clear(state);
    save(EARLY);
    assert_err(runrec_find(&r, db, "", &err), &err, ERR_INPUT, "no run or ticket \"\"");
}

TEST_BETWEEN(whole_id_wins_over_a_longer_one, three_runs, NULL)
{
    save(EARLY "-again");
    assert_finds(EARLY, EARLY);
    save("20250101");
    save("20250101-x");
    assert_finds("20250101", "20250101");
}

TEST_BETWEEN(found_by_its_bundle, three_runs, NULL)
{
    struct err err = {0};
    assert_ok(fs_mkdir_p(in_scratch("bundle-" MIDDLE), 0700, &err), &err);
    assert_ok(fs_mkdir_p(in_scratch("other"), 0700, &err), &err);
    assert_finds(in_scratch("bundle-" MIDDLE), MIDDLE);
    assert_finds(in_scratch("other/..//bundle-" MIDDLE "/"), MIDDLE);
    assert_int_equal(symlink("bundle-" MIDDLE, in_scratch("link")), 0);
    assert_finds(in_scratch("link"), MIDDLE);
    assert_int_equal(chdir(scratch), 0);
    assert_finds("bundle-" MIDDLE, MIDDLE);
    assert_int_equal(chdir("bundle-" MIDDLE), 0);
    assert_finds(".", MIDDLE);
    struct runrec r;
    assert_err(runrec_find(&r, db, in_scratch("other"), &err), &err, ERR_INPUT, "no run");
    assert_int_equal(chdir("/"), 0);
}

TEST_BETWEEN(without_records_every_word_is_refused, clear, NULL)
{
    struct runrec r;
    struct err err = {0};
    assert_err(runrec_find(&r, db, "latest", &err), &err, ERR_INPUT, "no run or ticket \"latest\"");
    assert_err(runrec_find(&r, "/nonexistent/results.db", "x", &err), &err, ERR_INPUT, "no run");
}

TEST_BETWEEN(store_in_the_current_folder, clear, NULL)
{
    struct err err = {0};
    struct runrec r = record(EARLY);
    assert_ok(fs_mkdir_p(in_scratch("here"), 0700, &err), &err);
    assert_int_equal(chdir(in_scratch("here")), 0);
    assert_ok(runrec_save(&r, "results.db", &err), &err);
    assert_true(fs_exists("runs/" EARLY ".json"));
    assert_ok(runrec_find(&r, "results.db", "latest", &err), &err);
    assert_int_equal(chdir("/"), 0);
}

static int note(const struct runrec *r, void *arg, struct err *err)
{
    struct buf *seen = arg;
    (void)err;
    buf_printf(seen, "%s ", r->run_id);
    return 0;
}

static int refuse(const struct runrec *r, void *arg, struct err *err)
{
    note(r, arg, err);
    return err_set(err, ERR_INPUT, "enough");
}

TEST_BETWEEN(each_goes_from_oldest_to_latest, three_runs, NULL)
{
    struct err err = {0};
    struct buf seen;
    buf_init(&seen, 1000);
    put("store/runs/" LATE ".json.tmp.123", "{half");
    put("store/runs/README", "not a record");
    put("store/runs/.json", "neither");
    assert_ok(runrec_each(db, note, &seen, &err), &err);
    assert_string_equal(buf_str(&seen), EARLY " " MIDDLE " " LATE " ");
    buf_clear(&seen);
    assert_err(runrec_each(db, refuse, &seen, &err), &err, ERR_INPUT, "enough");
    assert_string_equal(buf_str(&seen), EARLY " ");
    buf_release(&seen);
}

static int note_and_remove_latest(const struct runrec *r, void *arg, struct err *err)
{
    struct runrec latest = record(LATE);
    note(r, arg, err);
    return runrec_remove(&latest, db, err);
}

/* The commands of several nodes run at the same time. */
TEST_BETWEEN(a_record_that_goes_meanwhile_is_left_out, three_runs, NULL)
{
    struct err err = {0};
    struct buf seen;
    buf_init(&seen, 1000);
    assert_ok(runrec_each(db, note_and_remove_latest, &seen, &err), &err);
    assert_string_equal(buf_str(&seen), EARLY " " MIDDLE " ");
    buf_release(&seen);
}

#define STRINGS                                                                                              \
    "\"run_id\":\"x\",\"node\":\"n\",\"ssh_config\":\"\",\"workdir\":\"w\",\"bundle\":\"b\",\"plan\":\"p\"," \
    "\"ticket\":\"t\",\"baseline\":\"\",\"source_dir\":\"\",\"purpose\":\"sweep\","
#define NUMBERS "\"threshold\":0.05,\"connect_timeout_s\":10,\"patience_s\":60"

TEST_BETWEEN(broken_record_is_named, clear, NULL)
{
    static const struct {
        const char *text, *place;
    } table[] = {
        {"", ":1:1:"},
        {"[]", "$.run_id"},
        {"{" STRINGS NUMBERS "}", "$.state"},
        {"{" STRINGS NUMBERS ",\"state\":\"gone\"}", "unknown state \"gone\""},
        {"{" STRINGS NUMBERS ",\"state\":7}", "$.state"},
        {"{" STRINGS "\"threshold\":-1,\"connect_timeout_s\":1,\"patience_s\":1,\"state\":\"running\"}",
         "$.threshold"},
        {"{" STRINGS NUMBERS ",\"state\":\"starting\",\"order\":{\"plan\":7}}", "$.order.plan"},
        {"{" STRINGS NUMBERS ",\"state\":\"starting\",\"order\":[]}", "$.order"},
        {"{\"run_id\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}",
         "$.run_id: longer than 64 bytes"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct err err = {0};
        struct runrec r;
        const char *path = put("store/runs/" MIDDLE ".json", table[i].text);
        assert_err(runrec_find(&r, db, "latest", &err), &err, ERR_INPUT, path, table[i].place,
                   ": move the file away; `kernsweep attach " MIDDLE " --node NODE`");
    }
}

/* A run id may come from a node, and becomes a file name here. */
TEST_BETWEEN(run_id_must_be_a_name, clear, NULL)
{
    static const char *const ids[] = {"", "../x", "a/b", "..", "a b", ".x"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        struct err err = {0};
        struct runrec r = record(ids[i]);
        assert_err(runrec_save(&r, db, &err), &err, ERR_INPUT, "run id");
    }
    assert_false(fs_exists(in_scratch("store/x.json")) || fs_exists(in_scratch("store/runs")));
}

TEST_BETWEEN(path_that_json_cannot_hold_is_said, clear, NULL)
{
    struct err err = {0};
    struct runrec r = record(EARLY);
    snprintf(r.bundle, sizeof r.bundle, "/a\xff");
    assert_err(runrec_save(&r, db, &err), &err, ERR_INPUT, "UTF-8");
}

TEST_BETWEEN(unwritable_store_is_a_storage_error, clear, NULL)
{
    struct err err = {0};
    struct runrec r = record(EARLY);
    put("a-file", "");
    assert_err(runrec_save(&r, in_scratch("a-file/results.db"), &err), &err, ERR_STORAGE, "a-file");
}

/* A confirm run was started after it. */
TEST_BETWEEN(latest_is_the_newest_sweep, three_runs, NULL)
{
    struct err err = {0};
    struct runrec found, r = record("20270101T000000Z-b3_90-cccccc");
    r.purpose = PURPOSE_CONFIRM;
    assert_ok(runrec_save(&r, db, &err), &err);
    assert_ok(runrec_find(&found, db, r.run_id, &err), &err);
    assert_int_equal(found.purpose, PURPOSE_CONFIRM);
    assert_finds("latest", LATE);
}

GROUP(set_up, scratch_remove);
