#include "reports/report.h"

#include "reports/markdown.h"
#include "reports/model.h"
#include "reports/section.h"

#include <string.h>

enum { SECTIONS_MAX = 24 };

/* Which sections a kind of report has, in the order in which its reader looks for them. */
static section_fn *const layout[REPORT_KIND_COUNT][SECTIONS_MAX] = {
    [REPORT_PREFILL] = {section_configuration, section_performance, section_consolidated, section_baseline,
                        section_validation, section_build, section_scaling, section_speedup, section_memory,
                        section_node, section_artifacts, section_reproduction},
    [REPORT_REGRESSION] = {section_consolidated, section_speedup, section_baseline, section_scaling,
                           section_validation, section_build, section_memory, section_configuration,
                           section_node, section_artifacts, section_reproduction},
    [REPORT_KERNEL] = {section_consolidated, section_speedup, section_scaling, section_build,
                       section_validation, section_configuration, section_node, section_artifacts,
                       section_reproduction},
    [REPORT_NIGHTLY] = {section_baseline, section_consolidated, section_validation, section_scaling,
                        section_memory, section_build, section_configuration, section_node, section_artifacts,
                        section_reproduction},
};

struct report_request report_defaults(void)
{
    return (struct report_request){.kind = REPORT_PREFILL,
                                   .format = REPORT_MD,
                                   .langs = {REPORT_EN},
                                   .n_langs = 1,
                                   .compare = compare_defaults()};
}

static const enum msg titles[REPORT_KIND_COUNT] = {
    [REPORT_PREFILL] = MSG_TITLE_PREFILL,
    [REPORT_REGRESSION] = MSG_TITLE_REGRESSION,
    [REPORT_KERNEL] = MSG_TITLE_KERNEL,
    [REPORT_NIGHTLY] = MSG_TITLE_NIGHTLY,
};

static void title(const struct report_model *m, struct md *w)
{
    buf_puts(w->out, "# ");
    md_say(w, titles[m->req->kind], m->now.info.ticket, m->now.info.node);
    md_end(w);
    md_para(w, MSG_BYLINE, m->now.info.date, m->now.info.run_id, run_status_name(m->now.info.status));
}

static void render(const struct report_model *m, struct buf *out)
{
    struct md body = {.out = out, .lang = m->req->n_langs ? m->req->langs[0] : REPORT_EN};
    title(m, &body);
    section_summary(m, &body);
    for (size_t i = 1; i < m->req->n_langs; i++) {
        struct md other = {.out = out, .lang = m->req->langs[i]};
        section_summary(m, &other);
    }
    for (size_t i = 0; i < SECTIONS_MAX && layout[m->req->kind][i]; i++)
        layout[m->req->kind][i](m, &body);
}

int report_render(const struct report_request *req, struct buf *out, struct err *err)
{
    struct report_model model;
    int rc = report_model_load(&model, req, err);
    if (rc == 0 && req->format == REPORT_HTML)
        rc = err_set(err, ERR_INPUT, "report: HTML is not built in; use --format md");
    if (rc == 0) {
        render(&model, out);
        if (!buf_ok(out))
            rc = err_set(err, ERR_INTERNAL, "report of run %s exceeds %zu bytes or memory is short",
                         model.now.info.run_id, out->max);
    }
    report_model_release(&model);
    return rc;
}

/* Index of a word in a table, or count. */
static size_t find_word(const char *const *words, size_t count, const char *name, size_t len)
{
    size_t i = 0;
    while (i < count && (strlen(words[i]) != len || strncmp(words[i], name, len) != 0))
        i++;
    return i;
}

bool report_kind_from_name(const char *name, enum report_kind *out)
{
    static const char *const words[REPORT_KIND_COUNT] = {"prefill", "regression", "kernel", "nightly"};
    size_t i = find_word(words, REPORT_KIND_COUNT, name, strlen(name));
    if (i == REPORT_KIND_COUNT)
        return false;
    *out = (enum report_kind)i;
    return true;
}

bool report_format_from_name(const char *name, enum report_format *out)
{
    static const char *const words[REPORT_FORMAT_COUNT] = {"md", "html"};
    size_t i = find_word(words, REPORT_FORMAT_COUNT, name, strlen(name));
    if (i == REPORT_FORMAT_COUNT)
        return false;
    *out = (enum report_format)i;
    return true;
}

bool report_langs_from_names(const char *names, struct report_request *req)
{
    static const char *const words[REPORT_LANG_COUNT] = {"en", "es"};
    bool seen[REPORT_LANG_COUNT] = {false};
    size_t n = 0;
    for (const char *p = names;; p++) {
        size_t len = strcspn(p, ",");
        size_t i = find_word(words, REPORT_LANG_COUNT, p, len);
        if (i == REPORT_LANG_COUNT || seen[i])
            return false;
        seen[i] = true;
        req->langs[n++] = (enum report_lang)i;
        p += len;
        if (!*p)
            break;
    }
    req->n_langs = n;
    return true;
}
