#include "harness/plan/word_list.h"

#include <stdio.h>
#include <string.h>

bool word_list_next(const char **list, char *word)
{
    if (!**list)
        return false;
    size_t n = strcspn(*list, ",");
    snprintf(word, LIST_WORD_MAX, "%.*s", (int)(n < LIST_WORD_MAX ? n : LIST_WORD_MAX), *list);
    *list += n;
    if (**list == ',')
        (*list)++;
    return true;
}
