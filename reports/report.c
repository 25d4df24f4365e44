#include "reports/report.h"

#include "reports/model/model.h"
#include "reports/render/html.h"
#include "reports/render/markdown.h"
#include "reports/sections/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MAX = 24 };

/* Which sections a kind of report has, in the order in which its reader looks for them. */
static section_fn *const layout[REPORT_KIND_COUNT][SECTIONS_MAX] = {
    [REPORT_PREFILL] = {section_configuration, section_performance, section_consolidated,
                        section_stages,        section_metrics,     section_baseline,
                        section_history,       section_validation,  section_instability,
                        section_build,         section_evidence,    section_scaling,
                        section_speedup,       section_kernel,      section_memory,
                        section_node,          section_cost,        section_next_steps,
                        section_artifacts,     section_reproduction},
    [REPORT_REGRESSION] = {section_consolidated, section_speedup, section_baseline, section_history,
                           section_evidence, section_scaling, section_instability, section_validation,
                           section_build, section_memory, section_configuration, section_node, section_cost,
                           section_next_steps, section_artifacts, section_reproduction},
    [REPORT_KERNEL] = {section_consolidated, section_speedup, section_kernel, section_scaling,
                       section_evidence, section_build, section_instability, section_validation,
                       section_configuration, section_node, section_cost, section_next_steps,
                       section_artifacts, section_reproduction},
    [REPORT_NIGHTLY] = {section_baseline, section_history, section_consolidated, section_evidence,
                        section_validation, section_instability, section_scaling, section_memory,
                        section_build, section_configuration, section_node, section_cost, section_next_steps,
                        section_artifacts, section_reproduction},
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

/* A report of prefill of a run that measured something else is of what it measured. */
static enum msg title_of(const struct report_model *m)
{
    if (m->req->kind != REPORT_PREFILL)
        return titles[m->req->kind];
    return m->kernels_alone                ? MSG_TITLE_KERNELS
           : m->metric == METRIC_PREFILL_S ? MSG_TITLE_PREFILL
                                           : MSG_TITLE_TIMES;
}

static void title(const struct report_model *m, struct md *w)
{
    buf_puts(w->out, "# ");
    md_say(w, title_of(m), m->now.info.ticket, m->now.info.node);
    md_end(w);
    md_para(w, MSG_BYLINE, m->now.info.date, m->now.info.run_id, run_status_name(m->now.info.status));
}

static enum report_lang body_lang(const struct report_request *req)
{
    return req->n_langs ? req->langs[0] : REPORT_EN;
}

static void summaries(const struct report_model *m, struct md *body)
{
    section_summary(m, body);
    for (size_t i = 1; i < m->req->n_langs; i++) {
        struct md other = {.out = body->out, .lang = m->req->langs[i]};
        md_language(&other);
        section_summary(m, &other);
    }
    if (m->req->n_langs > 1)
        md_language(body);
}

/* What was asked for, or the sections of kernels where there is no prompt to report of. */
static section_fn *const *layout_of(const struct report_model *m)
{
    return layout[m->req->kind == REPORT_PREFILL && m->kernels_alone ? REPORT_KERNEL : m->req->kind];
}

static void write_markdown(const struct report_model *m, struct buf *out)
{
    struct md body = {.out = out, .lang = body_lang(m->req)};
    title(m, &body);
    summaries(m, &body);
    if (*m->plots.unavailable)
        md_para(&body, MSG_PLOTS_UNAVAILABLE, m->plots.unavailable);
    section_fn *const *sections = layout_of(m);
    for (size_t i = 0; i < SECTIONS_MAX && sections[i]; i++)
        sections[i](m, &body);
}

static int write_html(const struct report_model *m, const struct buf *markdown, struct buf *out,
                      struct err *err)
{
    struct buf name;
    buf_init(&name, 1024);
    buf_printf(&name, "%s %s", m->now.info.ticket, m->now.info.date);
    int rc = html_render(markdown, &m->plots, body_lang(m->req), buf_str(&name), out, err);
    buf_release(&name);
    return rc;
}

static int write_format(const struct report_model *m, enum report_format format, struct buf *out,
                        struct err *err)
{
    struct buf markdown;
    int rc = 0;
    buf_init(&markdown, REPORT_BYTES_MAX);
    write_markdown(m, &markdown);
    if (!buf_ok(&markdown))
        rc = err_set(err, ERR_INTERNAL, "report of run %s exceeds %d bytes or memory is short",
                     m->now.info.run_id, REPORT_BYTES_MAX);
    else if (format == REPORT_HTML)
        rc = write_html(m, &markdown, out, err);
    else
        buf_add(out, buf_str(&markdown), markdown.len);
    if (rc == 0 && format == REPORT_MD && m->req->asset_dir)
        rc = plot_set_save(&m->plots, m->req->asset_dir, err);
    if (rc == 0 && !buf_ok(out))
        rc = err_set(err, ERR_INTERNAL, "report exceeds %zu bytes or memory is short", out->max);
    buf_release(&markdown);
    return rc;
}

int report_render(const struct report_request *req, struct buf *out, struct err *err)
{
    struct report_model model;
    int rc = report_model_load(&model, req, err);
    if (rc == 0)
        rc = write_format(&model, req->format, out, err);
    report_model_release(&model);
    return rc;
}

int report_render_both(const struct report_request *req, struct buf *markdown, struct buf *html,
                       struct err *err)
{
    struct report_model model;
    int rc = report_model_load(&model, req, err);
    if (rc == 0)
        rc = write_format(&model, REPORT_MD, markdown, err);
    if (rc == 0)
        rc = write_format(&model, REPORT_HTML, html, err);
    report_model_release(&model);
    return rc;
}

int report_assets_beside(const char *output, char *dir, char *href, struct err *err)
{
    const char *slash = strrchr(output, '/');
    size_t len = strlen(output);
    if (len > 3 && strcmp(output + len - 3, ".md") == 0)
        len -= 3;
    int n = snprintf(dir, FS_PATH_MAX, "%.*s.plots", (int)(len < FS_PATH_MAX ? len : FS_PATH_MAX), output);
    if (n < 0 || n >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "%.200s...: the path is too long", output);
    snprintf(href, FS_PATH_MAX, "%s", dir + (slash ? slash + 1 - output : 0));
    return 0;
}

bool report_folder(const char *output, char folder[FS_PATH_MAX])
{
    const char *slash = strrchr(output, '/');
    char dir[FS_PATH_MAX];
    int n = snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - output + 1) : 1, slash ? output : ".");
    char *real = n < FS_PATH_MAX ? realpath(dir, NULL) : NULL;
    n = snprintf(folder, FS_PATH_MAX, "%s", real ? real : "");
    free(real);
    return n > 0 && n < FS_PATH_MAX;
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
