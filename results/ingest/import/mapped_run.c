#include "results/ingest/import/mapped_run.h"

#include "results/store/revision.h"
#include "results/store/when.h"

#include "common/base/clock.h"
#include "common/base/text.h"

#include <stdio.h>
#include <string.h>

static int take_facts(const struct import_scope *s, json_t *facts, struct draft *d, struct err *err)
{
    const char *key;
    json_t *field;
    json_object_foreach(facts, key, field)
    {
        char text[RUN_FACT_MAX], name[96];
        snprintf(name, sizeof name, "facts.%.60s", key);
        int rc = import_text(s, field, name, text, sizeof text, err);
        if (rc < 0 || (rc > 0 && draft_add_fact(d, key, text, err) != 0))
            return -1;
    }
    return 0;
}

static int run_text(const struct import_scope *s, const json_t *run, const char *key, const char *option,
                    char *out, size_t size, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "run.%s", key);
    if (option) {
        if (strlen(option) >= size)
            return err_set(err, ERR_INPUT, "--%s: longer than %zu bytes", key, size - 1);
        memcpy(out, option, strlen(option) + 1);
        return 0;
    }
    return import_text(s, json_object_get(run, key), name, out, size, err) < 0 ? -1 : 0;
}

static int check_run(const struct run_info *r, const char *file, struct err *err)
{
    if (!*r->date)
        return err_set(err, ERR_INPUT, "%s: no measurement date in the file: use --date", file);
    if (!clock_is_day(r->date))
        return err_set(err, ERR_INPUT, "%s: date is \"%.20s\", expected a date like 2026-02-14", file,
                       r->date);
    if (!text_is_name(r->ticket) || (*r->tag && !text_is_name(r->tag)))
        return err_set(err, ERR_INPUT, "%s: invalid ticket or tag: use --ticket and --tag", file);
    if (strcmp(r->mode, "perf") != 0 && strcmp(r->mode, "debug") != 0)
        return err_set(err, ERR_INPUT, "%s: mode is \"%s\", expected \"perf\" or \"debug\"", file, r->mode);
    return 0;
}

/* A time as seconds or milliseconds since 1970, as "epoch" says, becomes text. */
static int take_time(const struct import_scope *s, const json_t *run, const char *key, const char *option,
                     char *out, size_t size, struct err *err)
{
    const json_t *field = json_object_get(run, key);
    const char *epoch = json_string_value(json_object_get(field, "epoch"));
    char name[64];
    double v;
    if (option || !epoch)
        return run_text(s, run, key, option, out, size, err);
    snprintf(name, sizeof name, "run.%s", key);
    int rc = import_number(s, field, name, "", &v, err);
    if (rc > 0 && v > 0 && v < 4e12)
        when_format((int64_t)(strcmp(epoch, "ms") == 0 ? v : v * 1e3), out);
    return rc < 0 ? -1 : 0;
}

/* What is no commit, such as "unversioned" or a short hash, is told and left out. */
static int take_commit(const struct import_scope *s, const json_t *run, struct draft *d, struct err *err)
{
    char id[IMPORT_TEXT_MAX] = "";
    if (import_text(s, json_object_get(run, "commit"), "run.commit", id, sizeof id, err) < 0)
        return -1;
    if (commit_is_id(id))
        snprintf(d->info.revision.commit, sizeof d->info.revision.commit, "%.64s", id);
    else if (*id)
        snprintf(d->note, sizeof d->note, "%s: \"%.60s\" is not the whole hash of a commit: left out",
                 s->file, id);
    return 0;
}

int import_run(const struct import_scope *s, const json_t *map, const struct import_options *options,
               struct draft *d, struct err *err)
{
    static const struct import_options none;
    const struct import_options *o = options ? options : &none;
    const json_t *run = json_object_get(map, "run");
    struct run_info *r = &d->info;
    char date[64] = "", started[64] = "";
    snprintf(r->mode, sizeof r->mode, "perf");
    snprintf(r->node, sizeof r->node, "unknown");
    if (run_text(s, run, "ticket", o->ticket, r->ticket, sizeof r->ticket, err) != 0 ||
        run_text(s, run, "tag", o->tag, r->tag, sizeof r->tag, err) != 0 ||
        run_text(s, run, "node", o->node, r->node, sizeof r->node, err) != 0 ||
        run_text(s, run, "mode", NULL, r->mode, sizeof r->mode, err) != 0 ||
        take_time(s, run, "date", o->date, date, sizeof date, err) != 0 ||
        take_time(s, run, "started_at", NULL, started, sizeof started, err) != 0 ||
        take_commit(s, run, d, err) != 0 || take_facts(s, json_object_get(map, "facts"), d, err) != 0)
        return -1;
    char day[CLOCK_ISO_LEN + 1];
    when_format(when_parse(date), day); /* the day in UTC, if it is a time */
    snprintf(r->date, sizeof r->date, "%.10s", *day ? day : date);
    if (*started && when_parse(started) == WHEN_UNKNOWN)
        return err_set(
            err, ERR_INPUT,
            "%s: started_at is \"%.40s\", expected a time such as 2026-02-14T03:15:09Z or ...+01:00", s->file,
            started);
    when_format(when_parse(started), r->started_at);
    return check_run(r, s->file, err);
}

int import_check_alike(const struct run_info *first, const struct run_info *this, const char *file,
                       struct err *err)
{
    const struct {
        const char *name, *was, *is;
    } parts[] = {{"ticket", first->ticket, this->ticket},
                 {"tag", first->tag, this->tag},
                 {"date", first->date, this->date},
                 {"node", first->node, this->node},
                 {"mode", first->mode, this->mode}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].was, parts[i].is) != 0)
            return err_set(err, ERR_INPUT,
                           "%s: %s is \"%.80s\", but \"%.80s\" in earlier files: one run has one %s", file,
                           parts[i].name, parts[i].is, parts[i].was, parts[i].name);
    return 0;
}

int import_own_metrics(const json_t *map, const char *file, struct draft *d, struct err *err)
{
    struct json_at root = json_root(map, file), list = json_member(&root, "metrics");
    if (draft_read_metrics(d, &list, IN_PLAN, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at one = json_element(&list, i), from = json_member(&one, "from");
        if (from.value)
            return json_fail(&from, err,
                             "a mapping reads each metric from the field of \"test\" that has its name");
    }
    return 0;
}

/* Names of other tools may be invalid here: invalid characters become '_', and a name that is too long ends
 * in a hash, so that different names remain different. text: char[IMPORT_TEXT_MAX]. */
static void make_name(char *text)
{
    char hex[SHA256_HEX_LEN + 1];
    size_t len = strlen(text);
    sha256_of(text, len, hex);
    for (char *p = text; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              (p > text && strchr("._-", *p))))
            *p = '_';
    if (len > LIMIT_NAME)
        snprintf(text + LIMIT_NAME - 9, 10, "_%.8s", hex);
}

static int add_part(const struct import_scope *s, const char *axis, const char *value, char *out,
                    struct err *err)
{
    size_t n = strlen(out);
    int added = snprintf(out + n, IMPORT_TEXT_MAX - n, "%s%s%s", n ? "_" : "", axis, value);
    if (added < 0 || (size_t)added >= IMPORT_TEXT_MAX - n)
        return err_set(err, ERR_INPUT, "%s: %s: shape longer than %d bytes (mapping: test.point)", s->file,
                       s->place, IMPORT_TEXT_MAX - 1);
    return 0;
}

/* out: char[IMPORT_TEXT_MAX], "" without a shape. */
static int take_shape(const struct import_scope *s, const json_t *test, char *out, struct err *err)
{
    const char *axis;
    json_t *field, *point = json_object_get(test, "point");
    out[0] = '\0';
    if (import_text(s, json_object_get(test, "shape"), "test.shape", out, IMPORT_TEXT_MAX, err) < 0)
        return -1;
    json_object_foreach(point, axis, field)
    {
        char name[96], value[IMPORT_TEXT_MAX];
        snprintf(name, sizeof name, "test.point.%.60s", axis);
        int rc = import_text(s, field, name, value, sizeof value, err);
        if (rc < 0 || (rc > 0 && add_part(s, axis, value, out, err) != 0))
            return -1;
    }
    return 0;
}

int import_variant(const struct import_scope *s, const json_t *test, int64_t beyond, struct run_variant *out,
                   char *as_written, struct err *err)
{
    char kernel[IMPORT_TEXT_MAX], shape[IMPORT_TEXT_MAX], name[IMPORT_TEXT_MAX];
    int rc = import_text(s, json_object_get(test, "variant"), "test.variant", kernel, sizeof kernel, err);
    if (rc < 0 || take_shape(s, test, shape, err) != 0)
        return -1;
    if (rc == 0 || !*kernel)
        return err_set(err, ERR_INPUT, "%s: %s: no variant given (mapping: test.variant)", s->file, s->place);
    size_t used = strlen(kernel);
    if (beyond > 0)
        snprintf(kernel + used, sizeof kernel - used, ".%lld", (long long)beyond);
    snprintf(as_written, IMPORT_TEXT_MAX, "%.200s%s%.200s", kernel, *shape ? " " : "", shape);
    make_name(kernel);
    *out = (struct run_variant){.status = STATUS_OK};
    if (!*shape) {
        snprintf(out->name, sizeof out->name, "%.64s", kernel);
        return 0;
    }
    make_name(shape);
    snprintf(name, sizeof name, "%.64s_%.64s", kernel, shape);
    make_name(name);
    snprintf(out->name, sizeof out->name, "%.64s", name);
    snprintf(out->kernel, sizeof out->kernel, "%.64s", kernel);
    snprintf(out->shape, sizeof out->shape, "%.64s", shape);
    return 0;
}
