/* only: linked into every unit program; passes the TITLE of `tests/run --only TITLE` to cmocka's filter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void run_only_those_asked_for(void)
{
    static char pattern[256]; /* cmocka keeps the pointer */
    const char *title = getenv("TESTS_ONLY");
    if (!title || !*title)
        return;
    snprintf(pattern, sizeof pattern, "*%s*", title);
    cmocka_set_test_filter(pattern);
}
