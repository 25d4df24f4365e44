#include "executor/commands/commands.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "common/contract/proto.h"
#include "executor/bundle/fault.h"
#include "executor/bundle/manifest.h"
#include "executor/workdir/lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAIL_BYTES = 256 << 10, RUNS_MAX = 10000 };

static void copy_member(json_t *out, const char *key, const json_t *from, const char *from_key)
{
    json_t *value = json_object_get(from, from_key);
    json_object_set_new(out, key, value ? json_incref(value) : json_null());
}

/* The end of the journal as text; its first line may be cut. The caller frees it. */
static char *read_tail(const char *dir)
{
    char path[FS_PATH_MAX];
    char *text = xmalloc(TAIL_BYTES + 1);
    bool named = fs_join(path, NULL, dir, RUN_EVENTS) == 0;
    AUTO_CLOSE int fd = named ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    ssize_t n = fd >= 0 ? pread(fd, text, TAIL_BYTES, size > TAIL_BYTES ? size - TAIL_BYTES : 0) : 0;
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* The tests in flight, by lane: an object whose keys are the lanes' numbers. */
static void lane_key(const json_t *event, char *key, size_t cap)
{
    snprintf(key, cap, "%lld", (long long)json_integer_value(json_object_get(event, "lane")));
}

static void note_test(json_t *lanes, const json_t *event, bool started)
{
    char key[32];
    json_t *current = json_object();
    copy_member(current, "variant", event, "variant");
    copy_member(current, "context", event, "ctx");
    copy_member(current, "repetition", event, "run_idx");
    copy_member(current, "timeout_s", event, "timeout_s");
    copy_member(current, "elapsed_s", event, "elapsed_s");
    if (started)
        json_object_set_new(current, "elapsed_s", json_real(0));
    lane_key(event, key, sizeof key);
    json_object_set_new(lanes, key, current);
}

static bool same(const json_t *test, const char *key, const json_t *event, const char *event_key)
{
    return json_equal(json_object_get(test, key), json_object_get(event, event_key));
}

static void forget_test(json_t *lanes, const json_t *event)
{
    const char *key;
    json_t *test;
    void *next;
    json_object_foreach_safe(lanes, next, key, test)
    {
        if (same(test, "variant", event, "variant") && same(test, "context", event, "ctx") &&
            same(test, "repetition", event, "run_idx"))
            json_object_del(lanes, key);
    }
}

static double elapsed_of(const json_t *test)
{
    return json_number_value(json_object_get(test, "elapsed_s"));
}

/* Reports the test that has run longest, and how many are in flight. */
static void report_tests(json_t *out, json_t *lanes)
{
    const char *key;
    json_t *test, *longest = NULL;
    json_object_foreach(lanes, key, test)
    {
        if (!longest || elapsed_of(test) > elapsed_of(longest))
            longest = test;
    }
    if (longest)
        json_object_set(out, "current", longest);
    json_object_set_new(out, "in_flight", json_integer((json_int_t)json_object_size(lanes)));
}

/* Updates the report by one event; called in the journal's order. */
static void apply_event(json_t *out, json_t *lanes, const json_t *event)
{
    enum event_type type;
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name || !event_from_name(name, &type))
        return;
    if (json_object_get(event, "suite_eta_s"))
        copy_member(out, "eta_s", event, "suite_eta_s");
    if (json_object_get(event, "tests_done"))
        copy_member(out, "tests_done", event, "tests_done");
    if (type == EVENT_TEST_START || type == EVENT_HEARTBEAT)
        note_test(lanes, event, type == EVENT_TEST_START);
    else if (type == EVENT_TEST_END || type == EVENT_TEST_SKIP)
        forget_test(lanes, event);
    else if (type == EVENT_SUITE_START || type == EVENT_SUITE_END)
        json_object_clear(lanes);
}

static void read_journal(json_t *out, const char *dir)
{
    AUTO_FREE char *text = read_tail(dir);
    json_auto_t *lanes = json_object();
    for (char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        json_t *event = line[len] == '\n' ? json_loadb(line, len, 0, NULL) : NULL;
        if (event)
            apply_event(out, lanes, event);
        json_decref(event);
        line += len + (line[len] == '\n');
    }
    report_tests(out, lanes);
}

static void read_summary(json_t *out, const json_t *summary)
{
    const json_t *counts = json_object_get(summary, "counts");
    json_int_t total = json_integer_value(json_object_get(counts, "total"));
    json_int_t skipped = json_integer_value(json_object_get(counts, "skipped"));
    const char *status = json_string_value(json_object_get(summary, "status"));
    copy_member(out, "status", summary, "status");
    copy_member(out, "started_at", summary, "started_at");
    json_object_set_new(out, "current", json_null());
    json_object_set_new(out, "eta_s", json_integer(0));
    if (status && strcmp(status, run_status_name(RUN_COMPLETE)) == 0)
        json_object_set_new(out, "tests_done", json_integer(total));
    else
        json_object_set_new(out, "tests_done", json_integer(total - skipped));
}

static json_t *report_run(const char *dir, const char *run_id)
{
    char path[FS_PATH_MAX], fault[FAULT_MAX];
    struct lock_holder holder = {.held = false};
    json_auto_t *job = layout_load(dir, RUN_JOB), *summary = layout_load(dir, RUN_SUMMARY);
    json_t *out = json_object();
    if (fs_join(path, NULL, dir, RUN_LOCK) == 0)
        lock_look(path, &holder, NULL);
    bool complete = manifest_is_there(dir);
    json_object_set_new(out, "run_id", json_string(run_id));
    copy_member(out, "ticket", job, "ticket");
    copy_member(out, "tag", job, "tag");
    copy_member(out, "purpose", job, "purpose");
    json_object_set_new(out, "state", json_string(complete ? "complete" : holder.held ? "running" : "dead"));
    json_object_set_new(out, "status", json_null());
    json_object_set_new(out, "tests_done", json_integer(0));
    json_object_set_new(out, "tests_total",
                        json_integer((json_int_t)json_array_size(json_object_get(job, "tests"))));
    json_object_set_new(out, "current", json_null());
    json_object_set_new(out, "in_flight", json_integer(0));
    json_object_set_new(out, "eta_s", json_null());
    json_object_set_new(out, "started_at", json_null());
    json_object_set_new(out, "pid", holder.held && holder.pid ? json_integer(holder.pid) : json_null());
    fault_read(dir, fault);
    json_object_set_new(out, "error", *fault ? json_string(fault) : json_null());
    if (complete && summary)
        read_summary(out, summary);
    else
        read_journal(out, dir);
    return out;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

/* A folder left by an interrupted submit is no run: it cannot be started, and its submitter got an error. */
static bool is_submitted(const char *dir)
{
    char path[FS_PATH_MAX];
    return manifest_is_there(dir) || (fs_join(path, NULL, dir, RUN_JOB_PRIVATE) == 0 && fs_exists(path));
}

static json_t *report_all(const char *runs)
{
    struct dirent **list = NULL;
    char dir[FS_PATH_MAX];
    json_t *out = json_array();
    int n = scandir(runs, &list, NULL, newest_first);
    for (int i = 0; i < n; i++) {
        if (i < RUNS_MAX && text_is_name(list[i]->d_name) && fs_join(dir, NULL, runs, list[i]->d_name) == 0 &&
            is_submitted(dir))
            json_array_append_new(out, report_run(dir, list[i]->d_name));
        free(list[i]);
    }
    free(list);
    return out;
}

json_t *status_report(const struct layout *layout, const char *run_id, struct err *err)
{
    char dir[FS_PATH_MAX];
    if (!run_id)
        return fs_join(dir, err, layout->workdir, "runs") == 0 ? report_all(dir) : NULL;
    if (layout_run(layout, dir, run_id, err) != 0)
        return NULL;
    if (!fs_is_dir(dir)) {
        err_set(err, ERR_INPUT, "no run %s in %s/runs", run_id, layout->workdir);
        return NULL;
    }
    json_t *out = json_array();
    json_array_append_new(out, report_run(dir, run_id));
    return out;
}
