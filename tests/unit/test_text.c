/* text: quoting checked with /bin/sh, untrusted text escaped, names and UTF-8. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/run.h"
#include "common/base/text.h"
#include "common/contract/proto.h"

enum { WORDS = 64, ROUNDS = 60, WORD_MAX = 120 };

/* A small seeded generator, so that failures are reproducible. */
static uint32_t random_next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* What /bin/sh -c prints for the script. */
static void run_sh(const char *script, struct buf *out)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct run run = {.argv = argv, .cwd = scratch, .on_stdout = run_collect, .on_stdout_arg = out};
    struct run_result ended;
    struct err err = {0};
    assert_ok(run_program(&run, &ended, &err), &err);
    assert_ok(run_expect_success(&ended, "sh", &err), &err);
}

/* Passes words through the shell and returns them as the shell parsed them. */
static void assert_words_survive(const char *const *words, size_t count)
{
    AUTO(buf_release) struct buf script = {.max = 1 << 20};
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    AUTO(buf_release) struct buf want = {.max = 1 << 20};
    buf_puts(&script, "printf '%s\\0' ");
    text_shell_join(&script, words);
    assert_true(buf_ok(&script));
    for (size_t i = 0; i < count; i++)
        buf_add(&want, words[i], strlen(words[i]) + 1);
    run_sh(buf_str(&script), &out);
    if (out.len != want.len || memcmp(out.data, want.data, out.len) != 0)
        fail_msg("not what went in: %s", buf_str(&script));
}

TEST(hostile_words_run_nothing)
{
    static const char *const words[] = {
        "$(touch hit)",
        "`touch hit`",
        "; touch hit;",
        "' ; touch hit ; '",
        "\" ; touch hit ; \"",
        "\ntouch hit\n",
        "|touch hit",
        "&touch hit&",
        ">hit",
        "a'b'c",
        "'",
        "''",
        "'\\''",
        "\\",
        "\\'",
        "$HOME",
        "${IFS}",
        "~",
        "*",
        "[a-z]",
        "{a,b}",
        "!!",
        "#no comment",
        "-n",
        "--",
        "-e\\n",
        "a b",
        " ",
        "\t",
        "",
        "\r\n",
        "\x01\x02\x7f",
        "\xff\xfe",
        "\xc3\xa9",
        "x=y",
        "(",
        ")",
        "<(x)",
        "%s%d\\0",
        NULL,
    };
    assert_words_survive(words, COUNT(words) - 1);
    for (size_t i = 0; words[i]; i++) {
        const char *one[] = {words[i], NULL};
        assert_words_survive(one, 1);
    }
    assert_false(fs_exists(in_scratch("hit")));
}

TEST(random_words_survive_the_shell)
{
    static const char nasty[] = "'\"\\$`!;&|<>(){}[]*?~#%-=\n\t\r ";
    uint32_t seed = 0x5eed1234;
    for (int round = 0; round < ROUNDS; round++) {
        char text[WORDS][WORD_MAX + 1];
        const char *words[WORDS + 1];
        for (size_t w = 0; w < WORDS; w++) {
            size_t len = random_next(&seed) % WORD_MAX;
            for (size_t i = 0; i < len; i++) {
                uint32_t r = random_next(&seed);
                text[w][i] = r & 0x100 ? nasty[r % (sizeof nasty - 1)] : (char)(1 + (r >> 9) % 255);
            }
            text[w][len] = '\0';
            words[w] = text[w];
        }
        words[WORDS] = NULL;
        assert_words_survive(words, WORDS);
    }
}

/* A word is also quoted where the shell expects a command name or an assignment. */
TEST(quoted_word_is_never_a_command_of_its_own)
{
    AUTO(buf_release) struct buf script = {.max = 4096};
    AUTO(buf_release) struct buf out = {.max = 4096};
    const char *argv[] = {"env", "A=$(touch hit)", "sh", "-c", "printf %s \"$A\"", NULL};
    text_shell_join(&script, argv);
    run_sh(buf_str(&script), &out);
    assert_string_equal(buf_str(&out), "$(touch hit)");
    assert_false(fs_exists(in_scratch("hit")));
}

TEST(control_and_invisible_characters_are_escaped)
{
    static const struct {
        const char *in, *out;
    } table[] = {
        {"", ""},
        {"plain text, 100 %", "plain text, 100 %"},
        {"a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"},
        {"\033[31mred\033]0;title\007", "\\x1b[31mred\\x1b]0;title\\x07"},
        {"\x01\x1f\x7f", "\\x01\\x1f\\x7f"},
        {"\xc2\x9b[2J", "\\u{009b}[2J"}, /* C1 CSI */
        {"\xc2\x85", "\\u{0085}"},       /* NEL */
        {"caf\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80"},
        {"\xe2\x80\xae"
         "evil",
         "\\u{202e}evil"}, /* right-to-left override */
        {"\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}"},
        {"\xe2\x80\x8b\xe2\x80\x8f", "\\u{200b}\\u{200f}"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}"},
        {"\xef\xbb\xbf", "\\u{feff}"},
        {"\xd8\x9c", "\\u{061c}"},
        {"\xf3\xa0\x81\x81", "\\u{e0041}"}, /* tag characters form an invisible text */
        {"\xff\xfe", "\\xff\\xfe"},
        {"\x80", "\\x80"},
        {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
        {"\xe0\x80\x8a", "\\xe0\\x80\\x8a"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* past U+10FFFF */
        {"\xe2\x82", "\\xe2\\x82"},                   /* truncated */
        {"\xe2"
         "A",
         "\\xe2"
         "A"},
        {"\\x1b", "\\x1b"}, /* idempotent: text may be escaped twice */
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        AUTO(buf_release) struct buf out = {.max = 1000};
        text_printable(&out, table[i].in, strlen(table[i].in), 1000);
        assert_string_equal(buf_str(&out), table[i].out);
    }
}

TEST(printable_takes_nul_and_stops_at_max)
{
    AUTO(buf_release) struct buf out = {.max = 1000};
    text_printable(&out, "a\0b", 3, 1000);
    assert_string_equal(buf_str(&out), "a\\x00b");
    buf_clear(&out);
    text_printable(&out, "abcdef", 6, 3);
    assert_string_equal(buf_str(&out), "abc");
    buf_clear(&out);
    text_printable(&out, "ab\xe2\x82\xac", 5, 4); /* a character that does not fit is omitted */
    assert_string_equal(buf_str(&out), "ab");
    buf_clear(&out);
    text_printable(&out, "abc", 3, 0);
    assert_string_equal(buf_str(&out), "");
}

/* For any input, both functions produce valid UTF-8 without control characters. */
TEST(printable_is_always_inert)
{
    uint32_t seed = 42;
    for (int round = 0; round < 4000; round++) {
        char in[64], fixed[24];
        size_t len = random_next(&seed) % sizeof in;
        for (size_t i = 0; i < len; i++) {
            uint32_t r = random_next(&seed);
            static const unsigned char heads[] = {0xc2, 0xe2, 0x80, 0x81, 0xa8, 0xf0, 0xed, 0xef};
            in[i] = (char)(r & 1 ? heads[(r >> 1) % sizeof heads] : r >> 8);
        }
        AUTO(buf_release) struct buf out = {.max = 1000};
        text_printable(&out, in, len, sizeof in);
        text_printable_fixed(fixed, sizeof fixed, in, len);
        assert_true(text_is_utf8(buf_str(&out), out.len));
        assert_true(text_is_utf8(fixed, strlen(fixed)));
        assert_true(strlen(fixed) < sizeof fixed);
        assert_memory_equal(fixed, buf_str(&out), strlen(fixed));
        assert_true(strlen(fixed) == out.len || strlen(fixed) > sizeof fixed - 12);
        for (size_t i = 0; i < out.len; i++)
            assert_true((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
    }
}

TEST(names_have_only_safe_characters)
{
    static const char *const good[] = {
        "a",    "Z",
        "0",    "_",
        "v3",   "v3_q-lds.2",
        "a..b", "_-",
        "9.-",  "0123456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {"",
                                      ".",
                                      "..",
                                      ".a",
                                      "-a",
                                      "--",
                                      "a/b",
                                      "../x",
                                      "a b",
                                      "a\n",
                                      "\xc3\xa9",
                                      "a$",
                                      "a;b",
                                      "a'b",
                                      "a\\b",
                                      "~",
                                      "*",
                                      "a:b",
                                      "01234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < COUNT(good); i++)
        if (!text_is_name(good[i]))
            fail_msg("\"%s\" is a name", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (text_is_name(bad[i]))
            fail_msg("\"%s\" is no name", bad[i]);
    assert_int_equal(strlen(good[COUNT(good) - 1]), LIMIT_NAME);
}

TEST(only_valid_utf8_is_accepted)
{
    static const char *const good[] = {"",
                                       "a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2!",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\xfe",
                                      "a\xff",
                                      "\xf0\x9f\x98"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(text_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < COUNT(bad); i++)
        if (text_is_utf8(bad[i], strlen(bad[i])))
            fail_msg("entry %zu is no UTF-8", i);
    assert_true(text_is_utf8("a\0b", 3));
}

TEST(the_nearest_word_is_a_misspelling)
{
    static const char *const known[] = {"context", "contexts", "env", "shapes", "run"};
    static const size_t n = sizeof known / sizeof *known;
    assert_string_equal(text_nearest("contex", known, n), "context");
    assert_string_equal(text_nearest("cotnext", known, n), "context");
    assert_string_equal(text_nearest("nev", known, n), "env");
    assert_string_equal(text_nearest("runs", known, n), "run");
    assert_null(text_nearest("gates", known, n));
    assert_null(text_nearest("x", known, n));
    assert_null(text_nearest("", known, n));
}

TEST(what_differs_is_kept_of_values_that_do_not_fit)
{
    static const struct {
        const char *a, *b, *cut_a, *cut_b;
    } cases[] = {
        {"short", "shirt", "short", "shirt"},
        {"", "0123456789012345678901234567890123456789", "", "0123456789012345678901234567…"},
        {"cc -O1 -o a_long_name_of_a_file a.c", "cc -O1 -o a_long_name_of_a_file b.c", "…a.c", "…b.c"},
        {"no_word_begins_near_the_place_of_changeX", "no_word_begins_near_the_place_of_change",
         "…_place_of_changeX", "…_place_of_change"},
        {"no_word_begins_near_the_place_of_changeé", "no_word_begins_near_the_place_of_changeè",
         "…_place_of_changeé", "…_place_of_changeè"},
        {"01234567890123456789012345678901", "01234567890123456789012345678901",
         "0123456789012345678901234567…", "0123456789012345678901234567…"},
        {"x012345678901234567890123456é90", "y", "x012345678901234567890123456…", "y"},
        {"x01234567890123456789012345é90000", "y", "x01234567890123456789012345…", "y"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char a[32], b[32];
        text_differing(cases[i].a, cases[i].b, sizeof a, a, b);
        assert_string_equal(a, cases[i].cut_a);
        assert_string_equal(b, cases[i].cut_b);
        assert_true(text_is_utf8(a, strlen(a)) && text_is_utf8(b, strlen(b)));
    }
}

TEST(a_line_is_broken_between_words_and_colours_have_no_width)
{
    AUTO(buf_release) struct buf out = {.max = 4096};
    text_wrap("short\n  two words\n\033[32mgreen\033[0m words\n", 11, &out);
    assert_string_equal(buf_str(&out), "short\n  two words\n\033[32mgreen\033[0m words\n");
    buf_clear(&out);
    text_wrap("", 40, &out);
    text_wrap("  one: two words and many more which need more than forty columns", 40, &out);
    assert_string_equal(buf_str(&out),
                        "  one: two words and many more which\n    need more than forty columns\n");
}

GROUP(scratch_make, scratch_remove);
