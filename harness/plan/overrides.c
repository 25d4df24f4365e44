#include "harness/plan/overrides.h"

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/contract/node_name.h"
#include "harness/plan/narrow.h"
#include "harness/plan/word_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Describes one override that a record keeps. */
struct kept {
    const char *key;
    size_t option, text, size; /* offsets in the two structures, and the size in the record */
    bool empty_is_none;
};

#define KEPT(member, none)                                                                                   \
    {                                                                                                        \
#member, offsetof(struct overrides, member), offsetof(struct overrides_record, member),              \
            sizeof((struct overrides_record *)NULL)->member, none                                            \
    }
static const struct kept kept[] = {KEPT(variants, true), KEPT(contexts, true), KEPT(repeat, true),
                                   KEPT(axis, true),     KEPT(tier, true),     KEPT(budget, true),
                                   KEPT(date, false),    KEPT(tag, false),     KEPT(mode, false)};
enum { KEPT_COUNT = sizeof kept / sizeof *kept, BUDGET_MIN_S = 1 };

bool overrides_some(const struct overrides *o)
{
    return o->changed || o->budget;
}

int overrides_budget(const char *text, double *seconds, struct err *err)
{
    static const char units[] = "smh";
    static const double each[] = {1, 60, 3600};
    char *end;
    *seconds = 0;
    if (!text)
        return 0;
    double n = strtod(text, &end);
    const char *unit = *end && !end[1] ? strchr(units, *end) : NULL;
    *seconds = unit && isdigit((unsigned char)*text) ? n * each[unit - units] : 0;
    if (*seconds >= BUDGET_MIN_S && *seconds <= TEST_TIMEOUT_MAX_S)
        return 0;
    return err_set(err, ERR_INPUT,
                   "--budget: expected a time of 1s to 168h, such as 90s, 20m or 1.5h, found \"%.40s\"",
                   text);
}

int overrides_check(const struct overrides *o, struct err *err)
{
    double budget_s;
    if (o->node && !node_name_is_valid(o->node))
        return err_set(err, ERR_INPUT, "--node: expected " NODE_NAME_EXPECTED ", found \"%.80s\"", o->node);
    if (o->mode && !settings_mode_ok(o->mode))
        return err_set(err, ERR_INPUT, "--mode: expected perf or debug, found \"%.40s\"", o->mode);
    if (o->date && !clock_is_day(o->date))
        return err_set(err, ERR_INPUT, "--date: expected a date such as 2026-02-14, found \"%.40s\"",
                       o->date);
    if (o->tag && *o->tag && (!text_is_name(o->tag) || strlen(o->tag) > LIMIT_TICKET))
        return err_set(err, ERR_INPUT,
                       "--tag: expected letters, digits, '.', '_' and '-', at most %d, found \"%.80s\"",
                       LIMIT_TICKET, o->tag);
    if (o->tier && strcmp(o->tier, "smoke") != 0)
        return err_set(err, ERR_INPUT, "--tier: expected smoke, found \"%.40s\"", o->tier);
    if (overrides_budget(o->budget, &budget_s, err) != 0)
        return -1;
    if (o->baseline && !text_is_name(o->baseline))
        return err_set(err, ERR_INPUT, "--baseline: expected a baseline's name, found \"%.80s\"",
                       o->baseline);
    return 0;
}

static int select_variants(struct plan *p, const char *list, struct err *err)
{
    size_t kept_count = 0;
    char word[LIST_WORD_MAX];
    while (word_list_next(&list, word)) {
        size_t more = plan_variants_move_up(&p->variants, word, kept_count);
        if (more == 0)
            return err_set(err, ERR_INPUT, "--variants: %s has no variant \"%s\" (or it is listed twice)",
                           p->file, word);
        kept_count += more;
    }
    if (kept_count == 0)
        return err_set(err, ERR_INPUT, "--variants: expected names separated by commas");
    p->variants.count = kept_count;
    return 0;
}

static int select_tier(struct plan *p, const char *tier, struct err *err)
{
    if (!p->variants.conditions.smoke)
        return err_set(err, ERR_INPUT,
                       "--tier %.40s: %s has no \"smoke\", a list of conditions such as {\"context\": 4096}",
                       tier, p->file);
    p->variants.conditions.only_smoke = true;
    return plan_check_size(p, "--tier", err);
}

static int apply_selection(const struct overrides *o, struct plan *p, struct err *err)
{
    struct json_at root = json_root(p->root, p->file);
    if (o->variants && select_variants(p, o->variants, err) != 0)
        return -1;
    if (o->axis && narrow_to_values(&p->variants, o->axis, p->file, err) != 0)
        return -1;
    if (o->contexts && (matrix_select(&p->matrix, &root, o->contexts, err) != 0 ||
                        plan_check_size(p, "--contexts", err) != 0))
        return -1;
    if ((o->axis || o->variants) && plan_check_size(p, o->axis ? "--axis" : "--variants", err) != 0)
        return -1;
    if (o->tier && select_tier(p, o->tier, err) != 0)
        return -1;
    if (o->repeat &&
        (matrix_repeat(&p->matrix, o->repeat, err) != 0 || plan_check_size(p, "--repeat", err) != 0))
        return -1;
    return 0;
}

int overrides_apply(const struct overrides *o, struct plan *p, struct err *err)
{
    if (apply_selection(o, p, err) != 0)
        return -1;
    if (overrides_some(o) && p->scheduler.on)
        return err_set(err, ERR_INPUT,
                       "%s: --changed and --budget are not supported where a scheduler runs the tests: their "
                       "builds are made by its jobs, after the tests were chosen",
                       p->file);
    if (o->node) {
        p->node = o->node;
        p->nodes.count = 0;
    }
    p->baseline = o->baseline ? o->baseline : p->baseline;
    p->settings.mode = o->mode ? o->mode : p->settings.mode;
    p->settings.tag = o->tag ? o->tag : p->settings.tag;
    return 0;
}

static bool seen(const struct plan_variants *v, size_t count, const json_t *written)
{
    for (size_t i = 0; i < count; i++)
        if (v->item[i].written == written)
            return true;
    return false;
}

void plan_smoke(struct plan *p)
{
    struct matrix *m = &p->matrix;
    struct plan_variants *v = &p->variants;
    size_t count = 0;
    for (size_t i = 1; i < m->count; i++)
        if (m->contexts[i].tokens < m->contexts[0].tokens)
            m->contexts[0] = m->contexts[i];
    m->contexts[0].repetitions = 1;
    m->count = 1;
    m->warmup = 0;
    for (size_t i = 0; i < v->count; i++)
        if (!seen(v, count, v->item[i].written))
            v->item[count++] = v->item[i];
    v->count = count;
}

void plan_only_builds(struct plan *p)
{
    p->scheduler.on = false;
    p->gpus = (struct gpu_wish){.amount = GPUS_ONE};
    p->settings.placement = PLACEMENT_POINT;
    p->settings.gpus_per_test = 1;
    p->settings.clocks_mode = CLOCKS_LEAVE;
    p->settings.limit_memory = NULL;
    p->settings.limit_processes = 0;
    p->settings.isolate = false;
}

bool overrides_keep(struct overrides_record *r, const struct overrides *o)
{
    bool fits = true;
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        const char *option = *(const char *const *)((const char *)o + kept[i].option);
        size_t len = option ? strlen(option) : 0;
        fits &= len < kept[i].size;
        snprintf((char *)r + kept[i].text, kept[i].size, "%s", option ? option : "");
    }
    r->fresh = o->fresh;
    r->changed = o->changed;
    return fits;
}

struct overrides overrides_kept(const struct overrides_record *r)
{
    struct overrides o = {.fresh = r->fresh, .changed = r->changed};
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        const char *text = (const char *)r + kept[i].text;
        if (*text || !kept[i].empty_is_none)
            *(const char **)((char *)&o + kept[i].option) = text;
    }
    return o;
}

int overrides_encode(const struct overrides_record *r, json_t *obj)
{
    int rc = json_object_set_new(obj, "fresh", json_boolean(r->fresh)) |
             json_object_set_new(obj, "changed", json_boolean(r->changed));
    for (size_t i = 0; i < KEPT_COUNT; i++)
        rc |= json_object_set_new(obj, kept[i].key, json_string((const char *)r + kept[i].text));
    return rc;
}

int overrides_decode(struct overrides_record *r, const struct json_at *obj, struct err *err)
{
    for (size_t i = 0; i < KEPT_COUNT; i++) /* an older record has fewer */
        if (json_object_get(obj->value, kept[i].key) &&
            json_get_text(obj, kept[i].key, (char *)r + kept[i].text, kept[i].size, err) != 0)
            return -1;
    r->fresh = json_is_true(json_object_get(obj->value, "fresh"));
    r->changed = json_is_true(json_object_get(obj->value, "changed"));
    return 0;
}
