#include "harness/plan/cell_numbers.h"

#include "common/contract/proto.h"

#include <stdio.h>

enum { KEY_MAX = LIMIT_NAME + 32 };

json_t *cell_numbers(void)
{
    return json_object();
}

static void write_key(const char *variant, int64_t context, char key[KEY_MAX])
{
    snprintf(key, KEY_MAX, "%lld %.64s", (long long)context, variant);
}

void cell_number_set(json_t *table, const char *variant, int64_t context, size_t number)
{
    char key[KEY_MAX];
    write_key(variant, context, key);
    json_object_set_new(table, key, json_integer((json_int_t)number));
}

size_t cell_number(const json_t *table, const char *variant, int64_t context)
{
    char key[KEY_MAX];
    write_key(variant, context, key);
    const json_t *number = json_object_get(table, key);
    return number ? (size_t)json_integer_value(number) : SIZE_MAX;
}

size_t cell_number_of_test(const json_t *table, const json_t *test)
{
    const char *variant = json_string_value(json_object_get(test, "variant"));
    return variant ? cell_number(table, variant, json_integer_value(json_object_get(test, "context")))
                   : SIZE_MAX;
}
