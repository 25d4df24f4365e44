/* Build verification: whether each variant was built, which gates it passed, and the resources of its
 * kernels. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GATES_TEXT_MAX = 8192 };

/* Appends gates like "correct: OK, no spill: GATE_FAILED". */
static void gates_of(const struct report_model *m, size_t variant, struct buf *out)
{
    for (size_t i = 0; i < m->details.n_gates; i++) {
        const struct run_gate *g = &m->details.gates[i];
        if (g->variant == variant)
            buf_printf(out, "%s%s: %s", out->len ? ", " : "", g->name,
                       status_name(g->passed ? STATUS_OK : STATUS_GATE_FAILED));
    }
}

static const struct run_file *build_log(const struct report_model *m, size_t variant)
{
    char path[DETAILS_PATH_MAX];
    snprintf(path, sizeof path, "%s/build.log", m->now.variants[variant].name);
    return details_file(&m->details, path);
}

static bool same_log(const struct report_model *m, size_t a, size_t b)
{
    const struct run_file *x = build_log(m, a), *y = build_log(m, b);
    return strcmp(x ? x->sha256 : "", y ? y->sha256 : "") == 0;
}

static bool same_code(const struct report_model *m, size_t a, size_t b)
{
    return strcmp(m->now.variants[a].code_sha256, m->now.variants[b].code_sha256) == 0;
}

static bool has_gates(const struct report_model *m, size_t variant)
{
    for (size_t i = 0; i < m->details.n_gates; i++)
        if (m->details.gates[i].variant == variant)
            return true;
    return false;
}

/* Whether anything was built or checked. A variant without builds has a build time of 0, as has one whose run
 * ended before them; an import has none, and its gates may have been evaluated without effect. */
static bool known(const struct report_model *m, size_t variant)
{
    const struct run_variant *v = &m->now.variants[variant];
    return v->build_wall_s > 0 || v->build_cached || v->status != STATUS_OK ||
           (isfinite(v->build_wall_s) && has_gates(m, variant)) || isfinite(v->value[METRIC_SCRATCH_BYTES]) ||
           isfinite(v->value[METRIC_VGPRS]);
}

/* Whether this is a further shape of a kernel that is already listed. */
static bool same_build(const struct report_model *m, size_t variant)
{
    if (m->now.variants[variant].status != STATUS_OK || has_gates(m, variant))
        return false;
    for (size_t v = 0; v < variant; v++)
        if (report_model_same(m, v, variant) && m->now.variants[v].status == STATUS_OK &&
            same_log(m, v, variant) && same_code(m, v, variant))
            return true;
    return false;
}

/* The name includes the point if the points of a variant have several builds. */
static const char *build_name(const struct report_model *m, size_t variant)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (v != variant && report_model_same(m, v, variant) && !same_build(m, v))
            return m->now.variants[variant].name;
    return report_model_variant(m, variant);
}

static void builds(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_VARIANT, MSG_COL_KERNEL, MSG_COL_STATUS);
    table_numbers(&t, w->lang, MSG_COL_BUILD_TIME);
    table_texts(&t, w->lang, MSG_COL_GATES);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_variant *variant = &m->now.variants[v];
        if (!known(m, v) || same_build(m, v))
            continue;
        AUTO(buf_release) struct buf gates = {.max = GATES_TEXT_MAX};
        gates_of(m, v, &gates);
        table_code(&t, variant->status == STATUS_OK ? build_name(m, v) : variant->name);
        table_code(&t, variant->attn_impl);
        table_marked(&t, status_name(variant->status), variant->status == STATUS_OK ? MARK_NONE : MARK_BAD);
        table_text(&t, variant->build_cached
                           ? message(w->lang, MSG_BUILD_CACHED)
                           : num_duration(variant->build_wall_s > 0 ? variant->build_wall_s : (double)NAN).s);
        table_code(&t, buf_str(&gates));
    }
    table_drop_empty(&t, 3);
    if (table_rows(&t))
        md_table(w, &t);
}

static const char *limit_word(enum occupancy_limit l, bool nvidia, enum report_lang lang)
{
    static const enum msg words[] = {[LIMIT_NONE] = MSG_LIMIT_NONE,
                                     [LIMIT_REGISTERS] = MSG_LIMIT_REGISTERS,
                                     [LIMIT_LDS] = MSG_LIMIT_LDS,
                                     [LIMIT_SLOTS] = MSG_LIMIT_SLOTS,
                                     [LIMIT_BLOCKS] = MSG_LIMIT_BLOCKS};
    if (nvidia && l == LIMIT_LDS)
        return message(lang, MSG_LIMIT_SHARED);
    if (nvidia && l == LIMIT_SLOTS)
        return message(lang, MSG_LIMIT_WARPS);
    return message(lang, words[l]);
}

static void kernel_row(const struct report_model *m, size_t variant, const struct kernel_resources *k,
                       struct table *t, enum report_lang lang)
{
    double nan = (double)NAN;
    table_code(t, report_model_variant(m, variant));
    table_code(t, k->name);
    table_code(t, m->resources[variant].arch);
    table_text(t, num_fixed(k->use.vgprs, 0).s);
    table_text(t, num_fixed(k->use.agprs, 0).s);
    table_text(t, num_fixed(k->use.sgprs, 0).s);
    table_marked(t, num_fixed(k->use.scratch, 0).s, k->use.scratch > 0 ? MARK_BAD : MARK_NONE);
    table_text(t, num_fixed(k->use.lds, 0).s);
    table_text(t, num_fixed(k->use.threads, 0).s);
    table_text(t, num_percent(k->has_occupancy ? k->occupancy.lanes_used : nan).s);
    table_text(t, num_fixed(k->has_occupancy ? k->occupancy.waves : nan, 0).s);
    table_text(t, k->has_occupancy
                      ? limit_word(k->occupancy.limit, resources_nvidia(&m->resources[variant], 1), lang)
                      : NUM_NONE);
}

static void kernels(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    bool nvidia = resources_nvidia(m->resources, m->now.n_variants);
    table_texts(&t, w->lang, MSG_COL_VARIANT, MSG_COL_KERNEL_SYMBOL, MSG_COL_ARCH);
    table_column(&t, nvidia ? message(w->lang, MSG_COL_REGISTERS) : "VGPR", true);
    table_column(&t, "AGPR", true);
    table_column(&t, "SGPR", true);
    table_numbers(&t, w->lang, nvidia ? MSG_COL_LOCAL : MSG_COL_SCRATCH,
                  nvidia ? MSG_COL_SHARED : MSG_COL_LDS, MSG_COL_THREADS, MSG_COL_LANES,
                  nvidia ? MSG_COL_WARPS : MSG_COL_WAVES);
    table_texts(&t, w->lang, MSG_COL_LIMIT);
    int left = 0;
    for (size_t v = 0; v < m->now.n_variants; v++)
        for (size_t i = 0; i < m->resources[v].count; i++) {
            const struct variant_resources *r = &m->resources[v];
            bool shown = r->ran == 0 || r->kernels[i].ran;
            left += !shown;
            if (shown)
                kernel_row(m, v, &r->kernels[i], &t, w->lang);
        }
    table_drop_empty(&t, 3);
    if (table_rows(&t)) {
        md_heading(w, 3, MSG_H_RESOURCES);
        md_table(w, &t);
        md_para(w, nvidia ? MSG_RESOURCES_NOTE_NVIDIA : MSG_RESOURCES_NOTE);
        if (left)
            md_para(w, MSG_RESOURCES_LEFT, num_int(left).s);
    }
}

void section_build(const struct report_model *m, struct md *w)
{
    bool any = false;
    for (size_t v = 0; v < m->now.n_variants; v++)
        any |= known(m, v) || m->resources[v].count;
    if (!any)
        return;
    md_heading(w, 2, MSG_H_BUILD);
    builds(m, w);
    kernels(m, w);
}
