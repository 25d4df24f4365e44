#include "reports/tables/held.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <string.h>

static size_t count_tests(const struct run_data *run, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i < run->n_tests; i++)
        count += strcmp(run->tests[i].contained, word) == 0;
    return count;
}

void held_words(const struct run_data *run, struct buf *out)
{
    static const char *const words[] = {"cgroup", "scope", "group", "container"};
    const char *separator = "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t count = count_tests(run, words[i]);
        if (count == 0)
            continue;
        buf_printf(out, "%s%s (%zu)", separator, words[i], count);
        separator = ", ";
    }
}

void terminal_held(const struct run_data *run, struct buf *out)
{
    AUTO(buf_release) struct buf words = {.max = 256};
    char image[RUN_IMAGE_MAX];
    held_words(run, &words);
    if (words.len)
        buf_printf(out, "tests held by %s\n", buf_str(&words));
    for (size_t i = 0; i < run->n_variants; i++) {
        const struct run_variant *v = &run->variants[i];
        text_printable_fixed(image, sizeof image, v->image, strlen(v->image));
        if (*v->image)
            buf_printf(out, "image of %s: %s %s\n", v->name, image, v->image_digest);
    }
}
