/* bench_parameters: commands of which parts are varied. */
#include "harness/commands/plan/bench_parameters.h"
#include "tests/unit/support.h"

static void expect(const char *command, const char *list, const char *const *want)
{
    struct bench_commands c;
    struct err err = {0};
    size_t n = 0;
    assert_ok(bench_commands_make(&command, 1, list, 8, &c, &err), &err);
    for (; want[n]; n++)
        assert_string_equal(n < c.text.n ? c.text.v[n] : "(none)", want[n]);
    assert_int_equal(c.text.n, n);
    assert_int_equal(json_array_size(c.values), n);
    bench_commands_release(&c);
}

TEST(a_command_is_there_once_for_each_value)
{
    expect("a {n}{n} {m}", NULL, (const char *const[]){"a {n}{n} {m}", NULL});
    expect("a {n}{n} {m}", "n=1,22", (const char *const[]){"a 11 {m}", "a 2222 {m}", NULL});
    expect("a {n} {m}", "n=1,2  m=x,", (const char *const[]){"a 1 x", "a 1 ", "a 2 x", "a 2 ", NULL});
}

TEST(other_texts_get_the_values_of_the_command)
{
    const char *command = "a {n}";
    struct bench_commands c;
    struct err err = {0};
    assert_ok(bench_commands_make(&command, 1, "n=1,2", 8, &c, &err), &err);
    char *text = bench_parameters_apply("rm {n} {m}", json_array_get(c.values, 1));
    assert_string_equal(text, "rm 2 {m}");
    free(text);
    bench_commands_release(&c);
}

TEST(what_is_no_parameter_is_refused)
{
    static const char *const lists[] = {"n", "n=", "=1", "m=1", "a b=1", "n=1,2,3,4,5,6,7,8,9", "n=\xff"};
    const char *command = "a {n}";
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct bench_commands c;
        struct err err = {0};
        assert_int_equal(bench_commands_make(&command, 1, lists[i], 8, &c, &err), -1);
        assert_int_equal(err.kind, ERR_INPUT);
        bench_commands_release(&c);
    }
}
