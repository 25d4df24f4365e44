#include "results/ingest/import_map.h"

#include "results/ingest/maps.h"

#include "common/base/json.h"

#include <stdio.h>
#include <string.h>

const char *import_builtin_name(size_t i)
{
    return i < (size_t)maps_count ? maps[i].name : NULL;
}

static json_t *parse_map(const char *text, size_t len, const char *name, struct err *err)
{
    static const char *const keys[] = {"schema", "about", "input", "rows",   "run",     "test",
                                       "repeat", "skip",  "facts", "extras", "metrics", NULL};
    static const char *const run_keys[] = {"ticket", "tag", "node", "date", "started_at", "mode", NULL};
    json_t *root = json_parse(text, len, name, err);
    if (!root)
        return NULL;
    struct json_at at = json_root(root, name), run = json_member(&at, "run"), test = json_member(&at, "test");
    const char *schema, *input, *rows;
    int rc = json_keys(&at, keys, err) || json_get_str(&at, "schema", &schema, err) ||
                     json_get_str(&at, "input", &input, err) || json_get_str(&at, "rows", &rows, err) ||
                     (run.value && json_keys(&run, run_keys, err))
                 ? -1
                 : 0;
    if (rc == 0 && strcmp(schema, "kernsweep.map/1") != 0)
        rc = json_fail(&at, err, "schema is \"%.60s\", expected \"kernsweep.map/1\"", schema);
    if (rc == 0 && strcmp(input, "json") != 0 && strcmp(input, "csv") != 0)
        rc = json_fail(&at, err, "input is \"%.60s\", expected \"json\" or \"csv\"", input);
    if (rc == 0 && (!json_is_object(test.value) || !json_object_get(test.value, "variant")))
        rc = json_fail(&test, err, "expected an object with at least \"variant\"");
    if (rc == 0)
        return root;
    json_decref(root);
    return NULL;
}

void import_builtin_about(size_t i, char *out, size_t size)
{
    json_t *root = i < (size_t)maps_count ? json_loads(maps[i].text, 0, NULL) : NULL;
    const char *about = json_string_value(json_object_get(root, "about"));
    snprintf(out, size, "%s", about ? about : "");
    json_decref(root);
}

int import_map_load(struct import_map *m, const char *word, struct err *err)
{
    *m = (struct import_map){0};
    snprintf(m->name, sizeof m->name, "%s", word);
    for (int i = 0; i < maps_count; i++)
        if (strcmp(maps[i].name, word) == 0) {
            m->root = parse_map(maps[i].text, strlen(maps[i].text), word, err);
            return m->root ? 0 : -1;
        }
    if (!fs_exists(word))
        return err_set(err, ERR_INPUT,
                       "%s: neither a mapping file nor a built-in mapping (--list shows them)", word);
    struct buf text;
    buf_init(&text, 1 << 20);
    if (fs_read_file(word, text.max, &text, err) == 0)
        m->root = parse_map(buf_str(&text), text.len, word, err);
    buf_release(&text);
    return m->root ? 0 : -1;
}

void import_map_release(struct import_map *m)
{
    json_decref(m->root);
    m->root = NULL;
}
