/* word: one copy of each text that many rows repeat, as the ids of GPUs and the reasons of failures are: rows
 * then hold a pointer. The copies live as long as the process, since runs are merged and outlive each other,
 * and may be asked for by several threads.
 */
#pragma once

/* What is longer than 511 bytes is cut; NULL is "". */
const char *word(const char *text);
const char *word_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
