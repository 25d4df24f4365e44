/* Documents, pictures and a terminal's tables made from runs whose every text is hostile: none of it writes
 * markup. */
#include "reports/tables/terminal.h"
#include "tests/unit/report_support.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

/* Text that tries everything: markup of both languages, a table's bars, escape sequences, deception. */
#define EVIL                                                                                                 \
    "<script>alert(1)</script>|`*_[x](javascript:alert(2))\x1b[31m\xe2\x80\xae\n# x <img src=x "             \
    "onerror=alert(3)>"

static int64_t store_evil_night(struct store *s, int night)
{
    struct err err = {0};
    struct draft d;
    draft_night(&d, night);
    snprintf(d.info.node, sizeof d.info.node, "%s", EVIL);
    assert_ok(draft_add_fact(&d, "driver", EVIL, &err), &err);
    assert_ok(draft_add_fact(&d, "env." EVIL, night % 2 ? EVIL : "x", &err), &err);
    for (int context = 256; context <= 512; context *= 2) {
        struct run_test *t = draft_shot(&d, "baseline", context, 1, context / 100.0 * (night > 1 ? 2 : 1));
        snprintf(t->attn_impl, sizeof t->attn_impl, "%.60s", EVIL);
        t = draft_shot(&d, "<b>|`v3", context, 1, context / 50.0);
        t->status = night > 1 ? STATUS_CRASH : STATUS_OK;
        t->reason = EVIL;
    }
    snprintf(d.variants[1].reason, sizeof d.variants[1].reason, "%s", EVIL);
    return must_store(s, &d);
}

/* Counts the nodes that only hostile text could have made. */
static int foreign_nodes(const char *markdown)
{
    int found = 0;
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("autolink"));
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("strikethrough"));
    cmark_parser_feed(parser, markdown, strlen(markdown));
    cmark_node *document = cmark_parser_finish(parser);
    cmark_iter *iter = cmark_iter_new(document);
    for (cmark_event_type e; (e = cmark_iter_next(iter)) != CMARK_EVENT_DONE;) {
        cmark_node_type type = cmark_node_get_type(cmark_iter_get_node(iter));
        found += e == CMARK_EVENT_ENTER && (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE ||
                                            type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE ||
                                            type == CMARK_NODE_EMPH || type == CMARK_NODE_BLOCK_QUOTE);
    }
    cmark_iter_free(iter);
    cmark_node_free(document);
    cmark_parser_free(parser);
    return found;
}

static void every_row_has_the_cells_of_its_header(const char *html)
{
    int header = 0;
    for (const char *row = html; (row = strstr(row, "<tr>")); row++) {
        const char *end = strstr(row, "</tr>");
        int heads = 0, cells = 0;
        for (const char *p = row; p < end; p++) {
            heads += strncmp(p, "</th>", 5) == 0;
            cells += strncmp(p, "</td>", 5) == 0;
        }
        if (heads)
            header = heads;
        else
            assert_int_equal(cells, header);
    }
    assert_true(header > 0);
}

TEST(hostile_text_is_inert)
{
    AUTO(store_close) struct store s = open_store("evil.db");
    struct report_request req = report_defaults();
    store_evil_night(&s, 1);
    store_evil_night(&s, 2);
    req.against = "night-0001";
    for (enum report_kind kind = 0; kind < REPORT_KIND_COUNT; kind++) {
        req.kind = kind;
        req.format = REPORT_MD;
        char *markdown = render(&s, req, "night-0002");
        assert_int_equal(foreign_nodes(markdown), 0);
        assert_null(strchr(markdown, '\x1b'));
        assert_null(strstr(markdown, "\xe2\x80\xae"));
        free(markdown);
        req.format = REPORT_HTML;
        AUTO_FREE char *html = render(&s, req, "night-0002");
        assert_non_null(strstr(html, "Content-Security-Policy"));
        assert_null(strstr(html, "<script>alert"));
        assert_null(strstr(html, "<img src=x"));
        assert_null(strstr(html, "<b>"));
        assert_null(strstr(html, "href=\"javascript"));
        assert_null(strchr(html, '\x1b'));
        every_row_has_the_cells_of_its_header(html);
    }
}

/* Elements that gnuplot draws with, and attributes of which none runs or fetches anything. */
static void assert_only_drawing(const char *svg)
{
    static const char *const elements[] = {"svg",         "title",   "style",   "desc",       "defs",
                                           "g",           "path",    "text",    "rect",       "use",
                                           "circle",      "polygon", "pattern", "filter",     "feFlood",
                                           "feComposite", "feBlend", "feMerge", "feMergeNode"};
    for (const char *p = svg; (p = strchr(p, '<')); p++) {
        const char *name = p + 1 + (p[1] == '/');
        size_t len = strcspn(name, " \t\r\n/>"), i = 0;
        while (i < COUNT(elements) && (strlen(elements[i]) != len || strncmp(name, elements[i], len) != 0))
            i++;
        if (i == COUNT(elements) && strncmp(p, "<!--", 4) != 0)
            fail_msg("an element of somebody else's: %.60s", p);
    }
    for (const char *p = svg; (p = strstr(p, "href=")); p++)
        assert_memory_equal(p, "href='#", 7);
    const char *const never[] = {"onload",   "onerror", "javascript", "alert",
                                 "url(http", "@import", "\x1b",       "\xe2\x80\xae"};
    for (size_t i = 0; i < COUNT(never); i++)
        assert_null(strstr(svg, never[i]));
}

static int check_drawing(const char *rel, const char *full, void *arg, struct err *err)
{
    struct buf svg;
    size_t *seen = arg;
    buf_init(&svg, 1 << 20);
    assert_ok(fs_read_file(full, svg.max, &svg, err), err);
    assert_non_null(strstr(rel, ".svg"));
    assert_only_drawing(buf_str(&svg));
    buf_release(&svg);
    (*seen)++;
    return 0;
}

TEST(hostile_text_is_inert_in_pictures)
{
    struct store s = open_store("drawn.db");
    struct report_request req = report_defaults();
    struct err err = {0};
    size_t seen = 0;
    store_evil_night(&s, 1);
    req.asset_dir = in_scratch("drawn");
    req.kind = REPORT_NIGHTLY;
    char *text = render(&s, req, "night-0001");
    bool drawn = !strstr(text, "gnuplot is not installed");
    free(text);
    store_close(&s);
    if (!drawn)
        skip();
    assert_ok(fs_walk(in_scratch("drawn"), false, check_drawing, &seen, &err), &err);
    assert_true(seen >= 2);
}

TEST(hostile_text_is_inert_on_a_terminal)
{
    AUTO(store_close) struct store s = open_store("terminal.db");
    AUTO(comparison_release) struct comparison c = {0};
    AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
    const struct compare_options options = compare_defaults();
    struct run_data before = must_load(&s, store_evil_night(&s, 1)),
                    now = must_load(&s, store_evil_night(&s, 2));
    compare_runs(&before, &now, NULL, &options, &c);
    terminal_comparison(&c, false, (struct screen){0}, &out);
    terminal_run(&now, 0, false, (struct screen){0}, &out);
    terminal_scaling(&now, false, (struct screen){0}, &out);
    for (const char *p = buf_str(&out); *p; p++)
        assert_true((unsigned char)*p >= 0x20 || *p == '\n');
    assert_null(strstr(buf_str(&out), "\xe2\x80\xae"));
    run_data_release(&before);
    run_data_release(&now);
}

GROUP(scratch_make, scratch_remove);
