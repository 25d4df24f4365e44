#include "reports/plot/plot.h"

#include "common/base/fs.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/script.h"
#include "reports/plot/svg.h"
#include "reports/words/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MAX = 4 << 20, OUTPUT_MAX = 16 << 20, HISTORIES_MAX = 3, HISTORY_POINTS_MIN = 5 };
#define GNUPLOT_DEADLINE_S 20.0

static void add(struct plot_set *set, enum plot_kind kind, const char *name, const char *alt)
{
    struct plot *p = &set->items[set->count++];
    *p = (struct plot){.kind = kind};
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->alt, sizeof p->alt, "%s", alt);
}

/* Pictures of variants say so when they do not show all of them. */
static void describe(const struct report_model *m, enum report_lang lang, enum msg id, struct buf *out)
{
    size_t names = 0;
    message_plain(out, lang, id);
    for (size_t v = 0; v < m->now.n_variants; v++)
        names += report_model_first(m, v);
    if (names > PLOT_LINES_MAX)
        message_plain(out, lang, MSG_PLOT_FIRST, num_int(PLOT_LINES_MAX).s, num_int((int64_t)names).s);
}

typedef bool script_fn(struct buf *out, const struct report_model *m, enum report_lang lang);

static void add_simple(struct plot_set *set, const struct report_model *m, enum report_lang lang,
                       struct buf *script)
{
    static const struct {
        enum plot_kind kind;
        script_fn *write;
        const char *name;
        enum msg alt;
    } pictures[] = {
        {PLOT_PREFILL, plot_script_prefill, "prefill.svg", MSG_PLOT_ALT_PREFILL},
        {PLOT_SPEEDUP, plot_script_speedup, "speedup.svg", MSG_PLOT_ALT_SPEEDUP},
        {PLOT_MEMORY, plot_script_memory, "memory.svg", MSG_PLOT_ALT_MEMORY},
    };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct buf alt;
        buf_init(&alt, PLOT_ALT_MAX);
        describe(m, lang, pictures[i].alt, &alt);
        if (pictures[i].write(script, m, lang))
            add(set, pictures[i].kind, pictures[i].name, buf_str(&alt));
        buf_release(&alt);
    }
}

/* The series that a reader wants to see: those of the most telling verdicts. */
static void add_histories(struct plot_set *set, const struct report_model *m, enum report_lang lang,
                          struct buf *script)
{
    size_t drawn = 0;
    for (size_t i = 0; i < m->n_findings && drawn < HISTORIES_MAX; i++) {
        const struct delta *d = m->findings[i];
        const struct history_series *s = history_find(&m->against.history, d->variant, d->context, d->metric);
        char name[PLOT_NAME_MAX];
        struct buf alt;
        if (!s || s->count < HISTORY_POINTS_MIN || !plot_script_history(script, m, s, lang))
            continue;
        snprintf(name, sizeof name, "history-%zu.svg", ++drawn);
        buf_init(&alt, PLOT_ALT_MAX);
        message_plain(&alt, lang, MSG_PLOT_ALT_HISTORY, s->variant, num_int(s->context).s);
        add(set, PLOT_HISTORY, name, buf_str(&alt));
        buf_release(&alt);
    }
}

/* Gives each planned picture its document; one that cannot be read ends the row. */
static bool collect(struct plot_set *set, const struct buf *svg)
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

int plot_set_draw(struct plot_set *set, const struct report_model *m, enum report_lang lang, struct err *err)
{
    struct buf script, svg;
    struct err why = {0};
    int rc = 0;
    *set = (struct plot_set){0};
    buf_init(&script, SCRIPT_MAX);
    buf_init(&svg, OUTPUT_MAX);
    add_simple(set, m, lang, &script);
    add_histories(set, m, lang, &script);
    if (!buf_ok(&script))
        rc = err_set(err, ERR_INTERNAL, "plots: the script exceeds %d bytes or memory is short", SCRIPT_MAX);
    else if (set->count && gnuplot_run(&script, GNUPLOT_DEADLINE_S, &svg, &why))
        snprintf(set->unavailable, sizeof set->unavailable, "%.250s", why.msg);
    else if (!collect(set, &svg))
        snprintf(set->unavailable, sizeof set->unavailable, "gnuplot wrote something that is not its SVG");
    if (*set->unavailable) {
        char reason[sizeof set->unavailable];
        memcpy(reason, set->unavailable, sizeof reason);
        plot_set_release(set);
        memcpy(set->unavailable, reason, sizeof reason);
    }
    buf_release(&script);
    buf_release(&svg);
    return rc;
}

void plot_set_release(struct plot_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].svg);
    *set = (struct plot_set){0};
}

int plot_set_save(const struct plot_set *set, const char *dir, struct err *err)
{
    char path[FS_PATH_MAX];
    if (set->count && fs_mkdir_p(dir, 0755, err))
        return -1;
    for (size_t i = 0; i < set->count; i++)
        if (fs_join(path, err, dir, set->items[i].name) ||
            fs_write_file(path, set->items[i].svg, strlen(set->items[i].svg), 0644, err))
            return -1;
    return 0;
}
