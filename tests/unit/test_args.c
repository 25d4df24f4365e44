/* args: options in any position, both forms of values, one-line errors that name the option. */
#include "tests/unit/support.h"

#include "common/base/args.h"

enum { WORDS_MAX = 3 };

struct parsed {
    const char *contexts, *tag, *db;
    bool detach, verbose;
    const char *words[WORDS_MAX];
    size_t n;
};

#define AT(member) ARG_AT(struct parsed, member)

static const struct arg options[] = {
    {"--contexts", "LIST", AT(contexts), "these contexts"},
    {"-t,--tag", "TAG", AT(tag), "the tag"},
    {"--detach", NULL, AT(detach), "return at once"},
};
static const struct arg common[] = {
    {"--db", "FILE", AT(db), "the store"},
    {"-v,--verbose", NULL, AT(verbose), "say more"},
};

/* Parses the words after the command's name. */
static int parse(struct parsed *p, size_t min_words, char *const *argv, int argc, struct err *err)
{
    *p = (struct parsed){0};
    const struct args a = {.program = "kernsweep",
                           .command = "run",
                           .usage = "PLAN [MORE]",
                           .about = "Runs.",
                           .own = ARG_TABLE(struct parsed, options),
                           .common = ARG_TABLE(struct parsed, common),
                           .into = p,
                           .common_into = p,
                           .min_words = min_words,
                           .max_words = WORDS_MAX};
    return args_parse(&a, argc, (char **)(uintptr_t)argv, p->words, &p->n, err);
}

#define PARSE(p, min, err, ...)                                                                              \
    parse(p, min, (char *const[]){(char *)"run", __VA_ARGS__, NULL},                                         \
          (int)COUNT(((char *const[]){(char *)"run", __VA_ARGS__})), err)

TEST(options_may_follow_the_operands)
{
    struct parsed p;
    struct err err = {0};
    assert_ok(PARSE(&p, 1, &err, "--detach", "plan.json", "--contexts", "1,2", "-v", "more", "--db=x"), &err);
    assert_int_equal(p.n, 2);
    assert_string_equal(p.words[0], "plan.json");
    assert_string_equal(p.words[1], "more");
    assert_string_equal(p.contexts, "1,2");
    assert_string_equal(p.db, "x");
    assert_true(p.detach && p.verbose);
    assert_null(p.tag);
}

TEST(values_follow_a_space_or_an_equals_sign)
{
    struct parsed p;
    struct err err = {0};
    assert_ok(PARSE(&p, 0, &err, "--tag=a=b", "--contexts="), &err);
    assert_string_equal(p.tag, "a=b");
    assert_string_equal(p.contexts, "");
    assert_ok(PARSE(&p, 0, &err, "-t", "x", "--verbose"), &err);
    assert_string_equal(p.tag, "x");
    assert_true(p.verbose);
    assert_ok(PARSE(&p, 0, &err, "-t", "x", "-t", "y"), &err);
    assert_string_equal(p.tag, "y");
    assert_ok(PARSE(&p, 0, &err, "--tag", "-"), &err);
    assert_string_equal(p.tag, "-");
}

TEST(double_dash_ends_options)
{
    struct parsed p;
    struct err err = {0};
    assert_ok(PARSE(&p, 0, &err, "-v", "--", "--detach", "--", "-"), &err);
    assert_true(p.verbose && !p.detach);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.words[0], "--detach");
    assert_string_equal(p.words[1], "--");
    assert_string_equal(p.words[2], "-");
    assert_ok(PARSE(&p, 1, &err, "-"), &err);
    assert_string_equal(p.words[0], "-");
    assert_ok(PARSE(&p, 1, &err, ""), &err);
    assert_string_equal(p.words[0], "");
}

TEST(wrong_options_and_counts_are_refused)
{
    struct parsed p;
    struct err err = {0};
    assert_err(PARSE(&p, 0, &err, "--frob"), &err, ERR_INPUT, "run: unknown option --frob", "run --help");
    assert_null(strstr(err.msg, "did you mean"));
    assert_err(PARSE(&p, 0, &err, "--detac"), &err, ERR_INPUT, "--detac: did you mean --detach?");
    assert_err(PARSE(&p, 0, &err, "--detachx"), &err, ERR_INPUT, "--detachx: did you mean --detach?");
    assert_err(PARSE(&p, 0, &err, "--contetxs"), &err, ERR_INPUT, "did you mean --contexts?");
    assert_err(PARSE(&p, 0, &err, "--dv"), &err, ERR_INPUT, "did you mean --db?");
    assert_err(PARSE(&p, 0, &err, "--=x"), &err, ERR_INPUT, "--=x");
    assert_err(PARSE(&p, 0, &err, "-vv"), &err, ERR_INPUT, "-vv");
    assert_err(PARSE(&p, 0, &err, "-v,--verbose"), &err, ERR_INPUT, "-v,--verbose");
    assert_err(PARSE(&p, 0, &err, "--detach=yes"), &err, ERR_INPUT, "run: --detach takes no value");
    assert_err(PARSE(&p, 0, &err, "--tag"), &err, ERR_INPUT, "run: --tag needs a value: TAG");
    assert_err(PARSE(&p, 2, &err, "one"), &err, ERR_INPUT, "usage: kernsweep run PLAN [MORE]");
    assert_err(PARSE(&p, 0, &err, "1", "2", "3", "4"), &err, ERR_INPUT, "unexpected \"4\"", "usage: ");
    assert_err(PARSE(&p, 0, &err, "--x\n\033[2J"), &err, ERR_INPUT, "--x\\x0a\\x1b[2J");
    /* An option is not taken as the value of the option before it. */
    assert_err(PARSE(&p, 0, &err, "--tag", "--detach"), &err, ERR_INPUT, "run: --tag needs a value: TAG");
    assert_ok(PARSE(&p, 0, &err, "--tag=--detach"), &err);
    assert_string_equal(p.tag, "--detach");
}

TEST(nothing_is_fine_where_nothing_is_needed)
{
    struct parsed p;
    struct err err = {0};
    char *argv[] = {(char *)"run", NULL};
    assert_ok(parse(&p, 0, argv, 1, &err), &err);
    assert_int_equal(p.n, 0);
    assert_err(parse(&p, 1, argv, 1, &err), &err, ERR_INPUT, "usage");
}

static void assert_help(const struct args *a, const char *expected)
{
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    args_help(a, f);
    fclose(f);
    assert_string_equal(out, expected);
    free(out);
}

static const struct args runs = {.program = "kernsweep",
                                 .command = "run",
                                 .usage = "PLAN",
                                 .about = "Runs a plan.",
                                 .own = {options, 1, 0},
                                 .common = ARG_TABLE(struct parsed, common)};

TEST(help_lists_every_option)
{
    assert_help(&runs, "usage: kernsweep run PLAN\n\nRuns a plan.\n\n"
                       "  --contexts LIST              these contexts\n"
                       "  --db FILE                    the store\n"
                       "  -v,--verbose                 say more\n");
}

TEST(an_unlisted_option_is_taken_but_not_in_the_help)
{
    struct parsed p = {0};
    struct args a = runs;
    char *argv[] = {(char *)"run", (char *)"-v", NULL};
    size_t n;
    struct err err = {0};
    a.common_into = &p;
    a.unlisted = 1 << 1;
    assert_ok(args_parse(&a, 2, argv, NULL, &n, &err), &err);
    assert_true(p.verbose);
    assert_help(&a, "usage: kernsweep run PLAN\n\nRuns a plan.\n\n"
                    "  --contexts LIST              these contexts\n"
                    "  --db FILE                    the store\n");
}

TEST(an_option_that_a_command_lacks_is_refused)
{
    struct args a = runs;
    char *argv[] = {(char *)"run", (char *)"-v", NULL};
    size_t n;
    struct err err = {0};
    a.without = 1 << 1;
    assert_err(args_parse(&a, 2, argv, NULL, &n, &err), &err, ERR_INPUT, "run: unknown option -v");
    assert_help(&a, "usage: kernsweep run PLAN\n\nRuns a plan.\n\n"
                    "  --contexts LIST              these contexts\n"
                    "  --db FILE                    the store\n");
}
