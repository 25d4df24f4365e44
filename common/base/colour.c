#include "common/base/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

int colour_choose(const char *when, struct err *err)
{
    bool always = strcmp(when, "always") == 0, never = strcmp(when, "never") == 0;
    if (!always && !never && strcmp(when, "auto") != 0)
        return err_set(err, ERR_INPUT, "--color: expected auto, always or never, found \"%.40s\"", when);
    if (always) {
        unsetenv("NO_COLOR");
        setenv("CLICOLOR_FORCE", "1", 1);
    }
    if (never)
        setenv("NO_COLOR", "1", 1);
    return 0;
}

bool colour_wanted(FILE *out)
{
    const char *term = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
    if (is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}
