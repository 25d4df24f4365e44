#include "executor/suite/adopt.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "common/contract/bundle_limits.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/manifest.h"
#include "executor/suite/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64 << 10, SUMMARY_MAX = 16 << 20 };

#define NODES_DIR "nodes"

/* Copies at most BUNDLE_FILE_BYTES_MAX bytes, even from a file that keeps growing. */
static int copy_bytes(int from, int to)
{
    char data[PIECE];
    size_t total = 0;
    ssize_t n;
    while (total < (size_t)BUNDLE_FILE_BYTES_MAX && (n = read(from, data, sizeof data)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || fs_write_all(to, data, (size_t)n) != 0)
            return -1;
        total += (size_t)n;
    }
    return 0;
}

static int copy_file(const char *from, const char *to, struct err *err)
{
    char dir[FS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s", to);
    *strrchr(dir, '/') = '\0';
    if (fs_mkdir_p(dir, 0700, err) != 0)
        return -1;
    AUTO_CLOSE int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    int failed = in < 0 || out < 0 || copy_bytes(in, out) != 0 ? errno : 0;
    if (out >= 0 && close(out) != 0 && !failed)
        failed = errno;
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot copy to %s", from, to) : 0;
}

static int copy_visit(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    char to[FS_PATH_MAX];
    return fs_join(to, err, arg, relpath) != 0 ? -1 : copy_file(fullpath, to, err);
}

/* "<variant>/ctx_<N>_run<i>" of a test is the same in both folders. */
static int test_dirs(const struct suite *s, size_t test, const char *from, char *to, char *hidden,
                     char *source, struct err *err)
{
    if (suite_test_dir(s, test, to, err) != 0)
        return -1;
    const char *name = strrchr(to, '/') + 1;
    const struct job_test *t = &s->job.test[test];
    char variant[FS_PATH_MAX], dotted[128];
    snprintf(dotted, sizeof dotted, ".%.100s", name);
    if (fs_join(variant, err, from, s->job.variant[t->variant].name) != 0 ||
        fs_join(source, err, variant, name) != 0)
        return -1;
    return fs_join(hidden, err, s->variant[t->variant].dir, dotted);
}

int adopt_test(struct suite *s, size_t test, const char *from, const char *seal, struct err *err)
{
    char to[FS_PATH_MAX], hidden[FS_PATH_MAX], source[FS_PATH_MAX], rel[FS_PATH_MAX];
    struct test_state *t = &s->test[test];
    if (t->final)
        return 1;
    suite_test_rel(s, test, rel);
    if (!perf_is_sealed(from, rel, seal))
        return 0;
    if (test_dirs(s, test, from, to, hidden, source, err) != 0)
        return -1;
    if (fs_remove_tree(hidden, err) != 0 || fs_mkdir_p(hidden, 0700, err) != 0 ||
        contents_walk(source, copy_visit, NULL, hidden, err) != 0)
        return -1;
    /* Whatever is there is not final: it is left from a copy that a crash interrupted. */
    if (fs_remove_tree(to, err) != 0 || fs_rename(hidden, to, err) != 0)
        return -1;
    snprintf(t->seal, sizeof t->seal, "%.*s", SHA256_HEX_LEN, seal);
    return perf_load(s, test, s->dir, rel);
}

static json_t *find_variant(json_t *summary, const char *name)
{
    size_t i;
    json_t *v;
    json_array_foreach(json_object_get(summary, "variants"), i,
                       v) if (strcmp(json_text(v, "name"), name) == 0) return v;
    return NULL;
}

static void load_variant_state(struct variant_state *state, const json_t *v)
{
    const char *key = json_text(v, "build_key");
    json_t *wall = json_object_get(v, "build_wall_s"), *gates = json_object_get(v, "gates");
    if (!status_from_name(json_text(v, "status"), &state->status))
        state->status = STATUS_BUILD_FAILED;
    reason_set(state->reason, "%s", json_text(v, "reason"));
    if (*key)
        snprintf(state->build_key, sizeof state->build_key, "%.64s", key);
    if (json_is_number(wall))
        state->build_wall_s = json_number_value(wall);
    state->build_cached |= json_is_true(json_object_get(v, "build_cached"));
    if (json_is_array(gates)) {
        json_decref(state->gates);
        state->gates = json_incref(gates);
    }
}

static int copy_beside_tests(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    return strncmp(relpath, "ctx_", 4) == 0 ? 0 : copy_visit(relpath, fullpath, arg, err);
}

int adopt_variant(struct suite *s, size_t variant, const char *from, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    const char *name = s->job.variant[variant].name;
    char path[FS_PATH_MAX];
    if (fs_join(path, err, from, RUN_SUMMARY) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    json_auto_t *summary = json_load(path, SUMMARY_MAX, err);
    if (!summary)
        return -1;
    const json_t *v = find_variant(summary, name);
    if (!v || strcmp(json_text(summary, "status"), run_status_name(RUN_COMPLETE)) != 0)
        return 0;
    load_variant_state(state, v);
    if (fs_join(path, err, from, name) != 0 ||
        contents_walk(path, copy_beside_tests, NULL, state->dir, err) != 0)
        return -1;
    return 1;
}

int adopt_node(struct suite *s, const char *host, const char *from, struct err *err)
{
    char source[FS_PATH_MAX], dir[FS_PATH_MAX], to[FS_PATH_MAX], name[LIMIT_NAME + 8];
    if (!text_is_name(host))
        return 0;
    snprintf(name, sizeof name, "%.64s.json", host);
    if (fs_join(source, err, from, RUN_NODE) != 0 || fs_join(dir, err, s->dir, NODES_DIR) != 0 ||
        fs_join(to, err, dir, name) != 0)
        return -1;
    if (fs_exists(to) || !fs_exists(source))
        return 0;
    bool first = !fs_exists(dir);
    json_auto_t *node = json_load(source, LIMIT_JSON_BYTES, err);
    if (!node || fs_mkdir_p(dir, 0700, err) != 0)
        return -1;
    if (first && artifact_json(s->dir, RUN_NODE, json_incref(node), &s->secrets, err) != 0)
        return -1;
    return artifact_json(dir, name, json_incref(node), &s->secrets, err);
}
