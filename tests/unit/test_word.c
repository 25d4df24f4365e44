/* One copy of each text. */
#include "tests/unit/support.h"

#include "common/base/word.h"

#include <string.h>

TEST(equal_texts_are_one_copy)
{
    char text[32];
    const char *kept[2000];
    for (int i = 0; i < (int)COUNT(kept); i++) {
        snprintf(text, sizeof text, "GPU-%d", i);
        kept[i] = word(text);
        assert_ptr_not_equal(kept[i], text);
    }
    for (int i = 0; i < (int)COUNT(kept); i++)
        assert_ptr_equal(word_printf("GPU-%d", i), kept[i]);
    assert_string_equal(kept[1999], "GPU-1999");
    assert_string_equal(word(NULL), "");
    assert_string_equal(word(""), "");
}

TEST(long_texts_are_cut)
{
    char text[2000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(strlen(word(text)), 511);
    assert_ptr_equal(word(text), word_printf("%s", text));
}
