#include "reports/render/markdown.h"

#include "common/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Columns are aligned in the source too, as long as no cell is wider than this. */
enum { PAD_MAX = 48 };

/* The visible form of foreign text; released by the caller. */
static struct buf visible(const char *s, size_t len)
{
    struct buf b;
    buf_init(&b, (size_t)MD_DATA_MAX * 8);
    text_printable(&b, s, len, MD_DATA_MAX);
    if (len > MD_DATA_MAX)
        buf_puts(&b, " ...");
    return b;
}

static bool at_line_start(const struct buf *out)
{
    return out->len == 0 || out->data[out->len - 1] == '\n';
}

static bool needs_escape(const char *text, size_t i, bool line_start)
{
    char c = text[i];
    if (strchr("\\`*[]<>&|~$", c))
        return true;
    if (c == '_')
        return i == 0 || !isalnum((unsigned char)text[i - 1]) || !isalnum((unsigned char)text[i + 1]);
    if (c == ':')
        return text[i + 1] == '/' && text[i + 2] == '/';
    if (c == '.' && i >= 3 && strncasecmp(text + i - 3, "www", 3) == 0)
        return true;
    if (!line_start)
        return false;
    if (c == '.' || c == ')')
        return i > 0 && strspn(text, "0123456789") == i && (text[i + 1] == ' ' || !text[i + 1]);
    return i == 0 && strchr("#+-=!", c) != NULL;
}

static void escape(struct buf *out, const char *text)
{
    bool line_start = at_line_start(out);
    for (size_t i = 0; text[i]; i++) {
        if (needs_escape(text, i, line_start))
            buf_putc(out, '\\');
        buf_putc(out, text[i]);
    }
}

void md_text(struct md *w, const char *s)
{
    struct buf b = visible(s, strlen(s));
    w->out->failed |= !buf_ok(&b);
    escape(w->out, buf_str(&b));
    buf_release(&b);
}

static size_t longest_run(const char *s, char c)
{
    size_t longest = 0;
    for (size_t run = 0; *s; s++) {
        run = *s == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void repeat(struct buf *out, char c, size_t n)
{
    while (n--)
        buf_putc(out, c);
}

static void code_span(struct buf *out, const char *text, bool in_table)
{
    size_t fence = longest_run(text, '`') + 1;
    size_t len = strlen(text);
    bool pad = text[0] == '`' || text[len - 1] == '`' || (text[0] == ' ' && text[len - 1] == ' ');
    repeat(out, '`', fence);
    repeat(out, ' ', pad);
    for (; *text; text++) {
        if (*text == '|' && in_table)
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
    repeat(out, ' ', pad);
    repeat(out, '`', fence);
}

/* Inside a table a backslash before a bar is read differently by different renderers: such text is escaped
 * instead of being put into a code span. */
static void code(struct buf *out, const char *s, bool in_table)
{
    struct buf b = visible(s, strlen(s));
    const char *text = buf_str(&b);
    out->failed |= !buf_ok(&b);
    if (text[strspn(text, " ")] == '\0' || (in_table && strstr(text, "\\|")))
        escape(out, *text ? text : "-");
    else
        code_span(out, text, in_table);
    buf_release(&b);
}

void md_code(struct md *w, const char *s)
{
    code(w->out, s, false);
}

static void href(struct buf *out, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *s; s++) {
        if (strchr(plain, *s))
            buf_putc(out, *s);
        else
            buf_printf(out, "%%%02X", (unsigned char)*s);
    }
}

void md_link(struct md *w, const char *text, const char *target)
{
    buf_putc(w->out, '[');
    md_code(w, text);
    buf_puts(w->out, "](");
    href(w->out, target);
    buf_putc(w->out, ')');
}

void md_image(struct md *w, const char *alt, const char *target)
{
    buf_puts(w->out, "![");
    md_text(w, alt);
    buf_puts(w->out, "](");
    href(w->out, target);
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
    repeat(w->out, '#', (size_t)level);
    buf_putc(w->out, ' ');
    md_text(w, text);
    md_end(w);
}

void md_heading(struct md *w, int level, enum msg id)
{
    md_end(w);
    repeat(w->out, '#', (size_t)level);
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

void md_code_block(struct md *w, const char *lang, const char *text, size_t len)
{
    struct buf body;
    buf_init(&body, len * 8 + 16);
    for (size_t i = 0; i < len;) {
        const char *newline = memchr(text + i, '\n', len - i);
        size_t line = newline ? (size_t)(newline - (text + i)) : len - i;
        text_printable(&body, text + i, line, line);
        buf_putc(&body, '\n');
        i += line + 1;
    }
    size_t fence = longest_run(buf_str(&body), '`');
    fence = fence < 3 ? 3 : fence + 1;
    w->out->failed |= !buf_ok(&body);
    md_end(w);
    repeat(w->out, '`', fence);
    buf_puts(w->out, lang);
    md_line(w);
    buf_puts(w->out, buf_str(&body));
    repeat(w->out, '`', fence);
    md_end(w);
    buf_release(&body);
}

static void cell_code(struct buf *out, const struct table_cell *cell)
{
    buf_puts(out, cell->link ? "[" : "");
    code(out, cell->text, true);
    if (!cell->link)
        return;
    buf_puts(out, "](");
    href(out, cell->link);
    buf_putc(out, ')');
}

static void cell_markdown(struct buf *out, const struct table_cell *cell)
{
    if (cell->kind == CELL_CODE) {
        cell_code(out, cell);
        return;
    }
    bool strong = cell->mark == MARK_BAD;
    struct buf b = visible(cell->text, strlen(cell->text));
    out->failed |= !buf_ok(&b);
    buf_puts(out, strong ? "**" : "");
    escape(out, buf_str(&b));
    buf_puts(out, strong ? "**" : "");
    buf_release(&b);
}

static void write_cell(struct buf *out, const char *text, size_t width, bool right)
{
    size_t own = table_text_width(text);
    size_t pad = own < width ? width - own : 0;
    buf_puts(out, "| ");
    repeat(out, ' ', right ? pad : 0);
    buf_puts(out, text);
    repeat(out, ' ', right ? 1 : pad + 1);
}

static void write_table(const struct table *t, char *const *cells, const size_t *width, struct buf *out)
{
    for (size_t c = 0; c < t->n_cols; c++)
        write_cell(out, t->cols[c].title, width[c], t->cols[c].right);
    buf_puts(out, "|\n");
    for (size_t c = 0; c < t->n_cols; c++) {
        buf_puts(out, "| ");
        repeat(out, '-', width[c] - t->cols[c].right);
        buf_puts(out, t->cols[c].right ? ": " : " ");
    }
    buf_puts(out, "|\n");
    for (size_t i = 0; t->n_cols > 0 && i < t->n_cells; i++) {
        size_t c = i % t->n_cols;
        write_cell(out, cells[i], width[c], t->cols[c].right);
        if (c + 1 == t->n_cols)
            buf_puts(out, "|\n");
    }
}

/* Fills cells with the Markdown of each and width with each column's; false when memory is short. */
static bool table_cells(const struct table *t, char **cells, size_t *width)
{
    for (size_t c = 0; c < t->n_cols; c++) {
        size_t w = table_text_width(t->cols[c].title);
        width[c] = w < 3 ? 3 : w;
    }
    for (size_t i = 0; t->n_cols > 0 && i < t->n_cells; i++) {
        struct buf b;
        buf_init(&b, (size_t)MD_DATA_MAX * 16);
        buf_putc(&b, ' '); /* a cell never stands at a line's start */
        cell_markdown(&b, &t->cells[i]);
        buf_consume(&b, 1);
        cells[i] = buf_steal(&b);
        buf_release(&b);
        if (!cells[i])
            return false;
        size_t w = table_text_width(cells[i]);
        size_t *max = &width[i % t->n_cols];
        *max = w > *max && w <= PAD_MAX ? w : *max;
    }
    return true;
}

void md_table(struct md *w, const struct table *t)
{
    size_t width[TABLE_COLS_MAX] = {0};
    char **cells = table_ok(t) ? calloc(t->n_cells + 1, sizeof *cells) : NULL;
    md_end(w);
    if (cells && table_cells(t, cells, width))
        write_table(t, cells, width, w->out);
    else
        w->out->failed = true;
    for (size_t i = 0; cells && i < t->n_cells; i++)
        free(cells[i]);
    free(cells);
    md_end(w);
}
