#include "harness/commands/plan/init_command.h"

#include "common/base/alloc.h"
#include "common/contract/subst.h"
#include "harness/commands/base/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the word is a file or folder below the current folder. A program may still have to be built. */
static bool is_own_file(const struct init_command *c, size_t i)
{
    const char *word = c->words.v[i];
    if (*word == '/' || *word == '-' || !*word)
        return false;
    bool path = i == 0 ? strchr(word, '/') != NULL : true;
    return path && (fs_exists(word) || (i == 0 && c->build));
}

static const char *plain(const char *word)
{
    return strncmp(word, "./", 2) == 0 ? word + 2 : word;
}

/* Appends the path at which a run finds the file: in the build, among the sources, or here. */
static int push_file(const struct init_command *c, const char *word, struct strvec *out, struct err *err)
{
    if (c->build)
        strvec_pushf(out, "{build}/%s", plain(word));
    else if (!c->local)
        strvec_pushf(out, "{src}/%s", plain(word));
    else {
        AUTO_FREE char *path = realpath(word, NULL);
        if (!path)
            return err_set_errno(err, ERR_INPUT, errno, "%.200s", word);
        words_push_literal(out, path, false);
    }
    return 0;
}

static int push_word(const struct init_command *c, size_t i, struct strvec *out, struct err *err)
{
    const char *word = c->words.v[i];
    if (c->word > 0 && i == c->word)
        strvec_pushf(out, "%.*s{context}", (int)c->before, word);
    else if (is_own_file(c, i))
        return push_file(c, word, out, err);
    else
        words_push_literal(out, word, true);
    return 0;
}

static json_t *array_of(const struct strvec *words)
{
    json_t *list = json_array();
    for (size_t i = 0; i < words->n; i++)
        json_array_append_new(list, json_string(words->v[i]));
    return list;
}

/* The sources are copied to the build's folder, so that everything the command writes stays there. The copies
 * have meaningless times, so make is told to rebuild everything. */
static json_t *encode_build(const char *command)
{
    static const char copy[] = "cp -R \"$1/.\" . && export MAKEFLAGS=B && eval \"$2\"";
    AUTO(strvec_release) struct strvec words = {0};
    strvec_pushl(&words, "sh", "-c", copy, "sh", "{src}", NULL);
    words_push_literal(&words, command, false);
    return json_pack("[o]", array_of(&words));
}

static json_t *own_files(const struct init_command *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->words.n; i++)
        if (is_own_file(c, i) && fs_safe_relpath(plain(c->words.v[i])))
            json_array_append_new(list, json_string(plain(c->words.v[i])));
    return list;
}

int init_command_encode(const struct init_command *c, bool beside, struct draft *d, struct err *err)
{
    AUTO(strvec_release) struct strvec run = {0};
    const char *source = beside ? "." : c->here;
    if (c->shell && c->local && !c->build) { /* a test starts in its own folder */
        strvec_pushl(&run, "env", "-C", NULL);
        words_push_literal(&run, c->here, false);
    }
    for (size_t i = 0; i < c->words.n; i++)
        if (push_word(c, i, &run, err) != 0)
            return -1;
    d->run = array_of(&run);
    d->sized = c->sized || c->word > 0;
    if (c->build) {
        d->source = source;
        d->build = encode_build(c->build);
    } else if (!c->local) {
        json_t *files = own_files(c);
        d->source = json_array_size(files) > 0 ? source : NULL;
        d->include = d->source ? files : NULL;
        if (!d->source)
            json_decref(files);
    }
    return 0;
}

void init_command_here(const struct init_command *c, long long size, struct strvec *argv)
{
    const struct subst values = {.context = size, .repetition = 1};
    for (size_t i = 0; i < c->words.n; i++) {
        AUTO(buf_release) struct buf word = {.max = 1 << 16};
        struct err why = {0};
        bool expanded = subst_expand(c->words.v[i], &values, &word, &why) == 0;
        strvec_push(argv, expanded ? buf_str(&word) : c->words.v[i]);
    }
}
