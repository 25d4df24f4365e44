/* How large a regular expression becomes inside regcomp(), before it is given to it.
 *
 * glibc's regcomp() copies what a repetition repeats: {n,m} m times, + twice, and so for each of them that is
 * nested or stands behind another. "a++++", thirty times +, is a thousand million nodes, and no limit of its
 * length prevents that.
 */
#ifndef COMMON_PATTERN_H
#define COMMON_PATTERN_H

#include <stdbool.h>

enum {
    PATTERN_NODES_MAX = 2048, /* regcomp() takes time and memory with the square of them */
    PATTERN_DEPTH_MAX = 32,   /* groups in groups */
};

/* Whether the POSIX extended regular expression comes out at more than PATTERN_NODES_MAX nodes, or is nested
 * deeper than PATTERN_DEPTH_MAX. Says nothing about its being a valid one. */
bool pattern_is_too_large(const char *pattern);

/* Bytes of the bracket expression that starts at s, which is '['. */
unsigned long pattern_bracket_length(const char *s);

#endif
