#include "harness/plan/sample.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines that last set the values of the reader. */
struct lines {
    double value[TIMINGS_MAX];
    size_t line[TIMINGS_MAX];
    size_t matching; /* number of lines in which something was found */
};

static void note_line(struct lines *l, const struct timings *t, unsigned long *times, size_t line)
{
    if (t->times_found == *times)
        return;
    *times = t->times_found;
    l->matching++;
    for (size_t i = 0; i < t->count; i++)
        if (l->line[i] == 0 || l->value[i] != t->item[i].value) {
            l->line[i] = line;
            l->value[i] = t->item[i].value;
        }
}

static void feed_lines(struct timing_reader *r, struct lines *l, const char *text, size_t len)
{
    size_t line = 0;
    unsigned long times = 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) + 1 - at : len - at;
        timing_reader_feed(r, text + at, n);
        at += n;
        if (at == len)
            timing_reader_finish(r);
        note_line(l, &r->result, &times, ++line);
    }
}

static void set_unit(struct sample_value *v, const struct own_metric *m)
{
    size_t n = strlen(v->name);
    const char *unit = m                                              ? m->unit
                       : n > 2 && strcmp(v->name + n - 2, "_s") == 0  ? "s"
                       : n > 3 && strcmp(v->name + n - 3, "_ms") == 0 ? "ms"
                                                                      : "";
    snprintf(v->unit, sizeof v->unit, "%s", unit);
}

static struct sample_value *find(struct sample *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->item[i].name, name) == 0)
            return &s->item[i];
    return NULL;
}

static struct sample_value *add(struct sample *s, const struct plan *p, const char *name)
{
    const struct own_metric *m = own_metrics_find(&p->metrics, name);
    struct sample_value *v = find(s, name);
    if (v || s->count == SAMPLE_VALUES_MAX)
        return v;
    v = &s->item[s->count++];
    *v = (struct sample_value){.primary = m && m->primary};
    snprintf(v->name, sizeof v->name, "%s", name);
    set_unit(v, m);
    return v;
}

/* The number of lines that match the pattern, whatever its groups contain. */
static size_t count_matches(const struct timing_rule *rule, const char *text, size_t len)
{
    struct err ignored = {0};
    size_t matches = 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        matches +=
            regex_match(&rule->regex, text + at, n < LIMIT_LOG_LINE ? n : LIMIT_LOG_LINE, 0, &ignored) == 1;
        at += n + 1;
    }
    return matches;
}

static void explain(struct sample_value *v, const struct timing_rule *rule, const struct timing_part *part,
                    const char *nearest, size_t matches)
{
    switch (rule->kind) {
    case TIMING_REGEX:
        if (matches == 0)
            snprintf(v->why, sizeof v->why, "no line matches the pattern%s%s",
                     *nearest ? "; the nearest is: " : "", nearest);
        else
            snprintf(v->why, sizeof v->why, "%zu line%s the pattern, but this group is no number in any",
                     matches, matches == 1 ? " matches" : "s match");
        return;
    case TIMING_JSON:
        snprintf(v->why, sizeof v->why, "no JSON object in the output has a number at %.100s",
                 part ? part->path : "its path");
        return;
    case TIMING_MARK:
        snprintf(v->why, sizeof v->why, "no line " PROTO_TIMING_MARK " {...} has a number %s %.100s",
                 part && *part->path == '$' ? "at" : "called", part ? part->path : v->name);
        return;
    case TIMING_WALL:
        return;
    }
}

static void collect(struct sample *s, const struct plan *p, const struct timing_rule *rule,
                    const struct timings *t, const struct lines *l, size_t matches)
{
    for (size_t i = 0; i < rule->count; i++) {
        const char *name = rule->part[i].name;
        bool special = strcmp(name, "attn_impl") == 0 || strcmp(name, "prompt_tokens") == 0;
        struct sample_value *v = special ? NULL : add(s, p, name);
        if (v)
            explain(v, rule, &rule->part[i], t->nearest, matches);
    }
    for (size_t i = 0; i < t->count; i++) {
        struct sample_value *v = add(s, p, t->item[i].name);
        if (!v)
            continue;
        v->value = t->item[i].value;
        v->line = l->line[i];
        v->why[0] = '\0';
        s->found++;
    }
    if (*t->problem || *t->unread)
        snprintf(s->problem, sizeof s->problem, "%s", *t->problem ? t->problem : t->unread);
    else if (*t->skip)
        snprintf(s->problem, sizeof s->problem, "the output says SKIP: %s", t->skip);
    else if (rule->kind == TIMING_REGEX && matches == 0)
        snprintf(s->problem, sizeof s->problem, "the pattern is %s", rule->pattern);
    else if (s->count == 0 && !s->wall)
        snprintf(s->problem, sizeof s->problem,
                 "no line " PROTO_TIMING_MARK " {...}: give \"timings\", or the wall time is what counts");
}

int sample_read(struct sample *out, const struct plan *p, const char *text, size_t len, struct err *err)
{
    struct json_at root = json_root(p->root, p->file), spec = json_member(&root, "timings"),
                   metrics = json_member(&root, "metrics");
    AUTO(timing_rule_release) struct timing_rule rule = {0};
    AUTO_FREE struct timing_reader *reader = xcalloc(1, sizeof *reader);
    struct lines lines = {.matching = 0};
    *out = (struct sample){.count = 0};
    if (timing_rule_init(&rule, &spec, err) != 0 ||
        timing_rule_add_metrics(&rule, &p->metrics, &metrics, err) != 0)
        return -1;
    timing_reader_init(reader, &rule);
    feed_lines(reader, &lines, text, len);
    out->wall = rule.kind == TIMING_WALL;
    collect(out, p, &rule, &reader->result, &lines,
            rule.kind == TIMING_REGEX ? count_matches(&rule, text, len) : 0);
    timing_reader_release(reader);
    return 0;
}
