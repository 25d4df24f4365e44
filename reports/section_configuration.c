/* Test configuration: what was run, on what, and under which limits. */
#include "reports/number.h"
#include "reports/phrase.h"
#include "reports/section.h"

#include <string.h>

static void item(struct md *w, enum msg id, const char *value)
{
    if (value && *value)
        md_item(w, id, value);
}

static void environment(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_facts; i++) {
        const struct run_fact *f = &m->now.facts[i];
        if (strncmp(f->key, "env.", 4) == 0)
            md_item(w, MSG_CONFIG_ENV, f->key + 4, f->value);
    }
}

static void node(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->now.n_facts; i++) {
        const struct run_fact *f = &m->now.facts[i];
        if (strncmp(f->key, "env.", 4) != 0)
            md_item(w, MSG_CONFIG_FACT, f->key, f->value);
    }
}

static void variants(const struct report_model *m, struct md *w)
{
    md_bullet(w);
    md_say(w, MSG_CONFIG_VARIANTS);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_variant *variant = &m->now.variants[v];
        buf_puts(w->out, v ? ", " : " ");
        md_code(w, variant->name);
        if (*variant->attn_impl) {
            buf_puts(w->out, " (");
            md_code(w, variant->attn_impl);
            buf_putc(w->out, ')');
        }
    }
    md_line(w);
}

static void matrix(const struct report_model *m, struct md *w)
{
    struct buf b;
    buf_init(&b, PHRASE_MAX);
    phrase_contexts(&b, &m->now);
    item(w, MSG_CONFIG_CONTEXTS, buf_str(&b));
    buf_clear(&b);
    phrase_repetitions(&b, w->lang, &m->now);
    item(w, MSG_CONFIG_REPETITIONS, buf_str(&b));
    buf_clear(&b);
    phrase_timeouts(&b, &m->now);
    item(w, MSG_CONFIG_TIMEOUTS, buf_str(&b));
    buf_release(&b);
}

static void identity(const struct report_model *m, struct md *w)
{
    const struct run_info *i = &m->now.info;
    md_item(w, MSG_CONFIG_DATE, i->date);
    md_item(w, MSG_CONFIG_RUN, i->run_id);
    md_item(w, MSG_CONFIG_TICKET, i->ticket);
    item(w, MSG_CONFIG_TAG, i->tag);
    md_item(w, MSG_CONFIG_NODE, i->node);
    md_item(w, MSG_CONFIG_MODE, i->mode);
    if (*i->started_at && *i->ended_at)
        md_item(w, MSG_CONFIG_TIMES, i->started_at, i->ended_at, num_duration(i->wall_s).s);
    item(w, MSG_CONFIG_SOURCE, i->source_sha256);
    item(w, MSG_CONFIG_PLAN, i->plan_sha256);
}

void section_configuration(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_CONFIGURATION);
    identity(m, w);
    variants(m, w);
    matrix(m, w);
    environment(m, w);
    md_end(w);
}

void section_node(const struct report_model *m, struct md *w)
{
    bool any = false;
    for (size_t i = 0; i < m->now.n_facts; i++)
        any |= strncmp(m->now.facts[i].key, "env.", 4) != 0;
    if (!any)
        return;
    md_heading(w, 2, MSG_H_NODE);
    node(m, w);
    md_end(w);
}
