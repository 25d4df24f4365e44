/* kernsweep gguf show|set FILE [KEY VALUE]: shows or changes a model's metadata. */
#include "common/gguf/gguf.h"
#include "common/base/text.h"
#include "harness/commands/base/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_entry(const struct gguf_entry *e)
{
    AUTO(buf_release) struct buf clean = {.max = 8192};
    text_printable(&clean, e->key, strlen(e->key), GGUF_KEY_MAX);
    if (e->type == GGUF_ARRAY)
        buf_printf(&clean, "  %s[%" PRIu64 "]", gguf_type_name(e->element), e->count);
    else {
        buf_printf(&clean, "  %s  ", gguf_type_name(e->type));
        text_printable(&clean, e->text, strlen(e->text), 200);
    }
    puts(buf_str(&clean));
}

static json_t *encode_entry(const struct gguf_entry *e)
{
    AUTO(buf_release) struct buf clean = {.max = 8192};
    text_printable(&clean, e->text, strlen(e->text), GGUF_TEXT_MAX);
    json_t *obj = e->type == GGUF_ARRAY
                      ? json_pack("{s:s, s:s, s:I}", "type", "array", "element", gguf_type_name(e->element),
                                  "count", (json_int_t)e->count)
                      : json_pack("{s:s, s:s}", "type", gguf_type_name(e->type), "value", buf_str(&clean));
    return obj;
}

/* arg: a json_t object to fill, or NULL to print. */
static int on_entry(const struct gguf_entry *e, void *arg, struct err *err)
{
    (void)err;
    if (!arg)
        print_entry(e);
    else if (text_is_utf8(e->key, strlen(e->key)))
        json_object_set_new(arg, e->key, encode_entry(e));
    return 0;
}

static int show_metadata(struct cmd_env *env, struct gguf *g, const char *key, struct err *err)
{
    struct gguf_entry e;
    if (key) {
        if (gguf_find(g, key, &e, err) != 0)
            return -1;
        if (env->json)
            return cmd_print_json(encode_entry(&e));
        print_entry(&e);
        return EXIT_DONE;
    }
    json_auto_t *all = env->json ? json_object() : NULL;
    if (!env->json)
        printf("GGUF v%" PRIu32 ", %" PRIu64 " tensors, %" PRIu64 " metadata entries\n", g->version,
               g->n_tensors, g->n_entries);
    if (gguf_each(g, on_entry, all, err) != 0)
        return -1;
    return all ? cmd_print_json(json_incref(all)) : EXIT_DONE;
}

/* Copies path to path.bak, which must not exist. copy: char[FS_PATH_MAX], receives that name. */
static int back_up(const char *path, char *copy, struct err *err)
{
    int n = snprintf(copy, FS_PATH_MAX, "%s.bak", path);
    int in = open(path, O_RDONLY | O_CLOEXEC);
    int out = n > 0 && n < FS_PATH_MAX ? open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    ssize_t done = -1;
    if (in >= 0 && out >= 0)
        while ((done = copy_file_range(in, NULL, out, NULL, (size_t)1 << 30, 0)) > 0)
            continue;
    int failed = done != 0 || fsync(out) != 0 ? errno : 0;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (failed && out >= 0)
        unlink(copy);
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot copy it to %s", path, copy) : 0;
}

static int pass_tensor(const struct gguf_tensor *t, void *arg, struct err *err)
{
    (void)t;
    (void)arg;
    (void)err;
    return 0;
}

/* Reads the whole file first, since a file that is truncated or malformed anywhere must not be modified. */
static int read_whole(struct gguf *g, struct err *err)
{
    return gguf_each_tensor(g, pass_tensor, NULL, err);
}

static int set_value(struct gguf *g, const char *key, const char *value, bool backup, struct err *err)
{
    struct gguf_entry e, now;
    char copy[FS_PATH_MAX];
    if (gguf_find(g, key, &e, err) != 0 || read_whole(g, err) != 0 ||
        (backup && back_up(g->path, copy, err) != 0))
        return -1;
    if (gguf_set(g, &e, value, err) != 0) {
        if (backup && err->kind == ERR_INPUT) /* refused before anything was written */
            unlink(copy);
        return -1;
    }
    if (gguf_find(g, key, &now, err) != 0)
        return -1;
    fprintf(stderr, "%s: %s %s -> %s\n", g->path, key, e.text, now.text);
    return EXIT_DONE;
}

struct gguf_args {
    bool backup;
};

static int run_gguf(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct gguf_args *a = args;
    const char **word = words->v;
    size_t n = words->n;
    bool setting = strcmp(word[0], "set") == 0;
    if (setting && env->json)
        return err_set(err, ERR_INPUT, "gguf set: --json is not supported: it prints no results");
    if ((!setting && strcmp(word[0], "show") != 0) || (setting && n != 4) || (!setting && n > 3))
        return err_set(err, ERR_INPUT,
                       "gguf: usage: kernsweep gguf show FILE [KEY] | set FILE KEY VALUE [--backup]");
    struct gguf g;
    if (gguf_open(&g, word[1], setting, err) != 0)
        return -1;
    int rc = setting ? set_value(&g, word[2], word[3], a->backup, err)
                     : show_metadata(env, &g, n == 3 ? word[2] : NULL, err);
    gguf_close(&g);
    return rc;
}

#define AT(member) ARG_AT(struct gguf_args, member)

static const struct arg options[] = {
    {"--backup", NULL, AT(backup), "set: copy FILE to FILE.bak first"},
};

const struct cmd cmd_gguf = {
    .name = "gguf",
    .summary = "show a model's metadata, or change a number in it",
    .usage = "show FILE [KEY] | set FILE KEY VALUE [--backup]",
    .about = "Shows a model's metadata, or changes a number or boolean in place.",
    .options = ARG_TABLE(struct gguf_args, options),
    .min_words = 2,
    .max_words = 4,
    .unlisted = CMD_STORE_OPTIONS | CMD_NODE_OPTIONS,
    .run = run_gguf,
};
