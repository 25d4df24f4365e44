#include "executor/run/order.h"

#include "common/base/json.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK_MAX = 4096 };

int order_path(const char *run_dir, char *out, struct err *err, const char *fmt, ...)
{
    char name[128], base[FS_PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (n < 0 || n >= (int)sizeof name)
        return err_set(err, ERR_INTERNAL, "a name below %s is too long", RUN_ORDERS);
    return fs_join(base, err, run_dir, RUN_ORDERS) != 0 ? -1 : fs_join(out, err, base, name);
}

int order_init(struct order *o, int number, size_t variant, size_t tasks, struct err *err)
{
    *o = (struct order){.number = number, .variant = variant, .count = tasks};
    o->task = calloc(tasks + 1, sizeof *o->task);
    return o->task ? 0 : err_set(err, ERR_INTERNAL, "no memory for an order");
}

void order_release(struct order *o)
{
    for (size_t i = 0; o->task && i < o->count; i++)
        free(o->task[i].test);
    free(o->task);
    *o = (struct order){.task = NULL};
}

int order_add_test(struct order_task *t, size_t test, struct err *err)
{
    size_t *grown = t->test;
    if ((t->count & (t->count - 1)) == 0)
        grown = realloc(t->test, (t->count ? 2 * t->count : 1) * sizeof *grown);
    if (!grown)
        return err_set(err, ERR_INTERNAL, "no memory for an order");
    t->test = grown;
    t->test[t->count++] = test;
    return 0;
}

static json_t *encode_task(const struct order_task *t, const struct suite *s)
{
    json_t *tests = json_array();
    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(tests, json_pack("{s:I, s:I}", "index", (json_int_t)t->test[i] + 1, "attempts",
                                               (json_int_t)s->test[t->test[i]].attempts));
    return tests;
}

int order_save(const struct order *o, const struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *tasks = json_array();
    for (size_t i = 0; i < o->count; i++)
        json_array_append_new(tasks, encode_task(&o->task[i], s));
    json_t *root = json_pack("{s:s, s:b, s:s, s:o}", "variant", s->job.variant[o->variant].name, "prepare",
                             (int)o->prepare, "build", o->build, "tasks", tasks);
    int rc = order_path(s->dir, path, err, "%d", o->number);
    if (rc == 0)
        rc = fs_mkdir_p(path, 0700, err);
    if (rc == 0)
        rc = order_path(s->dir, path, err, "%d.json", o->number);
    if (rc == 0)
        rc = root ? json_save(path, root, err) : err_set(err, ERR_INTERNAL, "no memory for an order");
    json_decref(root);
    return rc;
}

int order_save_job(struct order *o, const struct suite *s, int64_t job, struct err *err)
{
    char path[FS_PATH_MAX], text[32];
    int n = snprintf(text, sizeof text, "%lld\n", (long long)job);
    if (order_path(s->dir, path, err, "%d/job", o->number) != 0 ||
        fs_write_file(path, text, (size_t)n, 0600, err) != 0)
        return -1;
    o->job = job;
    return 0;
}

/* A small text file's contents, "" when it is not there. */
static int read_mark(const char *path, char *out, size_t cap, struct err *err)
{
    struct buf text;
    *out = '\0';
    if (!fs_exists(path))
        return 0;
    buf_init(&text, MARK_MAX);
    int rc = fs_read_file(path, MARK_MAX, &text, err);
    if (rc == 0)
        snprintf(out, cap, "%.*s", (int)strcspn(buf_str(&text), " \n"), buf_str(&text));
    buf_release(&text);
    return rc;
}

static int load_task(struct order *o, size_t i, const struct suite *s, const struct json_at *tests,
                     struct err *err)
{
    struct order_task *t = &o->task[i];
    char path[FS_PATH_MAX];
    for (size_t k = 0; k < json_array_size(tests->value); k++) {
        struct json_at test = json_element(tests, k);
        int64_t index;
        if (json_get_int(&test, "index", 1, (int64_t)s->job.test_count, &index, err) != 0 ||
            order_add_test(t, (size_t)index - 1, err) != 0)
            return -1;
    }
    if (order_path(s->dir, path, err, "%d/%zu.over", o->number, i + 1) != 0 ||
        read_mark(path, t->believed, sizeof t->believed, err) != 0)
        return -1;
    t->over = *t->believed != '\0';
    if (strcmp(t->believed, "-") == 0)
        *t->believed = '\0';
    return 0;
}

static int decode(struct order *o, const struct suite *s, int number, const struct json_at *root,
                  struct err *err)
{
    struct json_at tasks = json_member(root, "tasks");
    const char *variant, *build;
    size_t v = 0;
    if (json_get_str(root, "variant", &variant, err) != 0 || json_get_str(root, "build", &build, err) != 0)
        return -1;
    while (v < s->job.variant_count && strcmp(s->job.variant[v].name, variant) != 0)
        v++;
    if (v == s->job.variant_count || strlen(build) >= sizeof o->build)
        return json_fail(root, err, "is not an order of this run");
    if (order_init(o, number, v, json_array_size(tasks.value), err) != 0 ||
        json_get_bool_def(root, "prepare", &o->prepare, err) != 0)
        return -1;
    memcpy(o->build, build, strlen(build) + 1);
    for (size_t i = 0; i < o->count; i++) {
        struct json_at tests = json_element(&tasks, i);
        if (load_task(o, i, s, &tests, err) != 0)
            return -1;
    }
    return 0;
}

int order_load(struct order *o, const struct suite *s, int number, struct err *err)
{
    char path[FS_PATH_MAX], job[32];
    *o = (struct order){.task = NULL};
    if (order_path(s->dir, path, err, "%d.json", number) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    json_t *root = json_load(path, LIMIT_JSON_BYTES, err);
    struct json_at at = json_root(root, path);
    int rc = root ? decode(o, s, number, &at, err) : -1;
    json_decref(root);
    if (rc == 0)
        rc = order_path(s->dir, path, err, "%d/job", number);
    if (rc == 0)
        rc = read_mark(path, job, sizeof job, err);
    if (rc == 0) {
        o->job = strtoll(job, NULL, 10);
        return 1;
    }
    order_release(o);
    return -1;
}

int order_end_task(struct order *o, size_t index, const struct suite *s, const char *why, struct err *err)
{
    struct order_task *t = &o->task[index];
    char path[FS_PATH_MAX], text[VERDICT_REASON_MAX + ATTEMPT_ID_MAX];
    const char *believed = *t->attempt ? t->attempt : "-";
    int n = snprintf(text, sizeof text, "%s %s\n", believed, why);
    if (order_path(s->dir, path, err, "%d/%zu.over", o->number, index + 1) != 0 ||
        fs_write_file(path, text, (size_t)n, 0600, err) != 0)
        return -1;
    snprintf(t->believed, sizeof t->believed, "%s", t->attempt);
    t->over = true;
    return 0;
}

/* "<index>.<job>.<restart>" of this order's job. */
static struct order_task *task_of(struct order *o, const char *name, int *restart)
{
    unsigned index;
    long long job;
    char end;
    if (sscanf(name, "%u.%lld.%d%c", &index, &job, restart, &end) != 3 || job != o->job || index < 1 ||
        index > o->count || *restart < 0 || strlen(name) >= ATTEMPT_ID_MAX)
        return NULL;
    return &o->task[index - 1];
}

int order_find_attempts(struct order *o, const struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    if (o->job == 0)
        return 0;
    if (order_path(s->dir, path, err, "%d", o->number) != 0)
        return -1;
    DIR *dir = opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        int restart;
        struct order_task *t = task_of(o, e->d_name, &restart);
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

int order_attempt_dir(const struct order *o, size_t index, const struct suite *s, char *out, struct err *err)
{
    const struct order_task *t = &o->task[index];
    const char *attempt = t->over ? t->believed : t->attempt;
    return order_path(s->dir, out, err, "%d/%s/%s", o->number, attempt, s->job.run_id);
}

bool order_is_over(const struct order *o)
{
    for (size_t i = 0; i < o->count; i++)
        if (!o->task[i].over)
            return false;
    return true;
}
