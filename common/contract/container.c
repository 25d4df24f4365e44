#include "common/contract/container.h"

#include <string.h>

const char *const container_engine_names[] = {"auto", "docker", "podman", "apptainer", NULL};

/* An engine could take an image that begins with '-' for an option. */
static bool is_image(const char *text)
{
    return text[0] != '-' && strpbrk(text, " \t\r\n") == NULL;
}

const struct key container_keys[] = {
    {KEY_AT(struct container, engine), .kind = KEY_CHOICE, .in = IN_BOTH, .words = container_engine_names},
    {KEY_AT(struct container, image), .kind = KEY_TEXT, .in = IN_BOTH, .required = true, .least = 1,
     .most = CONTAINER_WORD_MAX, .accepts = is_image,
     .expected = "the name of an image, without blanks and not beginning with '-'"},
    {.name = "options", .kind = KEY_PART, .in = IN_BOTH},
    {.name = NULL},
};

static int read_options(struct container *c, const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!at->value)
        return 0;
    if (!json_is_array(at->value) || n > CONTAINER_OPTIONS_MAX)
        return json_fail(at, err, "expected an array of at most %d words", CONTAINER_OPTIONS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct json_at word = json_element(at, i);
        if (!json_is_string(word.value) || json_string_length(word.value) < 1 ||
            json_string_length(word.value) > CONTAINER_WORD_MAX)
            return json_fail(&word, err, "expected a word of 1 to %d bytes", CONTAINER_WORD_MAX);
    }
    c->options = at->value;
    return 0;
}

int container_read(struct container *c, const struct json_at *at, enum document in, struct err *err)
{
    const struct key_table table = {container_keys, c};
    *c = (struct container){.on = false};
    if (!at->value || json_is_null(at->value))
        return 0;
    struct json_at options = json_member(at, "options");
    if (keys_read(at, in, &table, 1, err) != 0 || read_options(c, &options, err) != 0)
        return -1;
    c->on = true;
    return 0;
}
