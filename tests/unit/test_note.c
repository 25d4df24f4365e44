/* Notes: what the store keeps of them, and what a document makes of their text. */
#include "reports/render/prose.h"
#include "results/store/note.h"
#include "tests/unit/results_support.h"

static const char *prose(const char *text)
{
    static char shown[64 << 10];
    AUTO(buf_release) struct buf out = {.max = sizeof shown - 1};
    struct md w = {.out = &out, .lang = REPORT_EN};
    md_prose(&w, text);
    assert_true(buf_ok(&out));
    memcpy(shown, buf_str(&out), out.len + 1);
    return shown;
}

TEST(paragraphs_lists_and_code_are_kept)
{
    assert_string_equal(prose("one\nline\n\ntwo"), "one line\n\ntwo\n\n");
    assert_string_equal(prose("so:\n- a\n- b\n  more\n\nend"), "so:\n\n- a\n- b more\n\nend\n\n");
    assert_string_equal(prose("1. a\n2) b"), "1. a\n2. b\n\n");
    assert_string_equal(prose("use `x|y` here"), "use `x|y` here\n\n");
    assert_string_equal(prose("```sh\nls <b>\n\n  `x`\n```\nend"), "```\nls <b>\n\n  `x`\n```\n\nend\n\n");
    assert_string_equal(prose("```\nopen"), "```\nopen\n```\n\n");
    assert_string_equal(prose("a\r\nb\r\n"), "a b\n\n");
    assert_string_equal(prose(""), "");
}

TEST(everything_else_is_text)
{
    assert_string_equal(prose("# head"), "\\# head\n\n");
    assert_string_equal(prose("- # head"), "- \\# head\n\n");
    assert_string_equal(prose("- - x"), "- \\- x\n\n");
    assert_string_equal(prose("1. 2. x"), "1. 2\\. x\n\n");
    assert_string_equal(prose("<b>|x|</b> [a](b) ![c](d)"),
                        "\\<b\\>\\|x\\|\\</b\\> \\[a\\](b) !\\[c\\](d)\n\n");
    assert_string_equal(prose("a\n===\nb\n---"), "a === b ---\n\n");
    assert_string_equal(prose("    <script>"), "\\<script\\>\n\n");
    assert_string_equal(prose("x\x1b[31m"), "x\\\\x1b\\[31m\n\n");
    assert_string_equal(prose("one ` tick"), "one \\` tick\n\n");
    assert_string_equal(prose("````\n```\n<!-- lang es -->"), "```\n```\n\n\\<!-- lang es --\\>\n\n");
}

TEST(a_long_line_is_shown_to_its_end)
{
    char text[9000];
    for (size_t i = 0; i + 4 < sizeof text; i += 4)
        for (size_t k = 0; k < 4; k++)
            text[i + k] = "\xc3\xa1x "[k];
    snprintf(text + sizeof text - 4, 4, "end");
    assert_non_null(strstr(prose(text), "\xc3\xa1x end\n"));
    memset(text, 'x', sizeof text - 4);
    assert_non_null(strstr(prose(text), "xxend\n"));
}

static struct note note_of(const char *run, enum note_section section, const char *lang, const char *text)
{
    struct note n = {.section = section, .text = (char *)text};
    snprintf(n.ticket, sizeof n.ticket, "b3");
    snprintf(n.run_id, sizeof n.run_id, "%s", run);
    snprintf(n.lang, sizeof n.lang, "%s", lang);
    snprintf(n.who, sizeof n.who, "ada");
    return n;
}

static size_t count(struct store *s, const char *ticket, const char *run)
{
    struct err err = {0};
    AUTO(notes_release) struct notes found = {0};
    assert_ok(notes_load(s, ticket, run, &found, &err), &err);
    return found.count;
}

TEST(there_is_one_note_for_each_section_and_language)
{
    AUTO(store_close) struct store s = open_store("note.db");
    AUTO(notes_release) struct notes found = {0};
    struct err err = {0};
    int dropped = -1;
    struct note a = note_of("", NOTE_DECISION, "es", "old"), b = note_of("", NOTE_DECISION, "es", "new\n<b>"),
                c = note_of("", NOTE_DECISION, "en", "x"), d = note_of("gone", NOTE_FINDINGS, "en", "x");
    assert_ok(note_save(&s, &a, &err), &err);
    assert_ok(note_save(&s, &b, &err), &err);
    assert_ok(note_save(&s, &c, &err), &err);
    assert_ok(note_save(&s, &d, &err), &err);
    assert_ok(notes_load(&s, "b3", NULL, &found, &err), &err);
    assert_int_equal(found.count, 2); /* the run of the last is not in the store */
    /* Both may be of the same millisecond. */
    const struct note *es = &found.items[strcmp(found.items[0].lang, "es") == 0 ? 0 : 1];
    assert_string_equal(es->text, "new\n<b>");
    assert_string_equal(es->who, "ada");
    assert_true(es->noted_at > 0);
    assert_int_equal(count(&s, "other", NULL), 0);
    assert_int_equal(count(&s, NULL, ""), 2);
    assert_ok(notes_drop(&s, "b3", "", NOTE_SECTION_COUNT, "en", &dropped, &err), &err);
    assert_int_equal(dropped, 1);
    assert_ok(notes_drop(&s, "b3", "", NOTE_FINDINGS, NULL, &dropped, &err), &err);
    assert_int_equal(dropped, 0);
    assert_ok(notes_drop(&s, "b3", "", NOTE_DECISION, NULL, &dropped, &err), &err);
    assert_int_equal(dropped, 1);
    assert_int_equal(count(&s, NULL, NULL), 0);
}

TEST(a_note_of_a_run_has_its_date)
{
    AUTO(store_close) struct store s = open_store("note_run.db");
    AUTO(notes_release) struct notes found = {0};
    struct err err = {0};
    struct draft d;
    draft_night(&d, 1);
    char run[RUN_ID_MAX], date[11];
    snprintf(run, sizeof run, "%s", d.info.run_id);
    snprintf(date, sizeof date, "%s", d.info.date);
    draft_shot(&d, "baseline", 256, 1, 1);
    must_store(&s, &d);
    struct note n = note_of(run, NOTE_REJECTED, "en", "x");
    assert_ok(note_save(&s, &n, &err), &err);
    assert_ok(notes_load(&s, NULL, run, &found, &err), &err);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].date, date);
}
