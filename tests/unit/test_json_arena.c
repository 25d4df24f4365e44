/* json_arena: the same JSON as from the heap, freed as a whole; JSON on the heap is not affected. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/json_arena.h"

#include <pthread.h>

static const char small[] = "{\"a\": [1, 2.5, \"three\", null, true], \"b\": {\"c\": \"d\"}}";

static const json_t *parse(struct json_arena *a, const char *text)
{
    struct err err = {0};
    const json_t *value = json_parse_in(a, text, strlen(text), "f.json", &err);
    if (!value)
        fail_msg("%s", err.msg);
    return value;
}

TEST(the_arena_decodes_what_the_heap_decodes)
{
    struct json_arena a = {0};
    struct err err = {0};
    json_t *heap = json_parse(small, strlen(small), "f.json", &err);
    const json_t *first = parse(&a, small), *second = parse(&a, small);
    assert_true(json_equal(heap, first));
    assert_true(json_equal(first, second));
    assert_true(first != second);
    json_decref(heap);
    json_arena_release(&a);
    json_arena_release(&a); /* an empty one */
}

TEST(the_arena_refuses_what_the_heap_refuses)
{
    struct json_arena a = {0};
    static const char *const bad[] = {"", "{\"a\": [1, 2", "{\"a\": 1, \"a\": 2}", "[\"\xff\"]", "{} {}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err err = {0}, same = {0};
        assert_null(json_parse_in(&a, bad[i], strlen(bad[i]), "f.json", &err));
        assert_null(json_parse(bad[i], strlen(bad[i]), "f.json", &same));
        assert_string_equal(err.msg, same.msg);
    }
    assert_true(json_is_object(parse(&a, small)));
    json_arena_release(&a);
}

/* An array larger than a chunk, then one that would reuse its memory. */
TEST(takes_large_texts_and_is_used_again)
{
    struct json_arena a = {0};
    AUTO(buf_release) struct buf text = {.max = 1 << 22};
    buf_puts(&text, "[0");
    for (int i = 1; i < 50000; i++)
        buf_printf(&text, ",%d", i);
    buf_putc(&text, ']');
    for (int round = 0; round < 3; round++) {
        const json_t *large = parse(&a, buf_str(&text));
        assert_int_equal(json_array_size(large), 50000);
        assert_int_equal(json_integer_value(json_array_get(large, 49999)), 49999);
        json_arena_reset(&a);
        assert_int_equal(json_array_size(json_object_get(parse(&a, small), "a")), 5);
        json_arena_reset(&a);
    }
    json_arena_release(&a);
}

TEST(the_heap_is_as_always)
{
    struct json_arena a = {0};
    json_auto_t *before = json_pack("{s:[i,i]}", "n", 1, 2);
    parse(&a, small);
    json_auto_t *after = json_string("kept");
    char *text = json_dumps(parse(&a, small), JSON_COMPACT);
    json_arena_release(&a);
    assert_int_equal(json_array_size(json_object_get(before, "n")), 2);
    assert_string_equal(json_string_value(after), "kept");
    assert_string_equal(text, "{\"a\":[1,2.5,\"three\",null,true],\"b\":{\"c\":\"d\"}}");
    free(text);
}

static void *parse_often(void *arg)
{
    struct json_arena a = {0};
    size_t *good = arg;
    for (int i = 0; i < 500; i++) {
        struct err err = {0};
        const json_t *value = json_parse_in(&a, small, strlen(small), "f.json", &err);
        json_t *heap = json_parse(small, strlen(small), "f.json", &err);
        *good += json_equal(value, heap) == 1;
        json_decref(heap);
        json_arena_reset(&a);
    }
    json_arena_release(&a);
    return NULL;
}

TEST(threads_have_their_own)
{
    pthread_t threads[4];
    size_t good[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, parse_often, &good[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(good[i], 500);
}
