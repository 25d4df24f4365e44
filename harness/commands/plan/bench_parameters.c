#include "harness/commands/plan/bench_parameters.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/text.h"

#include <stdint.h>
#include <string.h>

enum { COMMAND_MAX = 1 << 16 };

static char *replace_all(const char *text, const char *name, const char *by)
{
    AUTO_FREE char *placeholder = xasprintf("{%s}", name);
    struct buf out = {.max = COMMAND_MAX};
    buf_puts(&out, "");
    for (const char *at; (at = strstr(text, placeholder)); text = at + strlen(placeholder)) {
        buf_add(&out, text, (size_t)(at - text));
        buf_puts(&out, by);
    }
    buf_puts(&out, text);
    return buf_steal(&out);
}

char *bench_parameters_apply(const char *text, const json_t *values)
{
    char *out = xstrdup(text);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)values, name, value)
    {
        AUTO_FREE char *before = out;
        out = replace_all(before, name, json_string_value(value));
    }
    return out;
}

/* Adds the command with one value. The values of the parameters before are kept. */
static int add_one(struct bench_commands *to, const char *text, const json_t *before, const char *name,
                   const char *value, struct err *err)
{
    json_t *values = json_copy((json_t *)(uintptr_t)before);
    json_array_append_new(to->values, values);
    if (json_object_set_new(values, name, json_string(value)) != 0)
        return err_set(err, ERR_INPUT, "-L %.80s: expected UTF-8", name);
    strvec_take(&to->text, replace_all(text, name, value));
    return 0;
}

/* Adds each command once for each value, if it mentions the parameter, or else as it is. */
static int expand(const struct bench_commands *from, const char *name, const char *values, size_t most,
                  struct bench_commands *to, struct err *err)
{
    AUTO_FREE char *placeholder = xasprintf("{%s}", name);
    int rc = 0, mentioned = 0;
    for (size_t i = 0; rc == 0 && i < from->text.n; i++) {
        const json_t *before = json_array_get(from->values, i);
        AUTO_FREE char *list = xstrdup(values);
        char *rest = list;
        if (!strstr(from->text.v[i], placeholder)) {
            strvec_push(&to->text, from->text.v[i]);
            json_array_append(to->values, (json_t *)(uintptr_t)before);
            continue;
        }
        mentioned++;
        for (char *value; rc == 0 && (value = strsep(&rest, ","));)
            rc = to->text.n < most ? add_one(to, from->text.v[i], before, name, value, err)
                                   : err_set(err, ERR_INPUT, "-L: more than %zu commands", most);
    }
    if (rc == 0 && !mentioned)
        return err_set(err, ERR_INPUT, "-L %.80s: no command has {%.80s}", name, name);
    return rc;
}

static int apply(struct bench_commands *c, char *parameter, size_t most, struct err *err)
{
    char *values = strchr(parameter, '=');
    struct bench_commands more = {.values = json_array()};
    if (values)
        *values++ = '\0';
    int rc = values && text_is_name(parameter) && *values
                 ? expand(c, parameter, values, most, &more, err)
                 : err_set(err, ERR_INPUT, "-L: expected NAME=VALUE,VALUE, found \"%.80s\"", parameter);
    bench_commands_release(c);
    *c = more;
    return rc;
}

int bench_commands_make(const char *const *commands, size_t n, const char *list, size_t most,
                        struct bench_commands *out, struct err *err)
{
    AUTO_FREE char *copy = xstrdup(list ? list : "");
    char *rest = copy;
    int rc = 0;
    *out = (struct bench_commands){.values = json_array()};
    for (size_t i = 0; i < n; i++) {
        strvec_push(&out->text, commands[i]);
        json_array_append_new(out->values, json_object());
    }
    for (char *word; rc == 0 && (word = strsep(&rest, " "));)
        rc = *word ? apply(out, word, most, err) : 0;
    return rc;
}

void bench_commands_release(struct bench_commands *c)
{
    strvec_release(&c->text);
    json_decref(c->values);
    *c = (struct bench_commands){.values = NULL};
}
