#include "reports/words/message.h"

#include "tests/unit/support.h"

/* Which placeholders a template has, and which of them are code: bit n, and bit n + 16. */
static unsigned placeholders(const char *s)
{
    unsigned set = 0;
    for (const char *p = s; (p = strchr(p, '{')); p++) {
        if (p[1] < '1' || p[1] > '9' || p[2] != '}')
            fail_msg("stray brace in \"%s\"", s);
        unsigned n = (unsigned)(p[1] - '0');
        bool code = p > s && p[-1] == '`' && p[3] == '`';
        set |= 1u << n | (code ? 1u << (n + 16) : 0);
    }
    return set;
}

TEST(every_language_uses_the_same_data)
{
    for (enum msg id = 0; id < MSG_COUNT; id++)
        for (enum report_lang lang = 0; lang < REPORT_LANG_COUNT; lang++) {
            assert_true(strlen(message(lang, id)) > 0);
            if (placeholders(message(lang, id)) != placeholders(message(REPORT_EN, id)))
                fail_msg("\"%s\" lacks data of \"%s\"", message(lang, id), message(REPORT_EN, id));
        }
}

TEST(templates_hold_no_backtick_or_star_without_its_partner)
{
    for (enum msg id = 0; id < MSG_COUNT; id++)
        for (enum report_lang lang = 0; lang < REPORT_LANG_COUNT; lang++) {
            size_t ticks = 0, stars = 0;
            for (const char *p = message(lang, id); *p; p++) {
                ticks += *p == '`';
                stars += *p == '*';
                assert_false(*p == '<' || *p == '|');
            }
            assert_true(ticks % 2 == 0 && stars % 4 == 0);
        }
}

TEST(data_are_put_where_the_template_says)
{
    AUTO(buf_release) struct buf out = {.max = 256};
    message_plain(&out, REPORT_EN, MSG_EVIDENCE_STATUS, "OK", "TIMEOUT");
    assert_string_equal(buf_str(&out), "OK in the base, now TIMEOUT");
    buf_clear(&out);
    message_plain(&out, REPORT_EN, MSG_EVIDENCE_STATUS, "OK");
    assert_string_equal(buf_str(&out), "OK in the base, now ");
}
