/* text: quoting for a POSIX shell, making untrusted text safe for a terminal and fit for its width, checks
 * for names and UTF-8. */
#pragma once

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Appends s as one word of a POSIX shell. All shell text with variable parts must go through here. */
void text_shell_quote(struct buf *out, const char *s);
/* The same for people to read: quoted only where it must be. */
void text_shell_word(struct buf *out, const char *s);
/* Appends the words of argv, quoted and separated by spaces. */
void text_shell_join(struct buf *out, const char *const *argv);

/* Appends at most max bytes of s, with control characters (newlines included), bidirectional marks and
 * invalid UTF-8 escaped as \xNN or \u{NNNN}. Untrusted text must pass through here before a terminal shows
 * it. */
void text_printable(struct buf *out, const char *s, size_t len, size_t max);
/* Does the same into out: char[cap], truncated at a character boundary. */
void text_printable_fixed(char *out, size_t cap, const char *s, size_t len);

/* Shows two values for people to compare, each in char[cap], cap >= 32. If one does not fit, "…" stands for
 * the beginning that both share, and for what is cut at the end. */
void text_differing(const char *a, const char *b, size_t cap, char *out_a, char *out_b);

enum { TEXT_NAME_MAX = 64 };
/* A name is [A-Za-z0-9_] followed by [A-Za-z0-9._-], at most TEXT_NAME_MAX bytes in all, and needs no quoting
 * in paths, shells and tables. */
bool text_is_name(const char *s);
bool text_is_utf8(const char *s, size_t len);

bool text_ends_with(const char *s, const char *end);

/* Returns what a word of which there are n ends with: "" or "s". */
const char *text_plural(long long n);

/* Returns the word of known[0..n) that word is probably a misspelling of, or NULL. Case counts. */
const char *text_nearest(const char *word, const char *const *known, size_t n);

/* Returns the columns of the terminal that out is, 0 where it is none. */
size_t text_columns(FILE *out);
/* Counts code points, which is the width on a terminal for the scripts that we print. Colours have none. */
size_t text_shown_width(const char *text, size_t len);
/* Returns the bytes of text that fit into the columns without splitting a character. */
size_t text_fitting(const char *text, size_t columns);
/* Returns the length of the words that fit into the width, at least one. */
size_t text_words_that_fit(const char *text, size_t len, size_t width);
/* Writes one line of text as several, each after an indentation. */
void text_wrap_line(const char *text, size_t len, size_t first, size_t indent, size_t columns,
                    struct buf *out);
/* Breaks lines that are wider than that many columns (0: none) between words; what a line goes on with is
 * indented. */
void text_wrap(const char *text, size_t columns, struct buf *out);
