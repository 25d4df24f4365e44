/* symbol: the name of a function for people, from its name in a symbol table: demangled (Itanium ABI, by
 * libiberty), without parameters and return type. The symbol is untrusted; what comes out is printable.
 */
#pragma once

enum { SYMBOL_TITLE_MAX = 200 };

struct symbol_title {
    char s[SYMBOL_TITLE_MAX];
};

/* Returns the symbol itself where it is not a mangled name. */
struct symbol_title symbol_title(const char *symbol);
