/* message: every sentence, heading and column title of reports, in every language.
 *
 * A template is trusted Markdown with placeholders {1} {2} ... for data; `{1}` in backticks asks for a code
 * span. The caller that expands a template decides how to escape data (markdown.h), or leaves them unescaped
 * (message_plain). messages.def holds the texts; a unit test keeps the languages complete and their
 * placeholders the same.
 */
#pragma once

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum report_lang { REPORT_EN, REPORT_ES, REPORT_LANG_COUNT };

enum msg {
#define M(id, en, es) MSG_##id,
#include "reports/words/messages.def"
#undef M
    MSG_COUNT
};

const char *message(enum report_lang lang, enum msg id);

/* "en", "es". */
const char *report_lang_name(enum report_lang lang);

/* Splits a template: literal text goes to `literal`; data go to `data`, with `code` set inside backticks. */
struct message_sink {
    void (*literal)(void *ctx, const char *s, size_t len);
    void (*data)(void *ctx, const char *s, bool code);
    void *ctx;
};

/* args[1] onwards are the data, terminated by NULL; args[0] is unused. A placeholder without data prints
 * nothing. */
void message_expand(const char *text, const char *const *args, const struct message_sink *sink);

/* Expands without escaping: for numbers and catalogue words in table cells. */
void message_plain_args(struct buf *out, enum report_lang lang, enum msg id, const char *const *args);
#define message_plain(out, lang, id, ...)                                                                    \
    message_plain_args((out), (lang), (id), (const char *const[]){"", ##__VA_ARGS__, NULL})
