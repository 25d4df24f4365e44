/* unit: linked into every unit program: the tests that its source defines (TEST in support.h), the main()
 * that runs them, and the TITLE of `tests/run --only TITLE`, which goes to cmocka's filter.
 */
#include "tests/unit/support.h"

#include <errno.h>

enum { TESTS_MAX = 256 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t count;

/* Weak, because a program may define them (GROUP). */
__attribute__((weak)) CMFixtureFunction unit_set_up, unit_tear_down;

void unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down)
{
    if (count == TESTS_MAX)
        abort();
    tests[count++] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
}

__attribute__((constructor)) static void run_only_those_asked_for(void)
{
    static char pattern[256]; /* cmocka keeps the pointer */
    const char *title = getenv("TESTS_ONLY");
    if (!title || !*title)
        return;
    snprintf(pattern, sizeof pattern, "*%s*", title);
    cmocka_set_test_filter(pattern);
}

/* Weak, because a program whose tests are rows of a table has a main() of its own. */
__attribute__((weak)) int main(void)
{
    return _cmocka_run_group_tests(program_invocation_short_name, tests, count, unit_set_up, unit_tear_down);
}
