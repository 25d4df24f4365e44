/* Test configuration: what was run, on what, and under which limits. */
#include "common/base/alloc.h"
#include "reports/sections/phrase.h"
#include "reports/sections/record.h"
#include "reports/sections/section.h"
#include "reports/tables/held.h"
#include "reports/words/number.h"
#include "reports/words/range.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Appends the shapes of a kernel plan, like ": b1h1 b4h1". */
static void shapes(const struct report_model *m, size_t variant, struct md *w)
{
    const char *separator = ": ";
    for (size_t v = variant; v < m->now.n_variants; v++) {
        if (!*m->now.variants[v].shape || !report_model_same(m, v, variant))
            continue;
        buf_puts(w->out, separator);
        md_text(w, m->now.variants[v].shape);
        separator = " ";
    }
}

static void variants(const struct report_model *m, struct md *w)
{
    const char *separator = " ";
    md_bullet(w);
    md_say(w, MSG_CONFIG_VARIANTS);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_variant *variant = &m->now.variants[v];
        if (!report_model_first(m, v))
            continue;
        buf_puts(w->out, separator);
        md_code(w, report_model_variant(m, v));
        if (*variant->attn_impl) {
            buf_puts(w->out, " (");
            md_code(w, variant->attn_impl);
            buf_putc(w->out, ')');
        }
        shapes(m, v, w);
        separator = *variant->shape ? "; " : ", ";
    }
    md_line(w);
}

static void matrix(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf b = {.max = PHRASE_MAX};
    phrase_contexts(&b, w->lang, &m->now);
    item(w, m->scaled.prompt && m->scaling.count ? MSG_CONFIG_CONTEXTS : MSG_CONFIG_POINTS, buf_str(&b));
    buf_clear(&b);
    phrase_repetitions(&b, w->lang, &m->now);
    item(w, MSG_CONFIG_REPETITIONS, buf_str(&b));
    buf_clear(&b);
    phrase_timeouts(&b, w->lang, &m->now);
    item(w, MSG_CONFIG_TIMEOUTS, buf_str(&b));
}

/* The facts that readers ask for first; the rest is in the record. */
static void machine(const struct report_model *m, struct md *w)
{
    static const struct {
        const char *key;
        enum msg id;
    } facts[] = {
        {"gpus0.name", MSG_CONFIG_GPU}, {"gpus0.arch", MSG_CONFIG_ARCH},  {"driver", MSG_CONFIG_DRIVER},
        {"rocm", MSG_CONFIG_ROCM},      {"cuda", MSG_CONFIG_CUDA},        {"cpu_model", MSG_CONFIG_CPU},
        {"os", MSG_CONFIG_OS},          {"model.name", MSG_CONFIG_MODEL},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        item(w, facts[i].id, run_data_fact(&m->now, facts[i].key));
}

static void hosts(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf b = {.max = PHRASE_MAX};
    phrase_hosts(&b, &m->now);
    item(w, MSG_CONFIG_HOSTS, buf_str(&b));
}

static void held(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf b = {.max = PHRASE_MAX};
    held_words(&m->now, &b);
    item(w, MSG_CONFIG_HELD, buf_str(&b));
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_variant *variant = &m->now.variants[v];
        if (*variant->image && report_model_first(m, v))
            md_item(w, MSG_CONFIG_IMAGE, report_model_variant(m, v), variant->image, variant->image_digest);
    }
}

static void revision(const struct run_revision *r, struct md *w)
{
    char files[RUN_FACT_MAX + 64], day[11];
    if (!*r->commit)
        return;
    snprintf(day, sizeof day, "%.10s", *r->authored_at ? r->authored_at : NUM_NONE);
    md_item(w, MSG_CONFIG_COMMIT, r->commit, day, r->subject);
    item(w, MSG_CONFIG_BRANCH, r->branch);
    dirty_phrase(r, files, sizeof files);
    item(w, MSG_CONFIG_DIRTY, files);
}

static void identity(const struct report_model *m, struct md *w)
{
    const struct run_info *i = &m->now.info;
    md_item(w, MSG_CONFIG_DATE, i->date);
    md_item(w, MSG_CONFIG_RUN, i->run_id);
    md_item(w, MSG_CONFIG_TICKET, i->ticket);
    item(w, MSG_CONFIG_TAG, i->tag);
    revision(&i->revision, w);
    md_item(w, MSG_CONFIG_NODE, i->node);
    hosts(m, w);
    md_item(w, MSG_CONFIG_MODE, i->mode);
    if (*i->started_at && *i->ended_at)
        md_item(w, MSG_CONFIG_TIMES, i->started_at, i->ended_at, num_duration(i->wall_s).s);
    machine(m, w);
}

void section_configuration(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_CONFIGURATION);
    identity(m, w);
    variants(m, w);
    matrix(m, w);
    held(m, w);
    environment(m, w);
    md_end(w);
}

/* The names of compilers only repeat their keys. */
static bool is_node_fact(const struct run_fact *f)
{
    size_t len = strlen(f->key);
    bool repeats =
        strncmp(f->key, "compilers.", 10) == 0 && len > 5 && strcmp(f->key + len - 5, ".name") == 0;
    return strncmp(f->key, "env.", 4) != 0 && !repeats;
}

static void node_fact(const struct run_fact *f, struct md *w)
{
    size_t len = strlen(f->key);
    char *end;
    double bytes = strtod(f->value, &end);
    md_bullet(w);
    md_say(w, MSG_CONFIG_FACT, f->key, f->value);
    if (len > 6 && strcmp(f->key + len - 6, "_bytes") == 0 && *f->value && !*end)
        md_say(w, MSG_CONFIG_BYTES, num_bytes(bytes).s);
    md_line(w);
}

void record_node(const struct report_model *m, struct md *w)
{
    const struct md_part part = md_part_begin(w, 3, MSG_H_NODE);
    for (size_t i = 0; i < m->now.n_facts; i++)
        if (is_node_fact(&m->now.facts[i]))
            node_fact(&m->now.facts[i], w);
    md_part_end(w, &part);
    md_end(w);
}
