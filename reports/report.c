#include "reports/report.h"

#include "common/base/alloc.h"
#include "reports/model/model.h"
#include "reports/plot/plot.h"
#include "reports/render/html.h"
#include "reports/render/markdown.h"
#include "reports/sections/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A document in the making: the model is loaded, then the plots are drawn, then the text is written. */
struct document {
    const struct report_request *req;
    struct report_model model;
    struct figure_set figures;
    enum report_lang langs[REPORT_LANG_COUNT];
    size_t n_langs;
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

/* The title of a general report depends on what the run measured. */
static enum msg title_of(const struct document *d)
{
    if (d->req->kind != REPORT_PREFILL)
        return titles[d->req->kind];
    if (d->model.kernel.alone)
        return MSG_TITLE_KERNELS;
    return d->model.primary.prompt ? MSG_TITLE_PREFILL : MSG_TITLE_TIMES;
}

static void write_title(const struct document *d, struct md *w)
{
    const struct run_info *now = &d->model.now.info;
    buf_puts(w->out, "# ");
    md_say(w, title_of(d), now->ticket, now->node);
    md_end(w);
    md_para(w, MSG_BYLINE, now->date, now->run_id, run_status_name(now->status));
}

static void write_summaries(const struct document *d, struct md *body)
{
    section_summary(&d->model, body);
    section_notes(&d->model, body);
    for (size_t i = 1; i < d->n_langs; i++) {
        struct md other = *body;
        other.lang = d->langs[i];
        md_language(&other);
        section_summary(&d->model, &other);
        section_notes(&d->model, &other);
    }
    if (d->n_langs > 1)
        md_language(body);
}

/* A general report of kernels without a prompt has the sections of a kernel report. */
static enum report_kind layout_of(const struct document *d)
{
    return d->req->kind == REPORT_PREFILL && d->model.kernel.alone ? REPORT_KERNEL : d->req->kind;
}

static void write_sections(const struct document *d, struct md *w)
{
    static const struct {
        enum report_kind kind;
        section_fn *write;
    } sections[] = {
#define S(kind, name) {REPORT_##kind, section_##name},
#include "reports/sections/sections.def"
#undef S
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].kind == layout_of(d))
            sections[i].write(&d->model, w);
}

static int write_markdown(const struct document *d, struct buf *out, struct err *err)
{
    const struct md_place place = {.figures = &d->figures,
                                   .figures_href =
                                       d->req->asset_href ? d->req->asset_href : d->req->asset_dir,
                                   .folder = d->req->beside};
    struct md body = {.out = out, .lang = d->langs[0], .place = &place};
    write_title(d, &body);
    write_summaries(d, &body);
    if (*d->figures.unavailable)
        md_para(&body, MSG_PLOTS_UNAVAILABLE, d->figures.unavailable);
    write_sections(d, &body);
    if (!buf_ok(out))
        return err_set(err, ERR_INTERNAL, "report of run %s exceeds %zu bytes", d->model.now.info.run_id,
                       out->max);
    return 0;
}

static int write_html(const struct document *d, struct buf *out, struct err *err)
{
    AUTO(buf_release) struct buf markdown = {.max = REPORT_BYTES_MAX};
    AUTO(buf_release) struct buf name = {.max = 1024};
    buf_printf(&name, "%s %s", d->model.now.info.ticket, d->model.now.info.date);
    int rc = write_markdown(d, &markdown, err);
    if (rc == 0)
        rc = html_render(&markdown, &d->figures, d->langs[0], buf_str(&name), out, err);
    return rc;
}

static int write_format(const struct document *d, enum report_format format, struct buf *out, struct err *err)
{
    if (format == REPORT_HTML)
        return write_html(d, out, err);
    if (write_markdown(d, out, err))
        return -1;
    return d->req->asset_dir ? figure_set_save(&d->figures, d->req->asset_dir, err) : 0;
}

/* Plots are drawn only if there is somewhere to put them. */
static int prepare(struct document *d, const struct report_request *req, bool pictures, struct err *err)
{
    const struct report_subject subject = {.store = req->store,
                                           .run = req->run,
                                           .against = req->against,
                                           .baseline = req->baseline,
                                           .reference = req->reference,
                                           .compare = req->compare,
                                           .held_against = req->held_against,
                                           .comparison = req->comparison};
    *d = (struct document){.req = req};
    if (report_model_load(&d->model, &subject, err))
        return -1;
    d->n_langs = req->n_langs;
    memcpy(d->langs, req->langs, sizeof d->langs);
    if (req->n_langs == 0)
        d->n_langs = report_langs_of_plan(d->model.plan, d->langs);
    return pictures ? plot_draw(&d->model, d->langs[0], &d->figures, err) : 0;
}

static void document_release(struct document *d)
{
    figure_set_release(&d->figures);
    report_model_release(&d->model);
}

int report_render(const struct report_request *req, struct buf *out, struct err *err)
{
    AUTO(document_release) struct document d = {0};
    if (prepare(&d, req, req->format == REPORT_HTML || req->asset_dir, err) != 0)
        return -1;
    return write_format(&d, req->format, out, err);
}

int report_render_both(const struct report_request *req, struct buf *markdown, struct buf *html,
                       struct err *err)
{
    AUTO(document_release) struct document d = {0};
    if (prepare(&d, req, true, err) != 0 || write_format(&d, REPORT_MD, markdown, err) != 0)
        return -1;
    return write_format(&d, REPORT_HTML, html, err);
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
    AUTO_FREE char *real = n < FS_PATH_MAX ? realpath(dir, NULL) : NULL;
    n = snprintf(folder, FS_PATH_MAX, "%s", real ? real : "");
    return n > 0 && n < FS_PATH_MAX;
}

/* Index of the word in the table; count if it is not there. */
static size_t find_word(const char *const *words, size_t count, const char *name, size_t len)
{
    size_t i = 0;
    while (i < count && (strlen(words[i]) != len || strncmp(words[i], name, len) != 0))
        i++;
    return i;
}

static const char *const lang_words[REPORT_LANG_COUNT] = {"en", "es"};

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

size_t report_langs_of_plan(const json_t *plan, enum report_lang out[static REPORT_LANG_COUNT])
{
    size_t i, n = 0;
    const json_t *word;
    json_array_foreach(json_object_get(plan, "languages"), i, word)
    {
        const char *name = json_string_value(word);
        size_t lang = find_word(lang_words, REPORT_LANG_COUNT, name ? name : "", name ? strlen(name) : 0);
        if (lang < REPORT_LANG_COUNT && n < REPORT_LANG_COUNT)
            out[n++] = (enum report_lang)lang;
    }
    out[0] = n ? out[0] : REPORT_EN;
    return n ? n : 1;
}

bool report_langs_from_names(const char *names, struct report_request *req)
{
    bool seen[REPORT_LANG_COUNT] = {false};
    size_t n = 0;
    for (const char *p = names;; p++) {
        size_t len = strcspn(p, ",");
        size_t i = find_word(lang_words, REPORT_LANG_COUNT, p, len);
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
