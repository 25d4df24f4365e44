#include "reports/plot/plot.h"

#include "reports/plot/gnuplot.h"
#include "reports/plot/picture.h"
#include "reports/plot/script.h"
#include "reports/plot/svg.h"
#include "reports/words/number.h"

#include <stdio.h>
#include <string.h>

enum { SCRIPT_MAX = 4 << 20, OUTPUT_MAX = 16 << 20, HISTORIES_MAX = 3, HISTORY_POINTS_MIN = 5 };
#define GNUPLOT_DEADLINE_S 20.0

static void plan_figure(struct figure_set *set, enum figure_kind kind, const char *name, const char *alt)
{
    struct figure *p = &set->items[set->count++];
    *p = (struct figure){.kind = kind};
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->alt, sizeof p->alt, "%s", alt);
}

/* The description states how many variants are shown if not all are. */
static void describe(const struct report_model *m, enum report_lang lang, enum msg id, struct buf *out)
{
    size_t names = 0;
    message_plain(out, lang, id);
    for (size_t v = 0; v < m->now.n_variants; v++)
        names += report_model_first(m, v);
    if (names > SCRIPT_LINES_MAX)
        message_plain(out, lang, MSG_PLOT_FIRST, num_int(SCRIPT_LINES_MAX).s, num_int((int64_t)names).s);
}

typedef bool picture_fn(struct buf *out, const struct report_model *m, enum report_lang lang);

static void plan_simple(struct figure_set *set, const struct report_model *m, enum report_lang lang,
                        struct buf *script)
{
    const bool prompt = m->prefill.prompt;
    const struct {
        enum figure_kind kind;
        picture_fn *write;
        const char *name;
        enum msg alt;
    } pictures[] = {
        {FIGURE_SCALING, picture_scaling, prompt ? "prefill.svg" : "scaling.svg",
         prompt ? MSG_PLOT_ALT_PREFILL : MSG_PLOT_ALT_KERNEL},
        {FIGURE_SPEEDUP, picture_speedup, "speedup.svg", MSG_PLOT_ALT_SPEEDUP},
        {FIGURE_MEMORY, picture_memory, "memory.svg", MSG_PLOT_ALT_MEMORY},
    };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct buf alt;
        buf_init(&alt, FIGURE_ALT_MAX);
        describe(m, lang, pictures[i].alt, &alt);
        if (pictures[i].write(script, m, lang))
            plan_figure(set, pictures[i].kind, pictures[i].name, buf_str(&alt));
        buf_release(&alt);
    }
}

/* The series of the most important verdicts. */
static void plan_histories(struct figure_set *set, const struct report_model *m, enum report_lang lang,
                           struct buf *script)
{
    size_t drawn = 0;
    for (size_t i = 0; i < m->n_findings && drawn < HISTORIES_MAX; i++) {
        const struct delta *d = m->findings[i];
        const struct history_series *s =
            history_find(&m->against->history, d->variant, d->context, d->metric);
        char name[FIGURE_NAME_MAX];
        struct buf alt;
        if (!s || s->count < HISTORY_POINTS_MIN || !picture_history(script, m, s, lang))
            continue;
        snprintf(name, sizeof name, "history-%zu.svg", ++drawn);
        buf_init(&alt, FIGURE_ALT_MAX);
        message_plain(&alt, lang, MSG_PLOT_ALT_HISTORY, s->variant, num_int(s->context).s);
        plan_figure(set, FIGURE_HISTORY, name, buf_str(&alt));
        buf_release(&alt);
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
    struct buf script, svg;
    struct err why = {0};
    int rc = 0;
    *set = (struct figure_set){0};
    buf_init(&script, SCRIPT_MAX);
    buf_init(&svg, OUTPUT_MAX);
    plan_simple(set, m, lang, &script);
    plan_histories(set, m, lang, &script);
    if (!buf_ok(&script))
        rc = err_set(err, ERR_INTERNAL, "plots: the script exceeds %d bytes or memory is short", SCRIPT_MAX);
    else if (set->count && gnuplot_run(&script, GNUPLOT_DEADLINE_S, &svg, &why))
        give_up(set, why.msg);
    else if (!collect(set, &svg))
        give_up(set, "gnuplot did not write the SVG that was expected");
    buf_release(&script);
    buf_release(&svg);
    return rc;
}
