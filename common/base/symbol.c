#include "common/base/symbol.h"

#include "common/base/text.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOL_MAX = 4096 };

struct symbol_title symbol_title(const char *symbol)
{
    struct symbol_title out;
    /* libiberty limits its recursion, but not its time. */
    char *readable = strlen(symbol) <= SYMBOL_MAX ? cplus_demangle_v3(symbol, DMGL_ANSI) : NULL;
    const char *name = readable ? readable : symbol;
    text_printable_fixed(out.s, sizeof out.s, name, strlen(name));
    free(readable);
    return out;
}
