#include "reports/plot/plot.h"

#include "common/base/alloc.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/picture.h"
#include "reports/plot/script.h"
#include "reports/plot/svg.h"
#include "reports/words/number.h"
#include "reports/words/quantity.h"

#include <stdio.h>
#include <string.h>

enum { SCRIPT_MAX = 4 << 20, OUTPUT_MAX = 16 << 20 };
#define GNUPLOT_DEADLINE_S 20.0

static void plan_figure(struct figure_set *set, enum figure_kind kind, const char *name, const char *alt)
{
    struct figure *p = &set->items[set->count++];
    *p = (struct figure){.kind = kind};
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->alt, sizeof p->alt, "%s", alt);
}

/* How many names of variants there are, the reference among them. */
static size_t names_of(const struct report_model *m)
{
    size_t names = 0;
    for (size_t v = 0; v < m->now.n_variants; v++)
        names += report_model_first(m, v);
    return names;
}

/* The description states how many variants are shown if not all are. */
static void describe(const struct report_model *m, enum report_lang lang, enum msg id, struct buf *out)
{
    size_t names = names_of(m);
    message_plain(out, lang, id);
    if (names > SCRIPT_SERIES_MAX)
        message_plain(out, lang, MSG_PLOT_FIRST, num_int(SCRIPT_SERIES_MAX).s, num_int((int64_t)names).s);
}

typedef bool picture_fn(struct buf *out, const struct report_model *m, enum report_lang lang);

struct subject {
    enum figure_kind kind;
    picture_fn *write, *panels;
    const char *name;
    enum msg alt, caption, of_panels;
    const char *about; /* the variant that the captions name */
};

static void caption(struct figure *f, enum report_lang lang, enum msg id, const char *about)
{
    AUTO(buf_release) struct buf text = {.max = FIGURE_CAPTION_MAX};
    message_plain(&text, lang, id, about);
    snprintf(f->caption, sizeof f->caption, "%s", buf_str(&text));
}

static void plan_subject(struct figure_set *set, const struct report_model *m, enum report_lang lang,
                         const struct subject *s, struct buf *script)
{
    char name[FIGURE_NAME_MAX];
    AUTO(buf_release) struct buf alt = {.max = FIGURE_ALT_MAX};
    describe(m, lang, s->alt, &alt);
    snprintf(name, sizeof name, "%s.svg", s->name);
    if (s->write(script, m, lang)) {
        plan_figure(set, s->kind, name, buf_str(&alt));
        caption(&set->items[set->count - 1], lang, s->caption, s->about);
    }
    buf_clear(&alt);
    message_plain(&alt, lang, s->alt);
    message_plain(&alt, lang, MSG_PLOT_REST);
    snprintf(name, sizeof name, "%s-more.svg", s->name);
    if (s->panels(script, m, lang)) {
        plan_figure(set, s->kind, name, buf_str(&alt));
        caption(&set->items[set->count - 1], lang, s->of_panels, s->about);
    }
}

static void plan_simple(struct figure_set *set, const struct report_model *m, enum report_lang lang,
                        struct buf *script)
{
    const bool prompt = m->scaled.prompt;
    const char *reference = report_model_reference(m);
    const struct subject subjects[] = {
        {FIGURE_SCALING, picture_scaling, picture_scaling_panels, prompt ? "prefill" : "scaling",
         prompt ? MSG_PLOT_ALT_PREFILL : MSG_PLOT_ALT_KERNEL, MSG_CAPTION_SCALING, MSG_CAPTION_PANELS_LINE,
         picture_scaling_guide(m)},
        {FIGURE_SPEEDUP, picture_speedup, picture_speedup_panels, "speedup", MSG_PLOT_ALT_SPEEDUP,
         picture_speedup_is_log(m) ? MSG_CAPTION_SPEEDUP_LOG : MSG_CAPTION_SPEEDUP, MSG_CAPTION_PANELS_BARS,
         reference},
        {FIGURE_MEMORY, picture_memory, picture_memory_panels, "memory", MSG_PLOT_ALT_MEMORY,
         MSG_CAPTION_MEMORY, MSG_CAPTION_PANELS, reference},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        plan_subject(set, m, lang, &subjects[i], script);
}

static bool changed(const struct report_model *m, const struct history_series *s)
{
    for (size_t i = 0; i < m->history.n_changes; i++)
        if (m->history.changes[i].series == s)
            return true;
    return false;
}

/* Imported benchmarks have no context. */
static void cell_name(const struct history_series *s, enum report_lang lang, struct buf *out)
{
    if (s->context)
        message_plain(out, lang, MSG_PLOT_CELL, s->variant, num_int(s->context).s);
    else
        buf_puts(out, s->variant);
}

/* Plans a plot for each series of the most important verdicts. */
static void plan_histories(struct figure_set *set, const struct report_model *m, enum report_lang lang,
                           struct buf *script)
{
    for (size_t i = 0; i < m->history.n_plotted; i++) {
        const struct plotted_series *p = &m->history.plotted[i];
        char name[FIGURE_NAME_MAX];
        if (!picture_history(script, m, p, lang))
            continue;
        snprintf(name, sizeof name, "history-%zu.svg", i + 1);
        AUTO(buf_release) struct buf alt = {.max = FIGURE_ALT_MAX};
        AUTO(buf_release) struct buf cell = {.max = FIGURE_ALT_MAX};
        cell_name(p->series, lang, &cell);
        message_plain(&alt, lang, MSG_PLOT_ALT_HISTORY, buf_str(&cell));
        plan_figure(set, FIGURE_HISTORY, name, buf_str(&alt));
        buf_clear(&alt);
        message_plain(&alt, lang, MSG_CAPTION_HISTORY, buf_str(&cell), p->tics ? p->tic[0].date : "",
                      m->now.info.date, message(lang, picture_history_reference(p->delta)),
                      metric_with_unit(p->delta->metric, p->delta->reference.value).s,
                      num_percent(p->delta->estimate.threshold).s);
        if (changed(m, p->series))
            message_plain(&alt, lang, MSG_CAPTION_CHANGES);
        snprintf(set->items[set->count - 1].caption, FIGURE_CAPTION_MAX, "%s", buf_str(&alt));
    }
}

/* Assigns to each planned figure its SVG document; false if one cannot be read. */
static bool collect(struct figure_set *set, const struct buf *svg)
{
    const char *s = buf_str(svg), *end = s + svg->len, *start;
    size_t len;
    for (size_t i = 0; i < set->count; i++) {
        struct buf one;
        buf_init(&one, OUTPUT_MAX);
        if (plot_svg_next(&s, end, &start, &len) && plot_svg_finish(&one, start, len, set->items[i].alt))
            set->items[i].svg = buf_steal(&one);
        buf_release(&one);
        if (!set->items[i].svg)
            return false;
    }
    return true;
}

/* Drops the figures and keeps the reason. */
static void give_up(struct figure_set *set, const char *why)
{
    figure_set_release(set);
    snprintf(set->unavailable, sizeof set->unavailable, "%.250s", why);
}

int plot_draw(const struct report_model *m, enum report_lang lang, struct figure_set *set, struct err *err)
{
    struct err why = {0};
    int rc = 0;
    *set = (struct figure_set){0};
    AUTO(buf_release) struct buf script = {.max = SCRIPT_MAX};
    AUTO(buf_release) struct buf svg = {.max = OUTPUT_MAX};
    plan_simple(set, m, lang, &script);
    plan_histories(set, m, lang, &script);
    if (!buf_ok(&script))
        rc = err_set(err, ERR_INTERNAL, "plots: the script exceeds %d bytes", SCRIPT_MAX);
    else if (set->count && gnuplot_run(&script, GNUPLOT_DEADLINE_S, &svg, &why)) {
        give_up(set, why.msg);
        rc = why.kind == ERR_INTERRUPTED ? err_set(err, ERR_INTERRUPTED, "%s", why.msg) : 0;
    } else if (!collect(set, &svg))
        give_up(set, "gnuplot did not write the SVG that was expected");
    return rc;
}
