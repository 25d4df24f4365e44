#include "reports/render/html.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "reports/render/html_page.h"
#include "reports/render/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <stdlib.h>
#include <string.h>

struct page {
    struct buf *out;
    const struct figure_set *figures;
    cmark_llist *extensions;
    struct buf heading; /* text of the last heading, which names the tables below it */
    int headings;       /* so far, for numbered anchors */
    int tables;         /* since the last heading */
    enum report_lang lang;
    bool other_language, folded;
    bool resumed, cut; /* the first table of the part that is parsed goes on, its last one does in the next */
};

static void add_node(struct buf *out, cmark_node *node, cmark_llist *extensions)
{
    AUTO_FREE char *text = cmark_render_html(node, CMARK_OPT_DEFAULT, extensions);
    if (text)
        buf_puts(out, text);
    else
        out->failed = true;
}

/* The text of a node without its markup. */
static void plain_text(cmark_node *node, struct buf *out)
{
    cmark_iter *iter = cmark_iter_new(node);
    for (cmark_event_type e; (e = cmark_iter_next(iter)) != CMARK_EVENT_DONE;) {
        const char *literal = cmark_node_get_literal(cmark_iter_get_node(iter));
        if (e == CMARK_EVENT_ENTER && literal)
            buf_puts(out, literal);
    }
    cmark_iter_free(iter);
}

static void add_heading(struct page *p, cmark_node *node)
{
    int level = cmark_node_get_heading_level(node);
    buf_clear(&p->heading);
    plain_text(node, &p->heading);
    p->tables = 0;
    buf_printf(p->out, "<h%d id=\"s%d\">", level, ++p->headings);
    for (cmark_node *n = cmark_node_first_child(node); n; n = cmark_node_next(n))
        add_node(p->out, n, p->extensions);
    buf_printf(p->out, "</h%d>\n", level);
}

/* Whether the last column is the evidence of the one before it: the verdict, which stays in view on a phone.
 */
static bool has_verdicts(const struct page *p, cmark_node *table)
{
    AUTO(buf_release) struct buf title = {.max = 256};
    cmark_node *head = cmark_node_first_child(table), *last = head ? cmark_node_last_child(head) : NULL;
    if (last)
        plain_text(last, &title);
    return strcmp(buf_str(&title), message(p->lang, MSG_COL_EVIDENCE)) == 0;
}

/* Of a long table, each part has the head before its own rows, which is left out of all but the first. */
static void add_rows(struct page *p, cmark_node *node, bool resumed, bool cut)
{
    static const char body[] = "<tbody>\n", end[] = "</tbody>\n</table>\n";
    AUTO_FREE char *text = cmark_render_html(node, CMARK_OPT_DEFAULT, p->extensions);
    const char *from = text && resumed ? strstr(text, body) : text;
    size_t len = from ? strlen(from) : 0, tail = cut ? strlen(end) : 0, head = resumed ? strlen(body) : 0;
    if (len >= head + tail)
        buf_add(p->out, from + head, len - head - tail);
    else
        p->out->failed = true;
    if (!cut)
        buf_puts(p->out, "</div>\n");
}

static void add_table(struct page *p, cmark_node *node)
{
    bool resumed = p->resumed && !cmark_node_previous(node), cut = p->cut && !cmark_node_next(node);
    if (resumed) {
        add_rows(p, node, resumed, cut);
        return;
    }
    buf_printf(p->out, "<div class=\"scroll%s\" role=\"region\" tabindex=\"0\" aria-label=\"",
               has_verdicts(p, node) ? " verdicts" : "");
    escape_xml(p->out, buf_str(&p->heading));
    if (++p->tables > 1)
        buf_printf(p->out, " (%d)", p->tables);
    buf_puts(p->out, "\">\n");
    add_rows(p, node, resumed, cut);
}

/* The figure that a paragraph consists of; NULL for any other block. */
static const struct figure *picture_of(const struct page *p, cmark_node *node)
{
    cmark_node *only = cmark_node_first_child(node);
    if (cmark_node_get_type(node) != CMARK_NODE_PARAGRAPH || !only || cmark_node_next(only) ||
        cmark_node_get_type(only) != CMARK_NODE_IMAGE)
        return NULL;
    const char *url = cmark_node_get_url(only);
    return url ? figure_find(p->figures, url) : NULL;
}

/* The caption that the writer put below a picture: a paragraph that is all emphasis; NULL for any other. */
static cmark_node *caption_of(cmark_node *after)
{
    cmark_node *only = after ? cmark_node_first_child(after) : NULL;
    bool italic = only && !cmark_node_next(only) && cmark_node_get_type(only) == CMARK_NODE_EMPH;
    return italic && cmark_node_get_type(after) == CMARK_NODE_PARAGRAPH ? after : NULL;
}

/* Embeds the picture as an image, never as markup, so scripts inside cannot run or reach the page. */
static void add_picture(struct page *p, const struct figure *figure)
{
    buf_puts(p->out, "<figure>\n<img alt=\"");
    escape_xml(p->out, figure->alt);
    buf_puts(p->out, "\" src=\"data:image/svg+xml;base64,");
    html_base64(p->out, figure->svg, strlen(figure->svg));
    buf_puts(p->out, "\">\n");
    if (*figure->caption) {
        buf_puts(p->out, "<figcaption>");
        escape_xml(p->out, figure->caption);
        buf_puts(p->out, "</figcaption>\n");
    }
    buf_puts(p->out, "</figure>\n");
}

static void end_language(struct page *p)
{
    if (p->other_language)
        buf_puts(p->out, "</section>\n");
    p->other_language = false;
}

/* Handles the comments that the writer puts where the language changes; any other HTML is dropped. */
static void add_language(struct page *p, cmark_node *node)
{
    const char *comment = cmark_node_get_literal(node);
    for (enum report_lang lang = 0; comment && lang < REPORT_LANG_COUNT; lang++) {
        if (strncmp(comment, md_language_comment(lang), strlen(md_language_comment(lang))) != 0)
            continue;
        end_language(p);
        if (lang == p->lang)
            return;
        buf_printf(p->out, "<section lang=\"%s\">\n", report_lang_name(lang));
        p->other_language = true;
    }
}

/* Handles what md_fold() and md_fold_end() write, whose text is escaped; any other HTML is dropped. */
static void add_fold(struct page *p, cmark_node *node)
{
    const char *literal = cmark_node_get_literal(node);
    size_t begin = sizeof MD_FOLD_BEGIN - 1, end = sizeof MD_FOLD_SUMMARY_END - 1;
    size_t len = literal ? strcspn(literal, "\n") : 0;
    if (!literal)
        return;
    if (strncmp(literal, MD_FOLD_END, sizeof MD_FOLD_END - 1) == 0 && p->folded) {
        buf_puts(p->out, MD_FOLD_END "\n");
        p->folded = false;
    } else if (strncmp(literal, MD_FOLD_BEGIN, begin) == 0 && len > begin + end && !p->folded &&
               memcmp(literal + len - end, MD_FOLD_SUMMARY_END, end) == 0 &&
               !memchr(literal + begin, '<', len - begin - end)) {
        buf_add(p->out, literal, len);
        buf_putc(p->out, '\n');
        p->folded = true;
    }
}

static void add_block(struct page *p, cmark_node *node)
{
    const struct figure *figure = picture_of(p, node), *before = NULL;
    if (cmark_node_previous(node) && caption_of(node))
        before = picture_of(p, cmark_node_previous(node));
    if (before) /* its caption is in the figure */
        return;
    if (figure)
        add_picture(p, figure);
    else if (cmark_node_get_type(node) == CMARK_NODE_HEADING)
        add_heading(p, node);
    else if (cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK) {
        add_language(p, node);
        add_fold(p, node);
    } else if (strcmp(cmark_node_get_type_string(node), "table") == 0)
        add_table(p, node);
    else
        add_node(p->out, node, p->extensions);
}

static void add_contents(struct page *p, cmark_node *document)
{
    int heading = 0;
    buf_printf(p->out, "<nav aria-label=\"%s\">\n<ul>\n", message(p->lang, MSG_HTML_CONTENTS));
    for (cmark_node *n = cmark_node_first_child(document); n; n = cmark_node_next(n)) {
        if (cmark_node_get_type(n) != CMARK_NODE_HEADING)
            continue;
        heading++;
        if (cmark_node_get_heading_level(n) != 2)
            continue;
        AUTO(buf_release) struct buf text = {.max = 4096};
        plain_text(n, &text);
        buf_printf(p->out, "<li><a href=\"#s%d\">", heading);
        escape_xml(p->out, buf_str(&text));
        buf_puts(p->out, "</a></li>\n");
    }
    buf_puts(p->out, "</ul>\n</nav>\n");
}

static cmark_parser *new_parser(void)
{
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_syntax_extension *table = cmark_find_syntax_extension("table");
    if (parser && table)
        cmark_parser_attach_syntax_extension(parser, table);
    return parser;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

/* The next line that begins so and is in no code block, as a note may have one. line: in none; NULL: no more.
 * The writer's fences are longer than any row of backquotes between them. */
static const char *find_line(const char *line, const char *begin)
{
    size_t fence = 0;
    for (; line; line = next_line(line)) {
        size_t ticks = strspn(line, "`");
        if (ticks >= (fence ? fence : 3))
            fence = fence ? 0 : ticks;
        else if (!fence && strncmp(line, begin, strlen(begin)) == 0)
            return line;
    }
    return NULL;
}

/* The headings alone, for the list of contents. */
static cmark_node *parse_headings(cmark_parser *parser, const char *markdown)
{
    for (const char *line = find_line(markdown, "#"); line; line = find_line(next_line(line), "#"))
        cmark_parser_feed(parser, line, strcspn(line, "\n") + 1);
    return cmark_parser_finish(parser);
}

/* "| --- | ---: |": each cell has a dash. */
static bool is_delimiter_row(const char *line)
{
    const char *cell = line + 1;
    while (*cell && *cell != '\n') {
        cell += strspn(cell, " :");
        size_t dashes = strspn(cell, "-");
        cell += dashes + strspn(cell + dashes, ": ");
        if (dashes == 0 || *cell++ != '|')
            return false;
    }
    return cell > line + 1;
}

/* Returns the length up to a row of a table after which ROWS_MOST or more have been; len: there is none.
 * goes_on: the text begins within one. head: its first two lines. */
static size_t find_cut(const char *text, size_t len, bool goes_on, const char **head)
{
    enum { ROWS_MOST = 1000 };
    bool table = false;
    size_t rows = 0, fence = 0;
    for (const char *line = text; line && line < text + len; line = next_line(line)) {
        size_t ticks = strspn(line, "`");
        if (ticks >= (fence ? fence : 3))
            fence = fence ? 0 : ticks;
        rows = !fence && *line == '|' ? rows + 1 : 0;
        if (rows == 1) {
            *head = line;
            table = goes_on && line == text;
        }
        table |= rows == 2 && is_delimiter_row(line);
        if (table && rows > ROWS_MOST)
            return (size_t)(line - text);
    }
    return len;
}

/* head: of the table that goes on, or NULL. Returns false when there is no parser. */
static bool add_part(struct page *p, const char *head, const char *text, size_t len)
{
    cmark_parser *parser = new_parser();
    if (!parser)
        return false;
    if (head)
        cmark_parser_feed(parser, head, (size_t)(next_line(next_line(head)) - head));
    cmark_parser_feed(parser, text, len);
    cmark_node *part = cmark_parser_finish(parser);
    p->extensions = cmark_parser_get_syntax_extensions(parser);
    for (cmark_node *n = cmark_node_first_child(part); n; n = cmark_node_next(n))
        add_block(p, n);
    cmark_node_free(part);
    cmark_parser_free(parser);
    return true;
}

/* One part after the other, each of a section and of so many rows, since a parsed table takes twelve times
 * its text. */
static bool add_sections(struct page *p, const char *text)
{
    const char *head = NULL, *begun = NULL;
    bool ok = true;
    while (ok && *text) {
        const char *next = find_line(next_line(text), "## ");
        size_t section = next ? (size_t)(next - text) : strlen(text),
               len = find_cut(text, section, begun != NULL, &head);
        p->resumed = begun != NULL;
        p->cut = len < section;
        ok = add_part(p, begun, text, len);
        begun = p->cut ? begun && text[0] == '|' && head == text ? begun : head : NULL;
        text += len;
    }
    return ok;
}

int html_render(const struct buf *markdown, const struct figure_set *figures, enum report_lang lang,
                const char *title, struct buf *out, struct err *err)
{
    struct page p = {.out = out, .figures = figures, .lang = lang};
    cmark_parser *parser = new_parser();
    if (!parser)
        return err_set(err, ERR_INTERNAL, "report: the Markdown parser cannot start");
    cmark_node *headings = parse_headings(parser, buf_str(markdown));
    buf_init(&p.heading, 4096);
    html_page_begin(out, lang, title);
    add_contents(&p, headings);
    cmark_node_free(headings);
    cmark_parser_free(parser);
    buf_puts(out, "<main id=\"content\">\n");
    bool ok = add_sections(&p, buf_str(markdown));
    end_language(&p);
    buf_puts(out, "</main>\n");
    html_page_end(out);
    buf_release(&p.heading);
    if (!ok)
        return err_set(err, ERR_INTERNAL, "report: the Markdown parser cannot start");
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "report: the page exceeds %zu bytes", out->max);
}
