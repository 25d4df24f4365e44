#include "harness/propose/draft.h"

#include "common/base/alloc.h"
#include "common/contract/own_metric.h"

#include <stdlib.h>
#include <string.h>

/* A key of the plan with the comments above it. */
struct entry {
    const char *key;
    const char *comment; /* its lines; NULL: none */
    json_t *value;       /* owned; NULL: the entry is left out */
};

enum { ENTRIES_MAX = 16 };

static json_t *encode_timings(const struct proposal *p)
{
    json_t *map = json_object();
    switch (p->kind) {
    case PROPOSE_WALL:
        json_decref(map);
        return json_string("wall");
    case PROPOSE_MARK:
        json_decref(map);
        return NULL;
    case PROPOSE_REGEX:
        json_decref(map);
        return json_pack("{s:s, s:s}", "kind", "regex", "pattern", p->pattern);
    case PROPOSE_JSON:
        for (size_t i = 0; i < p->count; i++)
            json_object_set_new(map, p->item[i].name, json_string(p->item[i].path));
        return json_pack("{s:s, s:o}", "kind", "json", "map", map);
    }
    return map;
}

static json_t *encode_metric(const struct proposal *p, size_t i)
{
    const struct proposed *one = &p->item[i];
    json_t *m = json_pack("{s:s, s:s, s:s}", "name", one->name, "unit", one->unit, "better",
                          one->more ? "more" : "less");
    if (p->kind == PROPOSE_MARK)
        json_object_set_new(m, "from", json_string(one->path));
    if (i == p->primary)
        json_object_set_new(m, "primary", json_true());
    return m;
}

static json_t *encode_metrics(const struct proposal *p)
{
    json_t *list = p->count > 0 ? json_array() : NULL;
    for (size_t i = 0; i < p->count; i++)
        json_array_append_new(list, encode_metric(p, i));
    return list;
}

static json_t *encode_source(const struct draft *d)
{
    return d->source ? json_pack("{s:s, s:O*}", "dir", d->source, "include", d->include) : NULL;
}

static json_t *encode_variants(const struct draft *d)
{
    return json_pack("[{s:s, s:O*, s:O}]", "name", "baseline", "build", d->build, "run", d->run);
}

static const char *about_timings(const struct proposal *p)
{
    switch (p->kind) {
    case PROPOSE_WALL:
        return "Nothing is read from the output: the wall time of each process is compared. If the program "
               "prints\n"
               "a time or a rate, read that instead: plans.md, \"How a workload reports its timings\".";
    case PROPOSE_MARK:
    case PROPOSE_JSON:
        return "Where the numbers are in what the program prints (one JSON object per line, or a whole "
               "document).\n"
               "`kernsweep validate PLAN --sample FILE` shows what is found in a saved output.";
    case PROPOSE_REGEX:
        return "Where the numbers are in what the program prints: each named group is one; the last line "
               "that matches\n"
               "counts. `kernsweep validate PLAN --sample FILE` shows what is found in a saved output.";
    }
    return NULL;
}

static size_t entries_of(const struct draft *d, struct entry *e)
{
    const struct entry all[] = {
        {"$schema", NULL, d->schema ? json_string(d->schema) : NULL},
        {"schema", NULL, json_string(PROTO_SCHEMA_PLAN)},
        {"ticket", "Names this series of runs: runs of one ticket are compared with each other.",
         json_string(d->ticket)},
        {"node",
         "Where it runs: \"local\", an ssh alias, or user@host. `kernsweep check PLAN` checks whether it is "
         "fit.",
         json_string(d->node)},
        {"source", "The files that are sent to the node, relative to this file; {src} is their folder there.",
         encode_source(d)},
        {"contexts",
         d->sized ? "The sizes to measure: each takes the place of {context} below."
                  : "The sizes to measure. No command below has {context} yet, so one size is enough.",
         json_incref((json_t *)d->contexts)},
        {"baseline",
         "The stored run that the others are compared with. The first night of `kernsweep nightly` becomes "
         "it; "
         "later ones\n"
         "replace it with `kernsweep baseline set main RUN`.",
         json_string("main")},
        {"repetitions", "With five or more per size, a small change can be told from noise.",
         json_integer(d->repetitions)},
        {"timeouts", "Seconds after which a process is stopped.",
         json_pack("{s:I}", "default", (json_int_t)d->timeout_s)},
        {"timings", about_timings(d->proposal), encode_timings(d->proposal)},
        {"metrics",
         "What the numbers mean: their unit, and whether less or more is better. Runs are judged by the "
         "primary one.",
         encode_metrics(d->proposal)},
        {"variants",
         "What is compared. Copy the block and change its name, build or run to add another variant; each "
         "is\n"
         "compared with the one named baseline.",
         encode_variants(d)},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value)
            e[n++] = all[i];
    return n;
}

static void release_entries(struct entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_decref(e[i].value);
}

json_t *draft_encode(const struct draft *d)
{
    struct entry e[ENTRIES_MAX];
    size_t n = entries_of(d, e);
    json_t *plan = json_object();
    for (size_t i = 0; i < n; i++)
        json_object_set(plan, e[i].key, e[i].value);
    release_entries(e, n);
    return plan;
}

static void put_comment(struct buf *out, const char *indent, const char *mark, const char *text)
{
    while (text) {
        const char *end = strchr(text, '\n');
        buf_puts(out, indent);
        buf_puts(out, mark);
        buf_add(out, text, end ? (size_t)(end - text) : strlen(text));
        buf_putc(out, '\n');
        text = end ? end + 1 : NULL;
    }
}

static void put_json(struct buf *out, const json_t *value)
{
    AUTO_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    buf_puts(out, text ? text : "null");
}

/* Writes each member of a variant or a list of metrics on one line, in flow style with quoted texts, which is
 * the same in JSON and YAML. */
static void put_list(struct buf *out, const json_t *list, const char *indent, bool yaml)
{
    size_t i, n = json_array_size(list);
    json_t *item;
    buf_puts(out, yaml ? "\n" : "[\n");
    json_array_foreach((json_t *)list, i, item)
    {
        buf_puts(out, indent);
        buf_puts(out, yaml ? "  - " : "  ");
        put_json(out, item);
        buf_puts(out, !yaml && i + 1 < n ? ",\n" : "\n");
    }
    buf_puts(out, yaml ? "" : indent);
    buf_puts(out, yaml ? "" : "]");
}

static void put_variant(struct buf *out, const json_t *variant, bool yaml)
{
    const char *key;
    json_t *value;
    bool first = true;
    buf_puts(out, yaml ? "\n" : "[\n    {\n");
    json_object_foreach((json_t *)variant, key, value)
    {
        if (!yaml)
            buf_puts(out, first ? "" : ",\n");
        buf_puts(out, yaml ? (first ? "  - " : "    ") : "      \"");
        buf_puts(out, key);
        buf_puts(out, yaml ? ": " : "\": ");
        put_json(out, value);
        buf_puts(out, yaml ? "\n" : "");
        first = false;
    }
    buf_puts(out, yaml ? "" : "\n    }\n  ]");
}

static void put_value(struct buf *out, const struct entry *e, bool yaml)
{
    if (strcmp(e->key, "variants") == 0)
        put_variant(out, json_array_get(e->value, 0), yaml);
    else if (strcmp(e->key, "metrics") == 0)
        put_list(out, e->value, yaml ? "" : "  ", yaml);
    else
        put_json(out, e->value);
}

static void put_head(struct buf *out, const struct draft *d, bool yaml, const char *file)
{
    const char *mark = yaml ? "# " : "// ";
    if (yaml && d->schema)
        buf_printf(out, "# yaml-language-server: $schema=%s\n", d->schema);
    buf_printf(out, "%sA plan of kernsweep. Check it: kernsweep validate %s\n", mark, file);
    buf_printf(out, "%sRun each variant once: kernsweep run %s --smoke; then all of it: kernsweep run %s\n",
               mark, file, file);
    buf_printf(out, "%sEvery key is described in plans.md (in share/doc/kernsweep).\n", mark);
    buf_puts(out, yaml ? "" : "{\n");
}

int draft_write(const struct draft *d, bool yaml, const char *file, struct buf *out, struct err *err)
{
    struct entry e[ENTRIES_MAX];
    size_t n = entries_of(d, e);
    put_head(out, d, yaml, file);
    for (size_t i = 0; i < n; i++) {
        if (yaml && strcmp(e[i].key, "$schema") == 0)
            continue;
        put_comment(out, yaml ? "" : "  ", yaml ? "# " : "// ", e[i].comment);
        bool block = strcmp(e[i].key, "variants") == 0 || strcmp(e[i].key, "metrics") == 0;
        buf_printf(out, yaml ? "%s:" : "  \"%s\": ", e[i].key);
        buf_puts(out, yaml && !block ? " " : "");
        put_value(out, &e[i], yaml);
        buf_puts(out, !yaml ? (i + 1 < n ? ",\n" : "\n") : block ? "" : "\n");
    }
    buf_puts(out, yaml ? "" : "}\n");
    release_entries(e, n);
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "the plan is longer than %zu bytes", out->max);
}
