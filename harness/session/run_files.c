#include "harness/session/run_files.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double list_deadline_s = 60, read_deadline_s = 300;
static const size_t list_max = 16u << 20;

enum { PATHS_MAX = 200000, NAMED_MAX = 8 };

static const char *const log_names[RUN_LOG_COUNT] = {"run.log", "diag.txt", "build.log", "gate.log"};

static const char list_script[] =
    "cd -- \"$1\" && find . -type f \\( -name run.log -o -name .run.log.part -o -name diag.txt"
    " -o -name build.log -o -name .build.log.part -o -name gate.log -o -name .gate.log.part \\)";
static const char read_script[] = "tail -c \"+$2\" -- \"$1\"";

/* The parts of "<variant>/<log>" or "<variant>/ctx_<N>_run<i>/<log>". */
struct log_path {
    enum run_log log;
    bool growing;
    char variant[TEXT_NAME_MAX + 1];
    long context, repetition; /* repetition 0: of a build or gate */
};

static bool parse_name(const char *name, struct log_path *out)
{
    char part[32];
    for (int i = 0; i < RUN_LOG_COUNT; i++) {
        snprintf(part, sizeof part, ".%s.part", log_names[i]);
        out->growing = strcmp(name, part) == 0;
        out->log = (enum run_log)i;
        if (out->growing || strcmp(name, log_names[i]) == 0)
            return true;
    }
    return false;
}

static bool parse_number(const char **text, const char *before, long *out)
{
    size_t n = strlen(before);
    char *end;
    if (strncmp(*text, before, n) != 0 || (*text)[n] < '0' || (*text)[n] > '9')
        return false;
    *out = strtol(*text + n, &end, 10);
    *text = end;
    return true;
}

static bool parse_path(const char *path, struct log_path *out)
{
    const char *slash = strchr(path, '/'), *last = strrchr(path, '/');
    *out = (struct log_path){0};
    if (!slash || (size_t)(slash - path) >= sizeof out->variant || !parse_name(last + 1, out))
        return false;
    memcpy(out->variant, path, (size_t)(slash - path));
    bool of_test = out->log == RUN_LOG_OUTPUT || out->log == RUN_LOG_DIAG;
    if (slash == last)
        return !of_test;
    const char *rest = slash + 1;
    return of_test && parse_number(&rest, "ctx_", &out->context) &&
           parse_number(&rest, "_run", &out->repetition) && rest == last && out->repetition > 0;
}

static void collect_line(struct strvec *paths, const char *line, size_t len)
{
    struct log_path ignored;
    char path[FS_PATH_MAX];
    if (len > 2 && strncmp(line, "./", 2) == 0) {
        line += 2;
        len -= 2;
    }
    if (len == 0 || len >= sizeof path || paths->n >= PATHS_MAX)
        return;
    memcpy(path, line, len);
    path[len] = '\0';
    if (fs_safe_relpath(path) && parse_path(path, &ignored))
        strvec_push(paths, path);
}

static int collect_file(const char *rel, const char *full, void *arg, struct err *err)
{
    (void)full;
    (void)err;
    collect_line(arg, rel, strlen(rel));
    return 0;
}

static int run_dir(const struct run_place *p, char out[FS_PATH_MAX], struct err *err)
{
    int n = snprintf(out, FS_PATH_MAX, "%s/runs/%s", p->remote->workdir, p->run_id);
    return n > 0 && n < FS_PATH_MAX ? 0 : err_set(err, ERR_INPUT, "workdir: path too long");
}

static int capture(const struct run_place *p, const char *const *argv, double deadline_s, const char *what,
                   struct buf *out, struct err *err)
{
    struct transport_result res;
    if (transport_capture(p->remote->t, argv, deadline_s, out, &res, err) != 0)
        return -1;
    return transport_expect_success(p->remote->t, &res, what, err);
}

static int list_on_node(const struct run_place *p, struct strvec *paths, struct err *err)
{
    char dir[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = list_max};
    if (run_dir(p, dir, err) != 0)
        return -1;
    const char *argv[] = {"sh", "-c", list_script, "sh", dir, NULL};
    if (capture(p, argv, list_deadline_s, "listing the run's logs", &text, err) != 0)
        return -1;
    for (const char *line = buf_str(&text); *line;) {
        size_t len = strcspn(line, "\n");
        collect_line(paths, line, len);
        line += len + (line[len] == '\n');
    }
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int run_files_list(const struct run_place *place, struct strvec *paths, struct err *err)
{
    if ((place->remote ? list_on_node(place, paths, err)
                       : fs_walk(place->bundle, true, collect_file, paths, err)) != 0)
        return -1;
    if (paths->n > 1)
        qsort(paths->v, paths->n, sizeof *paths->v, by_bytes);
    return 0;
}

int run_files_read(const struct run_place *place, const char *path, size_t offset, struct buf *out,
                   struct err *err)
{
    char dir[FS_PATH_MAX], full[FS_PATH_MAX], from[32];
    if (!place->remote) {
        mode_t mode;
        AUTO(buf_release) struct buf all = {.max = out->max};
        if (fs_read_below(place->bundle, path, out->max, &all, &mode, err) != 0)
            return -1;
        if (all.len > offset)
            buf_add(out, all.data + offset, all.len - offset);
        return 0;
    }
    if (run_dir(place, dir, err) != 0 || fs_join(full, err, dir, path) != 0)
        return -1;
    snprintf(from, sizeof from, "%zu", offset + 1);
    const char *argv[] = {"sh", "-c", read_script, "sh", full, from, NULL};
    return capture(place, argv, read_deadline_s, "reading the log", out, err);
}

/* Collects the first few distinct names, for messages. */
struct names {
    struct strvec list;
    bool more;
};

static void note_name(struct names *names, const char *text)
{
    for (size_t i = 0; i < names->list.n; i++)
        if (strcmp(names->list.v[i], text) == 0)
            return;
    if (names->list.n < NAMED_MAX)
        strvec_push(&names->list, text);
    else
        names->more = true;
}

static int no_such(const char *what, const char *asked, struct names *names, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = 4096};
    for (size_t i = 0; i < names->list.n; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", names->list.v[i]);
    if (names->more)
        buf_puts(&text, ", ...");
    int rc = asked ? err_set(err, ERR_INPUT, "no log of %s %.64s; there are: %.400s", what, asked,
                             text.len ? buf_str(&text) : "none")
                   : err_set(err, ERR_INPUT, "name the %s: there are %.400s", what, buf_str(&text));
    strvec_release(&names->list);
    return rc;
}

/* Whether the query's variant has logs. If it names no context, the only one goes to *context. */
static int find_cell(const struct strvec *paths, const struct run_log_query *q, long *context,
                     struct err *err)
{
    struct names variants = {0}, contexts = {0};
    char number[32], *end = NULL;
    bool variant_found = false, context_found = false;
    *context = q->context ? strtol(q->context, &end, 10) : -1;
    for (size_t i = 0; i < paths->n; i++) {
        struct log_path p;
        if (!parse_path(paths->v[i], &p))
            continue;
        note_name(&variants, p.variant);
        if (strcmp(p.variant, q->variant) != 0)
            continue;
        variant_found = true;
        if (p.repetition == 0)
            continue;
        snprintf(number, sizeof number, "%ld", p.context);
        note_name(&contexts, number);
        context_found = context_found || (end && end != q->context && !*end && p.context == *context);
    }
    int rc = 0;
    if (paths->n == 0)
        rc = err_set(err, ERR_INPUT, "the run has no logs");
    else if (!variant_found)
        rc = no_such("variant", q->variant, &variants, err);
    else if (q->context && !context_found)
        rc = no_such("context", q->context, &contexts, err);
    else if (!q->context && contexts.list.n != 1 && (q->log == RUN_LOG_OUTPUT || q->log == RUN_LOG_DIAG))
        rc = no_such("context", contexts.list.n ? NULL : "any", &contexts, err);
    else if (!q->context && contexts.list.n == 1)
        *context = strtol(contexts.list.v[0], NULL, 10);
    strvec_release(&variants.list);
    strvec_release(&contexts.list);
    return rc;
}

static bool in_cell(const struct log_path *p, const struct run_log_query *q, long context)
{
    return strcmp(p->variant, q->variant) == 0 && p->repetition > 0 && p->context == context;
}

/* Chooses the first repetition with signs of a failure, otherwise the first. */
static long default_repetition(const struct strvec *paths, const struct run_log_query *q, long context,
                               long *count)
{
    long first = 0, failed = 0, last = 0;
    *count = 0;
    for (size_t i = 0; i < paths->n; i++) {
        struct log_path p;
        if (!parse_path(paths->v[i], &p) || !in_cell(&p, q, context))
            continue;
        *count += p.repetition != last;
        last = p.repetition;
        if (first == 0 || p.repetition < first)
            first = p.repetition;
        if (p.log == RUN_LOG_DIAG && (failed == 0 || p.repetition < failed))
            failed = p.repetition;
    }
    return failed ? failed : first;
}

static int missing_log(const struct run_log_query *q, long context, long repetition, struct err *err)
{
    switch (q->log) {
    case RUN_LOG_OUTPUT:
        return err_set(err, ERR_INPUT, "%s at %ld has no repetition %ld with a run.log", q->variant, context,
                       repetition);
    case RUN_LOG_DIAG:
        return err_set(err, ERR_INPUT,
                       "%s at %ld, repetition %ld, has no diag.txt: it is written for tests that are not OK",
                       q->variant, context, repetition);
    case RUN_LOG_BUILD:
        return err_set(err, ERR_INPUT, "%s has no build.log: its plan builds nothing", q->variant);
    case RUN_LOG_GATE:
    case RUN_LOG_COUNT:
        break;
    }
    return err_set(err, ERR_INPUT, "%s has no gate.log: no gate of its plan ran a command", q->variant);
}

int run_files_choose(const struct strvec *paths, const struct run_log_query *query,
                     struct run_log_choice *out, struct err *err)
{
    long context, repetition = 0;
    bool of_test = query->log == RUN_LOG_OUTPUT || query->log == RUN_LOG_DIAG;
    *out = (struct run_log_choice){0};
    if (find_cell(paths, query, &context, err) != 0)
        return -1;
    if (of_test) {
        repetition = default_repetition(paths, query, context, &out->repetitions);
        if (query->repetition)
            repetition = strtol(query->repetition, NULL, 10);
    }
    for (size_t i = 0; i < paths->n; i++) {
        struct log_path p;
        if (!parse_path(paths->v[i], &p) || p.log != query->log || strcmp(p.variant, query->variant) != 0 ||
            (of_test && (p.context != context || p.repetition != repetition)))
            continue;
        snprintf(out->path, sizeof out->path, "%s", paths->v[i]);
        out->growing = p.growing;
        out->repetition = repetition;
        if (!p.growing)
            break;
    }
    return *out->path ? 0 : missing_log(query, context, repetition, err);
}
