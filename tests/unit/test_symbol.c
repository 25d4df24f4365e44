/* symbol: names of kernels for people. */
#include "tests/unit/support.h"

#include "common/base/symbol.h"

TEST(names_are_readable)
{
    static const char *const table[][2] = {
        {"_Z6attendPfi", "attend"},
        {"_ZN2v512attend_tilesILi128ELb1EEEvPKfPf", "v5::attend_tiles<128, true>"},
        {"attend", "attend"},
        {"_Z", "_Z"},
        {"_ZN2v5", "_ZN2v5"},
        {"", ""},
        {"bad\033[2J", "bad\\x1b[2J"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_string_equal(symbol_title(table[i][0]).s, table[i][1]);
}

TEST(long_names_are_cut)
{
    char symbol[8192] = "_Z";
    memset(symbol + 2, 'N', sizeof symbol - 3);
    assert_true(strlen(symbol_title(symbol).s) < SYMBOL_TITLE_MAX);
    symbol[600] = '\0';
    assert_true(strlen(symbol_title(symbol).s) < SYMBOL_TITLE_MAX);
}
