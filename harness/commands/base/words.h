/* words: a command in one text, split into words as a shell does: quotes and backslashes, nothing else. */
#pragma once

#include "common/base/err.h"
#include "common/base/strvec.h"

#include <stdbool.h>

/* Whether text has unquoted characters that only a shell understands: pipes, variables, patterns,
 * redirections. */
bool words_need_shell(const char *text);
/* Appends the words. ERR_INPUT for a quote that does not end, and for no word at all. */
int words_split(const char *text, struct strvec *out, struct err *err);
/* Appends word, so that a plan takes it literally; what has known placeholders alone stays as it is. */
void words_push_literal(struct strvec *out, const char *word, bool placeholders);
