#include "executor/node/toolchain.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/environment.h"
#include "common/base/text.h"
#include "executor/node/version_cache.h"
#include "executor/process/child.h"
#include "executor/process/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_OUTPUT_MAX = 8192, VERSION_MAX = 200 };

static const char cache_file[] = "toolchain.json";
static const char *const compilers[] = {"cc", "c++", "clang", "hipcc", "nvcc", "make", NULL};

static void keep_output(void *arg, const char *data, size_t len)
{
    struct buf *out = arg;
    size_t room = VERSION_OUTPUT_MAX - out->len;
    buf_add(out, data, len < room ? len : room);
}

static bool has_version(const char *line, size_t len)
{
    for (size_t i = 1; i + 1 < len; i++) {
        if (line[i] == '.' && isdigit((unsigned char)line[i - 1]) && isdigit((unsigned char)line[i + 1]))
            return true;
    }
    return false;
}

/* The first line with a number like 1.2: nvcc's first lines name only the vendor. */
static json_t *version_line(const char *text)
{
    AUTO(buf_release) struct buf line = {.max = VERSION_MAX * 8};
    size_t len;
    for (; *text; text += len + (text[len] != '\0')) {
        len = strcspn(text, "\n");
        if (!has_version(text, len))
            continue;
        text_printable(&line, text, len, VERSION_MAX);
        return json_string(buf_str(&line));
    }
    return NULL;
}

static int probe_version(struct loop *loop, const char *name, char *const *env, json_t *list, struct err *err)
{
    char command[32], option[] = "--version";
    char *argv[] = {command, option, NULL};
    AUTO(buf_release) struct buf text = {.max = VERSION_OUTPUT_MAX};
    snprintf(command, sizeof command, "%s", name);
    struct process_spec spec = {.argv = argv, .env = env, .cwd = "/", .input = -1};
    struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 1};
    struct child_hooks hooks = {.output = keep_output, .arg = &text};
    struct child_result result;
    struct ending ending;
    int rc = child_run(loop, &spec, &limits, &hooks, &result, err);
    child_ending(&result, &limits, name, &ending);
    if (rc == 0 && assess_ending(&ending).status == STATUS_OK) {
        json_t *version = version_line(buf_str(&text));
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", name, "version", version ? version : json_null()));
    }
    return rc;
}

static json_t *probe_all(struct loop *loop, char *const *env, struct err *err)
{
    json_auto_t *list = json_array();
    for (size_t i = 0; compilers[i]; i++)
        if (probe_version(loop, compilers[i], env, list, err) != 0)
            return NULL;
    return json_incref(list);
}

json_t *toolchain_probe(const struct layout *l, struct loop *loop, struct err *err)
{
    const struct job none = {.root = NULL};
    const struct subst no_values = {.context = 0};
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    if (command_environment(&none, NULL, &no_values, &env, err) != 0)
        return NULL;
    json_auto_t *identity = version_identity(environment_get(&env, "PATH"), compilers);
    json_t *list = version_cache_load(l, cache_file, identity);
    if (!list && (list = probe_all(loop, env.v, err)))
        version_cache_save(l, cache_file, identity, list);
    return list;
}
