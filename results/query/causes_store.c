#include "results/query/causes_store.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *pair(double before, double now)
{
    return json_pack("[o, o]", number(before), number(now));
}

static void set_pairs(json_t *out, const int64_t *before, const int64_t *now, int n, const char *(*name)(int))
{
    for (int i = 0; i < n; i++)
        if (before[i] != now[i] && before[i] != KERNEL_FACT_UNKNOWN && now[i] != KERNEL_FACT_UNKNOWN)
            json_object_set_new(out, name(i), json_pack("[I, I]", (json_int_t)before[i], (json_int_t)now[i]));
}

static const char *resource_name(int i)
{
    return kernel_resource_name((enum kernel_resource)i);
}

static const char *class_name(int i)
{
    return instruction_class_name((enum instruction_class)i);
}

/* For example {"kernel": "attention", "change": "changed", "vgprs": [96, 128], "instructions": {"matrix":
 * [64, 80]}}. */
static json_t *encode_kernel(const struct cause_kernel *k)
{
    const char *change = !k->in_before ? "added" : !k->in_now ? "removed" : "changed";
    json_t *out = json_pack("{s:s, s:s}", "kernel", k->name, "change", change);
    json_auto_t *classes = json_object();
    if (k->in_before && k->in_now) {
        set_pairs(out, k->before.resource, k->now.resource, KERNEL_RESOURCES, resource_name);
        set_pairs(classes, k->before.instructions, k->now.instructions, INSTRUCTION_CLASSES, class_name);
    }
    if (json_object_size(classes))
        json_object_set(out, "instructions", classes);
    return out;
}

static void encode_code(const struct cause *c, json_t *out)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < c->n_kernels && i < CAUSE_KERNELS_MAX; i++)
        json_array_append_new(kernels, encode_kernel(&c->kernels[i]));
    json_object_set_new(out, "by", json_string(cause_by_name(c->by)));
    json_object_set_new(out, "kernels_changed", json_integer((json_int_t)c->n_kernels));
    json_object_set_new(out, "kernels", kernels);
    if (c->n_cells)
        json_object_set_new(out, "cells", json_integer((json_int_t)c->n_cells));
}

static void encode_changes(const struct cause_changes *c, json_t *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->count && i < CAUSE_CHANGES_MAX; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", c->items[i].key, "before",
                                              c->items[i].before, "now", c->items[i].now));
    json_object_set_new(out, "changes", list);
    json_object_set_new(out, "count", json_integer((json_int_t)c->count));
}

static void encode_clock(const struct cause *c, json_t *out)
{
    json_object_set_new(out, "clock", json_string(c->memory_clock ? "memory" : "shader"));
    json_object_set_new(out, "mhz", pair(c->before, c->now));
    json_object_set_new(out, "bounded", json_boolean(c->bounded));
    json_object_set_new(out, "sensitivity", number(c->sensitivity));
    json_object_set_new(out, "sensitivity_error", number(c->sensitivity_error));
    json_object_set_new(out, "nights", json_integer((json_int_t)c->nights));
    json_object_set_new(out, "throttled_s", number(c->throttled_s));
    json_object_set_new(out, "throttle", json_string(c->throttle));
    json_object_set_new(out, "only_this_cell", json_boolean(c->alone));
}

static json_t *encode_evidence(const struct cause *c)
{
    json_t *out = json_object();
    switch (c->kind) {
    case CAUSE_CODE:
        encode_code(c, out);
        break;
    case CAUSE_TOOLCHAIN:
    case CAUSE_ENVIRONMENT:
    case CAUSE_METHOD:
        encode_changes(&c->changes, out);
        break;
    case CAUSE_CLOCK:
        encode_clock(c, out);
        break;
    case CAUSE_NODE:
        json_object_set_new(out, "controls", json_integer((json_int_t)c->controls));
        json_object_set_new(out, "ratio", number(c->now));
        break;
    case CAUSE_NEIGHBOURS:
        json_object_set_new(out, c->own_run ? "tests_of_the_run" : "processes", pair(c->before, c->now));
        break;
    case CAUSE_UNEXPLAINED:
    case CAUSE_KINDS:
        break;
    }
    return out;
}

json_t *causes_encode(const struct cell_causes *c)
{
    json_t *out = json_array();
    for (size_t i = 0; c && i < c->count; i++) {
        const struct cause *cause = &c->items[i];
        json_array_append_new(
            out, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "kind", cause_kind_name(cause->kind),
                           "certainty", cause_certainty_name(cause->certainty), "share", number(cause->share),
                           "share_low", number(cause->share_low), "share_high", number(cause->share_high),
                           "evidence", encode_evidence(cause)));
    }
    return out;
}

/* The evidence, with what the row has no column for. */
static char *evidence_text(const struct cell_causes *cell, const struct cause *c)
{
    json_auto_t *out = encode_evidence(c);
    json_object_set_new(out, "before", json_string(cell->before));
    json_object_set_new(out, "code_state", json_string(cause_code_name(cell->code)));
    json_object_set_new(out, "share_low", number(c->share_low));
    json_object_set_new(out, "share_high", number(c->share_high));
    return json_dumps(out, JSON_COMPACT | JSON_SORT_KEYS);
}

static int save_one(struct sql_stmt *stmt, const struct cell_causes *cell, size_t i, struct err *err)
{
    const struct cause *c = &cell->items[i];
    AUTO_FREE char *evidence = evidence_text(cell, c);
    sql_bind_text(stmt, ":variant", cell->variant);
    sql_bind_int(stmt, ":context", cell->context);
    sql_bind_int(stmt, ":position", (int64_t)i);
    sql_bind_text(stmt, ":kind", cause_kind_name(c->kind));
    sql_bind_text(stmt, ":certainty", cause_certainty_name(c->certainty));
    sql_bind_num(stmt, ":share", c->share);
    sql_bind_text(stmt, ":evidence", evidence);
    return sql_run(stmt, err);
}

static int remove_old(struct store *s, int64_t now_key, int64_t base_key, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "DELETE FROM cause WHERE run_id = :run AND base_id = :base", err);
    sql_bind_int(stmt, ":run", now_key);
    sql_bind_int(stmt, ":base", base_key);
    return sql_run(stmt, err);
}

static int save_all(struct store *s, int64_t now_key, int64_t base_key, const struct causes *causes,
                    struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "INSERT INTO cause (run_id, base_id, variant, context_len, position, kind,"
                                " certainty, share, evidence) VALUES (:run, :base, :variant, :context,"
                                " :position, :kind, :certainty, :share, :evidence)",
                                err);
    sql_bind_int(stmt, ":run", now_key);
    sql_bind_int(stmt, ":base", base_key);
    for (size_t i = 0; i < causes->count; i++)
        for (size_t j = 0; j < causes->cells[i].count; j++)
            if (save_one(stmt, &causes->cells[i], j, err) != 0)
                return -1;
    return 0;
}

int causes_save(struct store *s, int64_t now_key, int64_t base_key, const struct comparison *c,
                struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    int rc = remove_old(s, now_key, base_key, err);
    if (rc == 0)
        rc = save_all(s, now_key, base_key, &c->causes, err);
    return sql_end(s, rc, err);
}
