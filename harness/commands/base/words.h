/* words: splits a command into words as a shell does, supporting only quotes and backslashes. */
#pragma once

#include "common/base/err.h"
#include "common/base/strvec.h"

#include <stdbool.h>

/* Whether the text has unquoted characters for a shell: pipes, variables, patterns, redirections. */
bool words_need_shell(const char *text);
/* Appends the words. ERR_INPUT for an unclosed quote, and if there is no word at all. */
int words_split(const char *text, struct strvec *out, struct err *err);
/* Appends word, escaped so that a plan takes it literally. With placeholders, a word that has only known ones
 * stays as it is. */
void words_push_literal(struct strvec *out, const char *word, bool placeholders);
