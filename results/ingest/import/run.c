#include "results/ingest/import/run.h"

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
        run_text(s, run, "date", o->date, date, sizeof date, err) != 0 ||
        run_text(s, run, "started_at", NULL, started, sizeof started, err) != 0 ||
        take_facts(s, json_object_get(map, "facts"), d, err) != 0)
        return -1;
    snprintf(r->date, sizeof r->date, "%.10s", date);
    if (when_parse(started) != WHEN_UNKNOWN)
        snprintf(r->started_at, sizeof r->started_at, "%.24s", started);
    return check_run(r, s->file, err);
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
