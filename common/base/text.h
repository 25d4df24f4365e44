/* text: small questions about strings: quoting for a POSIX shell, making foreign text safe for a terminal,
 * names, UTF-8. Allocates nothing but what a struct buf needs.
 */
#ifndef KERNSWEEP_COMMON_BASE_TEXT_H
#define KERNSWEEP_COMMON_BASE_TEXT_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends s as one word of a POSIX shell. The only place where shell text is made from data. */
void text_shell_quote(struct buf *out, const char *s);
/* Appends the words of argv (NULL-terminated), quoted and separated by spaces. */
void text_shell_join(struct buf *out, const char *const *argv);

/* Appends at most max bytes of s with control characters, escape sequences, bidirectional marks and invalid
 * UTF-8 written as \xNN or \u{NNNN}; newlines too. What a terminal may be shown of foreign text. */
void text_printable(struct buf *out, const char *s, size_t len, size_t max);
/* The same into out: char[cap], cut before the first character that does not fit whole. */
void text_printable_fixed(char *out, size_t cap, const char *s, size_t len);

enum { TEXT_NAME_MAX = 64 };
/* Whether s is a name: [A-Za-z0-9_], then [A-Za-z0-9._-], at most TEXT_NAME_MAX bytes. Such a name needs no
 * quoting in paths, shells and tables. */
bool text_is_name(const char *s);
bool text_is_utf8(const char *s, size_t len);

#endif
