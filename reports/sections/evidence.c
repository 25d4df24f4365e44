/* Evidence for the cause: what the compiler recorded for each variant's kernels, compared with the limits of
 * the device. It says only what the stored numbers support; each statement has the number, the limit and the
 * consequence. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/sections/bundle.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <stdio.h>
#include <string.h>

/* A wave with a lower share of active lanes counts as partially filled. */
#define LANES_FULL 0.95

enum { TEXT_MAX = 64 << 10 };

static void scratch(const struct kernel_resources *k, bool nvidia, struct md *w)
{
    enum scratch_use use = insight_scratch_use(k);
    struct num bytes = num_fixed(k->use.scratch, 0), registers = num_fixed(k->use.vgprs, 0);
    if (!(k->use.scratch > 0))
        return;
    if (use == SCRATCH_OF_SPILLS)
        md_item(w, nvidia ? MSG_EVIDENCE_LOCAL : MSG_EVIDENCE_SCRATCH, k->name, bytes.s, registers.s);
    else
        md_item(w, nvidia ? MSG_EVIDENCE_VARIABLES_NVIDIA : MSG_EVIDENCE_VARIABLES, k->name, bytes.s,
                registers.s, phrase_scratch(w->lang, use));
}

static void held_by_lds(const struct kernel_resources *k, const struct gpu_limits *g, struct md *w)
{
    const struct occupancy *o = &k->occupancy;
    if (o->limit == LIMIT_LDS && o->waves < WAVES_TO_HIDE)
        md_item(w, g->nvidia ? MSG_EVIDENCE_SHARED : MSG_EVIDENCE_LDS, k->name, num_fixed(k->use.lds, 0).s,
                num_fixed(g->lds, 0).s,
                phrase_count(w->lang, (int)o->blocks, MSG_BLOCKS_ONE, MSG_BLOCKS_MANY).s,
                phrase_waves(w->lang, o->waves, g->nvidia).s, num_fixed(k->use.vgprs, 0).s,
                num_fixed(o->by_registers, 0).s);
}

static void held_by_registers(const struct kernel_resources *k, const struct gpu_limits *g, struct md *w)
{
    const struct occupancy *o = &k->occupancy;
    if (o->limit == LIMIT_REGISTERS && o->waves < WAVES_TO_HIDE)
        md_item(w, g->nvidia ? MSG_EVIDENCE_REGISTERS_NVIDIA : MSG_EVIDENCE_REGISTERS, k->name,
                num_fixed(k->use.vgprs, 0).s, num_fixed(k->use.agprs, 0).s, num_fixed(o->waves, 0).s,
                num_int(g->waves).s);
}

static void empty_lanes(const struct kernel_resources *k, const struct gpu_limits *g, struct md *w)
{
    const struct occupancy *o = &k->occupancy;
    if (o->lanes_used < LANES_FULL)
        md_item(w, g->nvidia ? MSG_EVIDENCE_LANES_NVIDIA : MSG_EVIDENCE_LANES, k->name,
                num_fixed(k->use.threads, 0).s, num_percent(o->lanes_used).s, num_int(g->lanes).s);
    if (k->useful_threads < LANES_FULL * k->use.threads)
        md_item(w, MSG_EVIDENCE_IDLE_THREADS, k->name, num_fixed(k->useful_threads, 0).s,
                num_fixed(k->use.threads, 0).s);
}

static void small_grid(const struct kernel_resources *k, const struct gpu_limits *g, struct md *w)
{
    if (k->blocks < g->units)
        md_item(w, g->nvidia ? MSG_EVIDENCE_GRID_NVIDIA : MSG_EVIDENCE_GRID, k->name,
                phrase_count(w->lang, (int)k->blocks, MSG_BLOCKS_ONE, MSG_BLOCKS_MANY).s,
                num_int(g->units).s);
}

static void rereads(const struct kernel_resources *k, struct md *w)
{
    if (k->kv_passes > 1)
        md_item(w, MSG_EVIDENCE_REREADS, k->name, num_fixed(k->kv_passes, 0).s);
}

static void ports(const struct kernel_resources *k, struct md *w)
{
    const struct port_use *most = resources_bound(k);
    if (!most)
        return;
    AUTO(buf_release) struct buf all = {.max = 1024};
    for (size_t i = 0; i < k->n_ports; i++)
        buf_printf(&all, "%s%s %s", i ? ", " : "", k->ports[i].name, num_fixed(k->ports[i].cycles, 0).s);
    md_item(w, MSG_EVIDENCE_PORTS, k->name, most->name, buf_str(&all));
}

static void together(const struct kernel_resources *k, const struct gpu_limits *g, struct md *w)
{
    const struct occupancy *o = &k->occupancy;
    if (o->waves == 1 && o->lanes_used < LANES_FULL)
        md_item(w, g->nvidia ? MSG_EVIDENCE_TOGETHER_NVIDIA : MSG_EVIDENCE_TOGETHER,
                num_percent(o->lanes_used).s);
}

static void write_kernel(const struct kernel_resources *k, const struct gpu_limits *limits, struct md *w)
{
    scratch(k, limits && limits->nvidia, w);
    if (limits && k->has_occupancy) {
        held_by_lds(k, limits, w);
        held_by_registers(k, limits, w);
        empty_lanes(k, limits, w);
        small_grid(k, limits, w);
        together(k, limits, w);
    }
    rereads(k, w);
    ports(k, w);
}

/* Kernels that no recorded launch fits did not run; without such records any may have. */
static bool considered(const struct variant_resources *r, size_t i)
{
    return r->ran == 0 || r->kernels[i].ran;
}

/* Whether an earlier kernel has the same statements, apart from the name. */
static bool said_before(const struct variant_resources *r, size_t at, enum report_lang lang)
{
    bool same = false;
    AUTO(buf_release) struct buf own = {.max = TEXT_MAX};
    AUTO(buf_release) struct buf other = {.max = TEXT_MAX};
    for (size_t i = 0; i < at && !same; i++) {
        if (!considered(r, i))
            continue;
        struct kernel_resources a = r->kernels[at], b = r->kernels[i];
        struct md left = {.out = &own, .lang = lang}, right = {.out = &other, .lang = lang};
        a.name[0] = b.name[0] = '\0';
        buf_clear(&own);
        buf_clear(&other);
        write_kernel(&a, r->limits, &left);
        write_kernel(&b, r->limits, &right);
        same = own.len && strcmp(buf_str(&own), buf_str(&other)) == 0;
    }
    return same;
}

/* Instances of one template often differ only in name, so kernels with equal statements are only counted. */
static void write_kernels(const struct report_model *m, size_t variant, struct md *w)
{
    const struct variant_resources *r = &m->resources[variant];
    int alike = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!considered(r, i))
            continue;
        bool again = said_before(r, i, w->lang);
        alike += again;
        if (!again)
            write_kernel(&r->kernels[i], r->limits, w);
    }
    if (alike)
        md_item(w, MSG_EVIDENCE_ALIKE, phrase_count(w->lang, alike, MSG_KERNELS_ONE, MSG_KERNELS_MANY).s);
}

static void write_slow_title(const struct report_model *m, size_t variant, const struct standing_range *s,
                             struct md *w)
{
    AUTO(buf_release) struct buf times = {.max = 128};
    phrase_factors(&times, 1 / s->high, 1 / s->low);
    md_say(w, MSG_EVIDENCE_OF_SLOW, report_model_variant(m, variant), report_model_reference(m),
           buf_str(&times));
}

/* Says which kernels of the build the statements concern. */
static void write_choice(const struct variant_resources *r, struct md *w)
{
    struct num all = num_int((int64_t)r->count), ran = num_int((int64_t)r->ran);
    if (r->ran == 0 && r->count > 1)
        md_say(w, MSG_EVIDENCE_ANY, all.s);
    else if (r->ran > 1)
        md_say(w, MSG_EVIDENCE_RAN_SEVERAL, all.s, ran.s);
    else if (r->ran < r->count)
        md_say(w, MSG_EVIDENCE_RAN, all.s, ran.s);
    else
        md_say(w, MSG_COLON);
}

static void write_title(const struct report_model *m, size_t variant, struct md *w)
{
    struct standing_range s = insight_standing(m, variant, m->reference);
    char file[DETAILS_PATH_MAX], path[DETAILS_PATH_MAX + FS_PATH_MAX];
    snprintf(file, sizeof file, "%s/resources.json", m->now.variants[variant].name);
    bundle_link(w, &m->now.info, file, path, sizeof path);
    if (variant != m->reference && s.contexts && s.slow == s.contexts)
        write_slow_title(m, variant, &s, w);
    else
        md_say(w, MSG_EVIDENCE_OF, report_model_variant(m, variant));
    md_say(w, MSG_EVIDENCE_SOURCE, m->resources[variant].arch);
    if (*m->now.info.bundle)
        md_link(w, "resources.json", path);
    else
        md_code(w, "resources.json");
    write_choice(&m->resources[variant], w);
    md_end(w);
}

void section_evidence(const struct report_model *m, struct md *w)
{
    struct md_part part = md_part_begin(w, 2, MSG_H_EVIDENCE);
    md_para(w, MSG_EVIDENCE_INTRO);
    part.empty = w->out->len;
    for (size_t v = 0; v < m->now.n_variants; v++) {
        size_t before = w->out->len;
        write_title(m, v, w);
        size_t none = w->out->len;
        write_kernels(m, v, w);
        if (w->out->len == none)
            md_truncate(w, before);
        md_end(w);
    }
    md_part_end(w, &part);
}
