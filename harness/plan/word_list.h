/* word_list: comma-separated lists on the command line ("v3,v4", "4096:2,8192:1"). */
#pragma once

#include "common/contract/proto.h"

#include <stdbool.h>

enum {
    LIST_WORD_MAX = LIMIT_NAME + 2
}; /* one byte longer than a name, so a truncated word is never a valid name */

/* Copies the next word of *list to word[LIST_WORD_MAX]; false at the end. */
bool word_list_next(const char **list, char *word);
