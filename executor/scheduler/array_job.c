#include "executor/scheduler/array_job.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK_MAX = 4096 };

int array_job_path(const char *run_dir, char *out, struct err *err, const char *fmt, ...)
{
    char name[128], base[FS_PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (n < 0 || n >= (int)sizeof name)
        return err_set(err, ERR_INTERNAL, "a file name in %s is too long", RUN_ARRAYS);
    return fs_join(base, err, run_dir, RUN_ARRAYS) != 0 ? -1 : fs_join(out, err, base, name);
}

void array_job_init(struct array_job *a, int number, size_t variant, size_t tasks)
{
    *a = (struct array_job){.number = number, .variant = variant, .count = tasks};
    a->task = xcalloc(tasks, sizeof *a->task);
}

void array_job_release(struct array_job *a)
{
    for (size_t i = 0; a->task && i < a->count; i++)
        free(a->task[i].test);
    free(a->task);
    *a = (struct array_job){.task = NULL};
}

void array_task_add_test(struct array_task *t, size_t test)
{
    ALLOC_GROW(t->test, t->count + 1, t->cap);
    t->test[t->count++] = test;
}

static json_t *encode_task(const struct array_task *t, const struct suite *s)
{
    json_t *tests = json_array();
    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(tests, json_pack("{s:I, s:I}", "index", (json_int_t)t->test[i] + 1, "attempts",
                                               (json_int_t)s->test[t->test[i]].attempts));
    return tests;
}

int array_job_save(const struct array_job *a, const struct suite *s, struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    json_t *tasks = json_array();
    for (size_t i = 0; i < a->count; i++)
        json_array_append_new(tasks, encode_task(&a->task[i], s));
    json_auto_t *root = json_pack("{s:s, s:b, s:s, s:o}", "variant", s->job.variant[a->variant].name,
                                  "prepare", (int)a->prepare, "build", a->build, "tasks", tasks);
    if (array_job_path(s->dir, dir, err, "%d", a->number) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        array_job_path(s->dir, path, err, "%d.json", a->number) != 0)
        return -1;
    return json_save(path, root, err);
}

int array_job_save_id(struct array_job *a, const struct suite *s, int64_t id, struct err *err)
{
    char path[FS_PATH_MAX], text[32];
    int n = snprintf(text, sizeof text, "%lld\n", (long long)id);
    if (array_job_path(s->dir, path, err, "%d/job", a->number) != 0 ||
        fs_write_file(path, text, (size_t)n, 0600, err) != 0)
        return -1;
    a->id = id;
    return 0;
}

/* Reads the first word of a small text file, "" when it does not exist. */
static int read_mark(const char *path, char *out, size_t cap, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = MARK_MAX};
    *out = '\0';
    if (!fs_exists(path))
        return 0;
    if (fs_read_file(path, MARK_MAX, &text, err) != 0)
        return -1;
    snprintf(out, cap, "%.*s", (int)strcspn(buf_str(&text), " \n"), buf_str(&text));
    return 0;
}

static int load_task(struct array_job *a, size_t i, const struct suite *s, const struct json_at *tests,
                     struct err *err)
{
    struct array_task *t = &a->task[i];
    char path[FS_PATH_MAX];
    for (size_t k = 0; k < json_array_size(tests->value); k++) {
        struct json_at test = json_element(tests, k);
        int64_t index;
        if (json_get_int(&test, "index", 1, (int64_t)s->job.test_count, &index, err) != 0)
            return -1;
        array_task_add_test(t, (size_t)index - 1);
    }
    if (array_job_path(s->dir, path, err, "%d/%zu.over", a->number, i + 1) != 0 ||
        read_mark(path, t->accepted, sizeof t->accepted, err) != 0)
        return -1;
    t->over = *t->accepted != '\0';
    if (strcmp(t->accepted, "-") == 0)
        *t->accepted = '\0';
    return 0;
}

static int decode_job(struct array_job *a, const struct suite *s, int number, const struct json_at *root,
                      struct err *err)
{
    struct json_at tasks = json_member(root, "tasks");
    const char *variant, *build;
    size_t v = 0;
    if (json_get_str(root, "variant", &variant, err) != 0 || json_get_str(root, "build", &build, err) != 0)
        return -1;
    while (v < s->job.variant_count && strcmp(s->job.variant[v].name, variant) != 0)
        v++;
    if (v == s->job.variant_count || strlen(build) >= sizeof a->build)
        return json_fail(root, err, "is not an array job of this run");
    array_job_init(a, number, v, json_array_size(tasks.value));
    if (json_get_bool_def(root, "prepare", &a->prepare, err) != 0)
        return -1;
    memcpy(a->build, build, strlen(build) + 1);
    for (size_t i = 0; i < a->count; i++) {
        struct json_at tests = json_element(&tasks, i);
        if (load_task(a, i, s, &tests, err) != 0)
            return -1;
    }
    return 0;
}

static int load_files(struct array_job *a, const struct suite *s, int number, const char *path,
                      struct err *err)
{
    char mark[FS_PATH_MAX], id[32];
    json_auto_t *root = json_load(path, LIMIT_JSON_BYTES, err);
    struct json_at at = json_root(root, path);
    if (!root || decode_job(a, s, number, &at, err) != 0 ||
        array_job_path(s->dir, mark, err, "%d/job", number) != 0 || read_mark(mark, id, sizeof id, err) != 0)
        return -1;
    a->id = strtoll(id, NULL, 10);
    return 1;
}

int array_job_load(struct array_job *a, const struct suite *s, int number, struct err *err)
{
    char path[FS_PATH_MAX];
    *a = (struct array_job){.task = NULL};
    if (array_job_path(s->dir, path, err, "%d.json", number) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    int rc = load_files(a, s, number, path, err);
    if (rc < 0)
        array_job_release(a);
    return rc;
}

int array_job_end_task(struct array_job *a, size_t index, const struct suite *s, const char *why,
                       struct err *err)
{
    struct array_task *t = &a->task[index];
    char path[FS_PATH_MAX], text[REASON_MAX + ATTEMPT_ID_MAX];
    const char *accepted = *t->attempt ? t->attempt : "-";
    int n = snprintf(text, sizeof text, "%s %s\n", accepted, why);
    if (array_job_path(s->dir, path, err, "%d/%zu.over", a->number, index + 1) != 0 ||
        fs_write_file(path, text, (size_t)n, 0600, err) != 0)
        return -1;
    snprintf(t->accepted, sizeof t->accepted, "%s", t->attempt);
    t->over = true;
    return 0;
}

/* Returns the task whose attempt is named "<index>.<id>.<restart>" of this job; NULL for any other name. */
static struct array_task *find_task(struct array_job *a, const char *name, int *restart)
{
    unsigned index;
    long long id;
    char end;
    if (sscanf(name, "%u.%lld.%d%c", &index, &id, restart, &end) != 3 || id != a->id || index < 1 ||
        index > a->count || *restart < 0 || strlen(name) >= ATTEMPT_ID_MAX)
        return NULL;
    return &a->task[index - 1];
}

int array_job_find_attempts(struct array_job *a, const struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    if (a->id == 0)
        return 0;
    if (array_job_path(s->dir, path, err, "%d", a->number) != 0)
        return -1;
    DIR *dir = opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        int restart;
        struct array_task *t = find_task(a, e->d_name, &restart);
        if (!t || t->over || (*t->attempt && restart <= t->restart))
            continue;
        snprintf(t->attempt, sizeof t->attempt, "%.60s", e->d_name);
        t->restart = restart;
        t->offset = 0;
        t->closed = false;
    }
    if (dir)
        closedir(dir);
    return 0;
}

int array_job_attempt_dir(const struct array_job *a, size_t index, const struct suite *s, char *out,
                          struct err *err)
{
    const struct array_task *t = &a->task[index];
    const char *attempt = t->over ? t->accepted : t->attempt;
    return array_job_path(s->dir, out, err, "%d/%s/%s", a->number, attempt, s->job.run_id);
}

bool array_job_is_over(const struct array_job *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (!a->task[i].over)
            return false;
    return true;
}

double array_job_limit_s(const struct array_job *a, size_t index, const struct suite *s)
{
    static const double overhead_s = 5; /* files, journal, cleaning up */
    const struct job *job = &s->job;
    const struct array_task *t = &a->task[index];
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += job->test[t->test[i]].timeout_s + job->settings.kill_grace_s + job->settings.vram_settle_s +
               overhead_s;
    if (!a->prepare)
        return sum;
    const struct variant *v = &job->variant[a->variant];
    for (size_t i = 0; i < v->gate_count; i++)
        sum += v->gate[i].timeout_s + job->settings.kill_grace_s;
    return sum + job->settings.build_timeout_s;
}
