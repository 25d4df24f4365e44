/* Finds where a value is in a YAML text by reading it again, which is fast enough as only errors need it. */
#include "harness/plan/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct walk {
    yaml_parser_t parser;
    yaml_event_t event;
};

static bool next(struct walk *w)
{
    yaml_event_delete(&w->event);
    return yaml_parser_parse(&w->parser, &w->event) && w->event.type != YAML_NO_EVENT;
}

static struct json_mark mark_of(const struct walk *w)
{
    return (struct json_mark){(unsigned)w->event.start_mark.line + 1,
                              (unsigned)w->event.start_mark.column + 1};
}

static bool opens(const struct walk *w)
{
    return w->event.type == YAML_MAPPING_START_EVENT || w->event.type == YAML_SEQUENCE_START_EVENT;
}

static bool closes(const struct walk *w)
{
    return w->event.type == YAML_MAPPING_END_EVENT || w->event.type == YAML_SEQUENCE_END_EVENT;
}

/* Moves from the first event of a value to its last. */
static bool skip(struct walk *w)
{
    for (size_t depth = 0;;) {
        depth += opens(w);
        depth -= depth > 0 && closes(w);
        if (depth == 0)
            return true;
        if (!next(w))
            return false;
    }
}

static size_t key_length(const char *path, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    size_t n = e->data.scalar.length;
    bool same = *path == '.' && strncmp(path + 1, text, n) == 0 &&
                (path[n + 1] == '\0' || path[n + 1] == '.' || path[n + 1] == '[');
    return same ? n + 1 : 0;
}

/* Inside a mapping, moves to the value whose key the path names. Returns the bytes of the path used. */
static size_t enter_member(struct walk *w, const char *path, struct json_mark *key)
{
    while (next(w) && w->event.type == YAML_SCALAR_EVENT) {
        size_t used = key_length(path, &w->event);
        *key = mark_of(w);
        if (!next(w))
            return 0;
        if (used)
            return used;
        if (!skip(w))
            return 0;
    }
    return 0;
}

static size_t enter_item(struct walk *w, const char *path, struct json_mark *key)
{
    char *end = NULL;
    unsigned long wanted = *path == '[' ? strtoul(path + 1, &end, 10) : 0;
    if (!end || *end != ']')
        return 0;
    for (unsigned long i = 0; next(w) && !closes(w); i++) {
        *key = mark_of(w);
        if (i == wanted)
            return (size_t)(end + 1 - path);
        if (!skip(w))
            return 0;
    }
    return 0;
}

static struct json_mark walk_path(struct walk *w, const char *path, bool key)
{
    struct json_mark value = mark_of(w), of_key = value;
    while (*path && opens(w)) {
        bool map = w->event.type == YAML_MAPPING_START_EVENT;
        struct json_mark found = of_key;
        size_t used = map ? enter_member(w, path, &found) : enter_item(w, path, &found);
        if (used == 0)
            return value;
        path += used;
        value = mark_of(w);
        of_key = found;
    }
    return key && !*path ? of_key : value;
}

struct json_mark yaml_locate(const char *text, size_t len, const char *path, bool key)
{
    struct walk w = {.event = {.type = YAML_NO_EVENT}};
    struct json_mark mark = {0};
    if (!yaml_parser_initialize(&w.parser))
        return mark;
    yaml_parser_set_encoding(&w.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, len);
    bool found = true;
    for (int i = 0; found && i < 3; i++) /* the start of the stream, of the document and of its value */
        found = next(&w);
    if (found)
        mark = walk_path(&w, *path == '$' ? path + 1 : path, key);
    yaml_event_delete(&w.event);
    yaml_parser_delete(&w.parser);
    return mark;
}
