/* Artifacts and reproduction: where the raw files are, and the command that repeats the run. */
#include "common/base/alloc.h"
#include "reports/sections/bundle.h"
#include "reports/sections/record.h"
#include "reports/words/number.h"

#include "common/base/text.h"
#include "results/store/run_folder.h"

#include <string.h>

enum { FILES_SHOWN_MAX = 60 };

static void write_bundle(const struct run_info *i, enum msg id, struct md *w)
{
    const char *path = bundle_name(i);
    if (!*path || run_folder_was_reused(i->bundle, i->run_id))
        return;
    md_bullet(w);
    md_say(w, id, path);
    if (*i->content_sha256)
        md_say(w, MSG_ARTIFACTS_CONTENT, i->content_sha256);
    md_line(w);
}

static void write_files(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_FILE);
    table_numbers(&t, w->lang, MSG_COL_SIZE);
    table_column(&t, "SHA-256", false);
    for (size_t i = 0; i < m->details.n_files && i < FILES_SHOWN_MAX; i++) {
        const struct run_file *f = &m->details.files[i];
        char path[FS_PATH_MAX + DETAILS_PATH_MAX];
        bundle_link(w, &m->now.info, f->path, path, sizeof path);
        table_link(&t, f->path, path);
        table_text(&t, num_bytes((double)f->size).s);
        table_code(&t, f->sha256);
    }
    if (table_rows(&t))
        md_table(w, &t);
}

void record_artifacts(const struct report_model *m, struct md *w)
{
    if (!*bundle_name(&m->now.info))
        return;
    md_heading(w, 3, MSG_H_ARTIFACTS);
    write_bundle(&m->now.info, MSG_ARTIFACTS_NOW, w);
    if (m->against->has_base)
        write_bundle(&m->against->base.info, MSG_ARTIFACTS_BASE, w);
    md_end(w);
    write_files(m, w);
}

static void append_option(struct buf *b, const char *option, const char *value)
{
    if (!*value)
        return;
    buf_printf(b, " %s%s", option, *option ? " " : "");
    if (*value == '-')
        text_shell_quote(b, value);
    else
        text_shell_word(b, value);
}

static void write_command(const struct run_info *i, struct md *w)
{
    AUTO(buf_release) struct buf command = {.max = 16384};
    AUTO(buf_release) struct buf plan = {.max = FS_PATH_MAX + 16};
    buf_printf(&plan, "%s/plan.json", bundle_name(i));
    buf_puts(&command, "kernsweep run");
    append_option(&command, "", buf_str(&plan));
    append_option(&command, "--node", i->node);
    append_option(&command, "--tag", i->tag);
    append_option(&command, "--mode", i->mode);
    w->out->failed |= !buf_ok(&command) || !buf_ok(&plan);
    md_code_block(w, "bash", buf_str(&command), command.len);
    if (*i->source_sha256)
        md_para(w, MSG_REPRODUCTION_SOURCE, i->plan_sha256, i->source_sha256);
    else
        md_para(w, MSG_REPRODUCTION_PLAN, i->plan_sha256);
}

void record_reproduction(const struct report_model *m, struct md *w)
{
    const struct run_info *i = &m->now.info;
    if (!*i->plan_sha256)
        return; /* B3.89 bundles keep no plan */
    md_heading(w, 3, MSG_H_REPRODUCTION);
    if (*m->pending) { /* the node never got it, so the bundle has no plan */
        md_para(w, MSG_TICKET_PENDING);
        md_code_block(w, "bash", m->pending, strlen(m->pending));
        return;
    }
    if (*i->bundle)
        write_command(i, w);
    else
        md_para(w, MSG_REPRODUCTION_NO_BUNDLE, i->plan_sha256);
}
