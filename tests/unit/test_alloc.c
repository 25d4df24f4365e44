/* alloc: arrays grow when necessary, keep their contents, and end the program when there is no memory. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

TEST(an_array_keeps_its_elements)
{
    int *items = NULL;
    size_t cap = 0, moves = 0;
    for (int i = 0; i < 100000; i++) {
        size_t before = cap;
        ALLOC_GROW(items, (size_t)i + 1, cap);
        assert_true(cap > (size_t)i);
        moves += cap != before;
        items[i] = i;
    }
    for (int i = 0; i < 100000; i++)
        assert_int_equal(items[i], i);
    assert_true(moves < 40);
    free(items);
}

TEST(a_large_step_is_taken_at_once)
{
    char *bytes = NULL;
    size_t cap = 0;
    ALLOC_GROW(bytes, 1 << 20, cap);
    assert_true(cap >= 1 << 20);
    free(bytes);
}

/* In a process of its own, as it ends the program: what it says first, and its exit code. */
static int end_of(void (*ask)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        ask();
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ask_for_too_much(void)
{
    volatile size_t size = SIZE_MAX / 4;
    free(xmalloc(size));
}

static void grow_too_far(void)
{
    char *bytes = NULL;
    size_t cap = 0;
    ALLOC_GROW(bytes, SIZE_MAX - 1, cap);
}

static void say(void *context)
{
    (void)context;
    _exit(42);
}

static void ask_with_last_words(void)
{
    alloc_last_words(say, NULL);
    ask_for_too_much();
}

TEST(memory_that_cannot_be_had_ends_the_program)
{
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* the sanitizer's allocator ends the program by itself */
#endif
    assert_int_equal(end_of(ask_for_too_much), 5);
    assert_int_equal(end_of(grow_too_far), 5);
    assert_int_equal(end_of(ask_with_last_words), 42);
}
