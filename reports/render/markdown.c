#include "reports/render/markdown.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "common/base/fs.h"
#include "common/base/text.h"
#include "reports/render/escape.h"

#include <stdio.h>
#include <string.h>

void md_text(struct md *w, const char *s)
{
    escape_text(w->out, s);
}

void md_code(struct md *w, const char *s)
{
    escape_code(w->out, s, false);
}

void md_link(struct md *w, const char *text, const char *target)
{
    buf_putc(w->out, '[');
    md_code(w, text);
    buf_puts(w->out, "](");
    escape_href(w->out, target);
    buf_putc(w->out, ')');
}

void md_image(struct md *w, const char *alt, const char *target)
{
    buf_puts(w->out, "![");
    md_text(w, alt);
    buf_puts(w->out, "](");
    escape_href(w->out, target);
    buf_putc(w->out, ')');
    md_end(w);
}

static void say_literal(void *ctx, const char *s, size_t len)
{
    struct md *w = ctx;
    buf_add(w->out, s, len);
}

static void say_data(void *ctx, const char *s, bool as_code)
{
    if (as_code)
        md_code(ctx, s);
    else
        md_text(ctx, s);
}

void md_say_args(struct md *w, enum msg id, const char *const *args)
{
    struct message_sink sink = {.literal = say_literal, .data = say_data, .ctx = w};
    message_expand(message(w->lang, id), args, &sink);
}

void md_title(struct md *w, int level, const char *text)
{
    md_end(w);
    escape_repeat(w->out, '#', (size_t)level);
    buf_putc(w->out, ' ');
    md_text(w, text);
    md_end(w);
}

void md_heading(struct md *w, int level, enum msg id)
{
    md_end(w);
    escape_repeat(w->out, '#', (size_t)level);
    buf_putc(w->out, ' ');
    buf_puts(w->out, message(w->lang, id));
    md_end(w);
}

void md_bullet(struct md *w)
{
    buf_puts(w->out, "- ");
}

void md_line(struct md *w)
{
    buf_putc(w->out, '\n');
}

void md_end(struct md *w)
{
    const struct buf *out = w->out;
    if (out->len == 0 || out->failed)
        return;
    if (out->data[out->len - 1] != '\n')
        md_line(w);
    if (out->len < 2 || out->data[out->len - 2] != '\n')
        md_line(w);
}

void md_truncate(struct md *w, size_t len)
{
    if (w->out->failed || len >= w->out->len)
        return;
    w->out->len = len;
    w->out->data[len] = '\0';
}

struct md_part md_part_begin(struct md *w, int level, enum msg id)
{
    struct md_part part = {.start = w->out->len};
    md_heading(w, level, id);
    part.empty = w->out->len;
    return part;
}

bool md_part_end(struct md *w, const struct md_part *part)
{
    bool any = w->out->len > part->empty;
    if (!any)
        md_truncate(w, part->start);
    return any;
}

/* Writes a paragraph in italics, which a page shows as the picture's caption. */
static void md_caption(struct md *w, const char *caption)
{
    buf_putc(w->out, '*');
    md_text(w, caption);
    buf_putc(w->out, '*');
    md_end(w);
}

void md_figures(struct md *w, enum figure_kind kind)
{
    const struct figure_set *set = w->place ? w->place->figures : NULL;
    const char *folder = set ? w->place->figures_href : NULL;
    for (size_t i = 0; set && i < set->count; i++) {
        const struct figure *f = &set->items[i];
        char target[FS_PATH_MAX];
        if (f->kind != kind)
            continue;
        snprintf(target, sizeof target, "%s%s%s", folder ? folder : "", folder ? "/" : "", f->name);
        md_image(w, f->alt, target);
        if (*f->caption)
            md_caption(w, f->caption);
    }
}

const char *md_language_comment(enum report_lang lang)
{
    static const char *const comments[REPORT_LANG_COUNT] = {
        [REPORT_EN] = "<!-- lang en -->", [REPORT_ES] = "<!-- lang es -->"};
    return comments[lang];
}

void md_language(struct md *w)
{
    md_end(w);
    buf_puts(w->out, md_language_comment(w->lang));
    md_end(w);
}

void md_fold_args(struct md *w, enum msg id, const char *const *args)
{
    AUTO(buf_release) struct buf text = {.max = ESCAPE_BYTES_MAX};
    message_plain_args(&text, w->lang, id, args);
    md_end(w);
    buf_puts(w->out, MD_FOLD_BEGIN);
    escape_xml(w->out, buf_str(&text));
    buf_puts(w->out, MD_FOLD_SUMMARY_END);
    md_end(w);
}

void md_fold_end(struct md *w)
{
    md_end(w);
    buf_puts(w->out, MD_FOLD_END);
    md_end(w);
}

void md_code_block(struct md *w, const char *lang, const char *text, size_t len)
{
    AUTO(buf_release) struct buf body = {.max = len * 8 + 16};
    for (size_t i = 0; i < len;) {
        const char *newline = memchr(text + i, '\n', len - i);
        size_t line = newline ? (size_t)(newline - (text + i)) : len - i;
        text_printable(&body, text + i, line, line);
        buf_putc(&body, '\n');
        i += line + 1;
    }
    size_t fence = escape_longest_run(buf_str(&body), '`');
    fence = fence < 3 ? 3 : fence + 1;
    w->out->failed |= !buf_ok(&body);
    md_end(w);
    escape_repeat(w->out, '`', fence);
    buf_puts(w->out, lang);
    md_line(w);
    buf_puts(w->out, buf_str(&body));
    escape_repeat(w->out, '`', fence);
    md_end(w);
}
