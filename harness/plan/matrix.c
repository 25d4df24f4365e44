/* The matrix of a plan: contexts with their repetitions and time-outs, and the command line's selections. */
#include "common/base/fs.h"
#include "harness/plan/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t context_max = 1 << 30;
static const double timeout_min_s = 0.01, timeout_max_s = 604800;

/* The entry of a per-context object ("4096": 180, or "default"), or NULL. */
static const json_t *per_context(const json_t *table, int64_t tokens)
{
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)tokens);
    const json_t *v = json_object_get(table, key);
    return v ? v : json_object_get(table, "default");
}

/* An object by context: "default", or tokens as text without leading zeros. */
static int check_context_keys(const struct json_at *table, struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)table->value, key, value)
    {
        struct json_at at = json_member(table, key);
        bool digits = *key >= '1' && *key <= '9' && strspn(key, "0123456789") == strlen(key);
        if (strcmp(key, "default") != 0 && (!digits || strlen(key) > 10))
            return json_fail(&at, err, "expected a context in tokens or \"default\" as the key");
    }
    return 0;
}

/* All entries, also of contexts that only --contexts may ask for. */
static int check_timeouts(const struct json_at *table, struct err *err)
{
    const char *key;
    json_t *value;
    double seconds;
    if (!json_is_object(table->value))
        return json_fail(
            table, err, "expected an object of seconds by context, such as {\"default\": 60, \"4096\": 180}");
    if (check_context_keys(table, err) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)table->value, key, value)
    {
        if (json_get_num(table, key, timeout_min_s, timeout_max_s, &seconds, err) != 0)
            return -1;
    }
    return 0;
}

static int check_count(const struct plan *p, const struct json_at *at, struct err *err)
{
    int64_t n = json_integer_value(at->value);
    if (!json_is_integer(at->value))
        return json_fail(at, err, "expected an integer, or an object of integers by context");
    if (n < 1 || n > LIMIT_REPETITIONS - p->warmup)
        return json_fail(at, err, "expected 1 to %d repetitions, warm-ups included, found %lld",
                         LIMIT_REPETITIONS, (long long)n);
    return 0;
}

static int check_repetitions(const struct plan *p, const struct json_at *at, struct err *err)
{
    const char *key;
    json_t *value;
    if (!at->value)
        return 0;
    if (!json_is_object(at->value))
        return check_count(p, at, err);
    if (check_context_keys(at, err) != 0)
        return -1;
    json_object_foreach((json_t *)(uintptr_t)at->value, key, value)
    {
        struct json_at member = json_member(at, key);
        if (check_count(p, &member, err) != 0)
            return -1;
    }
    return 0;
}

/* What the plan's tables, which are checked, say of c->tokens. */
static int look_up(const struct json_at *root, struct plan_context *c, struct err *err)
{
    const struct json_at timeouts = json_member(root, "timeouts"), reps = json_member(root, "repetitions");
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)c->tokens);
    const json_t *timeout = per_context(timeouts.value, c->tokens);
    if (!timeout) {
        struct json_at at = json_member(&timeouts, key);
        return json_fail(&at, err, "context %s has no time-out: give \"%s\" or \"default\" in seconds", key,
                         key);
    }
    const json_t *count = json_is_object(reps.value) ? per_context(reps.value, c->tokens) : reps.value;
    c->timeout_s = json_number_value(timeout);
    c->repetitions = count ? json_integer_value(count) : 1;
    return 0;
}

static int check_test_count(const struct plan *p, const char *where, struct err *err)
{
    size_t n = plan_test_count(p);
    if (n <= LIMIT_TESTS)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s: expands to %zu tests, the limit is %d: use fewer contexts or repetitions", where, n,
                   LIMIT_TESTS);
}

static int load_context(struct plan *p, const struct json_at *at, struct plan_context *c, struct err *err)
{
    if (!json_is_integer(at->value))
        return json_fail(at, err, "expected a context in tokens, an integer");
    c->tokens = json_integer_value(at->value);
    if (c->tokens < 1 || c->tokens > context_max)
        return json_fail(at, err, "expected 1 to %lld tokens, found %lld", (long long)context_max,
                         (long long)c->tokens);
    for (size_t i = 0; i < p->n_contexts; i++)
        if (p->contexts[i].tokens == c->tokens)
            return json_fail(at, err, "the context %lld is there twice", (long long)c->tokens);
    return 0;
}

int plan_load_contexts(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "contexts"), timeouts = json_member(root, "timeouts"),
                   reps = json_member(root, "repetitions");
    if (!json_is_array(at.value) || json_array_size(at.value) == 0)
        return json_fail(&at, err, "expected a non-empty array of contexts in tokens");
    size_t n = json_array_size(at.value);
    if (n > LIMIT_CONTEXTS)
        return json_fail(&at, err, "expected at most %d contexts, found %zu", LIMIT_CONTEXTS, n);
    if (check_timeouts(&timeouts, err) != 0 || check_repetitions(p, &reps, err) != 0)
        return -1;
    p->contexts = calloc(n, sizeof *p->contexts);
    if (!p->contexts)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(&at, i);
        struct plan_context *c = &p->contexts[i];
        if (load_context(p, &item, c, err) != 0 || look_up(root, c, err) != 0)
            return -1;
        p->n_contexts++;
    }
    return check_test_count(p, "$", err) == 0 ? 0 : err_wrap(err, "%s", p->file);
}

enum { WORD_MAX = LIMIT_NAME + 2 }; /* one more than a name: what is cut is none */

/* The next word of a comma-separated list into word[WORD_MAX]; false at the end. */
static bool next_word(const char **list, char *word)
{
    if (!**list)
        return false;
    size_t n = strcspn(*list, ",");
    snprintf(word, WORD_MAX, "%.*s", (int)(n < WORD_MAX ? n : WORD_MAX), *list);
    *list += n;
    if (**list == ',')
        (*list)++;
    return true;
}

static bool parse_int(const char *s, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (!*s || *end || errno || v < lo || v > hi)
        return false;
    *out = v;
    return true;
}

static bool answers_to(const struct plan_variant *v, const char *word)
{
    return strcmp(v->name, word) == 0 || (v->kernel && strcmp(v->kernel, word) == 0);
}

/* The others keep their order. */
static void move_up(struct plan_variant *v, size_t from, size_t to)
{
    struct plan_variant chosen = v[from];
    memmove(v + to + 1, v + to, (from - to) * sizeof *v);
    v[to] = chosen;
}

int plan_select_variants(struct plan *p, const char *list, struct err *err)
{
    if (!list)
        return 0;
    size_t kept = 0;
    char word[WORD_MAX];
    for (const char *at = list; next_word(&at, word);) {
        size_t before = kept;
        for (size_t i = kept; i < p->n_variants; i++)
            if (answers_to(&p->variants[i], word))
                move_up(p->variants, i, kept++);
        if (kept == before)
            return err_set(err, ERR_INPUT, "--variants: %s has no variant \"%s\" (or it is named twice)",
                           p->file, word);
    }
    if (kept == 0)
        return err_set(err, ERR_INPUT, "--variants: expected names separated by commas");
    p->n_variants = kept;
    return 0;
}

int plan_select_contexts(struct plan *p, const char *list, struct err *err)
{
    if (!list)
        return 0;
    struct json_at root = json_root(p->root, p->file);
    struct plan_context *chosen = calloc(LIMIT_CONTEXTS, sizeof *chosen);
    if (!chosen)
        return err_set(err, ERR_INTERNAL, "--contexts: no memory");
    size_t n = 0;
    char word[WORD_MAX];
    int rc = 0;
    for (const char *at = list; rc == 0 && next_word(&at, word);) {
        struct plan_context c = {0};
        if (n == LIMIT_CONTEXTS || !parse_int(word, 1, context_max, &c.tokens))
            rc = err_set(err, ERR_INPUT, "--contexts: expected tokens separated by commas, found \"%s\"",
                         word);
        for (size_t i = 0; rc == 0 && i < n; i++)
            if (chosen[i].tokens == c.tokens)
                rc = err_set(err, ERR_INPUT, "--contexts: %s is there twice", word);
        if (rc == 0 && look_up(&root, &c, err) != 0)
            rc = err_wrap(err, "--contexts");
        if (rc == 0)
            chosen[n++] = c;
    }
    if (rc == 0 && n == 0)
        rc = err_set(err, ERR_INPUT, "--contexts: expected tokens separated by commas");
    if (rc != 0) {
        free(chosen);
        return -1;
    }
    free(p->contexts);
    p->contexts = chosen;
    p->n_contexts = n;
    return check_test_count(p, "--contexts", err);
}

int plan_set_repeat(struct plan *p, const char *list, struct err *err)
{
    static const char expected[] =
        "--repeat: expected CONTEXT:COUNT separated by commas, such as 4096:2,8192:1";
    if (!list)
        return 0;
    if (!*list)
        return err_set(err, ERR_INPUT, "%s", expected);
    char word[WORD_MAX];
    for (const char *at = list; next_word(&at, word);) {
        int64_t tokens, count;
        char *colon = strchr(word, ':');
        if (colon)
            *colon = '\0';
        if (!colon || !parse_int(word, 1, context_max, &tokens) ||
            !parse_int(colon + 1, 1, LIMIT_REPETITIONS - p->warmup, &count))
            return err_set(err, ERR_INPUT, "%s", expected);
        size_t i = 0;
        while (i < p->n_contexts && p->contexts[i].tokens != tokens)
            i++;
        if (i == p->n_contexts)
            return err_set(err, ERR_INPUT, "--repeat: %lld is not among the contexts of this run",
                           (long long)tokens);
        p->contexts[i].repetitions = count;
    }
    return check_test_count(p, "--repeat", err);
}
