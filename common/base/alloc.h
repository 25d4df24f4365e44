/* alloc: memory that is always there, growing arrays, and variables that release what they own.
 *
 * Running out of memory ends the program: one line on stderr, after alloc_last_words(), and the exit code for
 * local errors. So nothing here returns NULL, and no caller checks. jansson uses the same (json.c). Limits on
 * what input may make us allocate are their readers' business.
 *
 * A variable declared with AUTO(release) is passed by address to `release` at the end of its block. It must
 * be initialised where it is declared.
 */
#pragma once

#include <stddef.h>

/* As malloc() and its like; the caller frees. xmalloc(0) is a valid pointer. */
void *xmalloc(size_t size) __attribute__((returns_nonnull, malloc));
void *xcalloc(size_t n, size_t size) __attribute__((returns_nonnull, malloc));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((returns_nonnull, malloc, nonnull));
char *xstrndup(const char *s, size_t max) __attribute__((returns_nonnull, malloc, nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((returns_nonnull, malloc, format(printf, 1, 2)));
void *xmemdup(const void *p, size_t size) __attribute__((returns_nonnull, malloc));

/* Makes room for `wanted` elements and updates the pointer and its capacity (a size_t). Capacity grows by
 * half, so that n appends cost O(n). */
#define ALLOC_GROW(items, wanted, cap) alloc_grow((void **)&(items), sizeof *(items), (wanted), &(cap))
void alloc_grow(void **items, size_t size, size_t wanted, size_t *cap);

/* Sets what the program does before it ends for want of memory; `say` must not allocate. NULL: nothing. It
 * holds for the whole process. */
void alloc_last_words(void (*say)(void *context), void *context);

#define AUTO(release) __attribute__((cleanup(release)))
#define AUTO_FREE AUTO(alloc_auto_free)
#define AUTO_CLOSE AUTO(alloc_auto_close)   /* int fd, -1: none */
#define AUTO_FCLOSE AUTO(alloc_auto_fclose) /* FILE *f, NULL: none; for reading, as errors are not seen */

void alloc_auto_free(void *pointer); /* a char **, or any other pointer's address */
void alloc_auto_close(const int *fd);
void alloc_auto_fclose(void *file);
