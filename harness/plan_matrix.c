/* The matrix of a plan: contexts with their repetitions and time-outs, and the command line's selections. */
#include "common/fs.h"
#include "harness/plan_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t context_max = 1 << 30;

/* The entry of a per-context object ("4096": 180, or "default"), or NULL. */
static const json_t *per_context(const json_t *table, int64_t tokens)
{
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)tokens);
    const json_t *v = json_object_get(table, key);
    return v ? v : json_object_get(table, "default");
}

static int check_context_keys(const struct json_at *at, struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)at->value, key, value)
    {
        struct json_at member = json_member(at, key);
        if (strcmp(key, "default") == 0)
            continue;
        if (!*key || strlen(key) > 10 || strspn(key, "0123456789") != strlen(key))
            return json_fail(&member, err, "expected a context in tokens or \"default\" as the key");
    }
    return 0;
}

static int load_timeout(const struct json_at *table, struct plan_context *c, struct err *err)
{
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)c->tokens);
    if (!per_context(table->value, c->tokens)) {
        struct json_at at = json_member(table, key);
        return json_fail(&at, err, "context %s has no time-out: give \"%s\" or \"default\" in seconds", key,
                         key);
    }
    return json_get_num(table, json_object_get(table->value, key) ? key : "default", 0.01, 604800,
                        &c->timeout_s, err);
}

static int load_repetitions(const struct json_at *at, struct plan_context *c, struct err *err)
{
    c->repetitions = 1;
    if (!at->value)
        return 0;
    const json_t *v = json_is_object(at->value) ? per_context(at->value, c->tokens) : at->value;
    if (!v)
        return 0;
    if (!json_is_integer(v))
        return json_fail(at, err, "expected an integer, or an object of integers by context");
    c->repetitions = json_integer_value(v);
    if (c->repetitions < 1 || c->repetitions > LIMIT_REPETITIONS)
        return json_fail(at, err, "expected 1 to %d repetitions, found %lld", LIMIT_REPETITIONS,
                         (long long)c->repetitions);
    return 0;
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
    if (!json_is_object(timeouts.value))
        return json_fail(
            &timeouts, err,
            "expected an object of seconds by context, such as {\"default\": 60, \"4096\": 180}");
    if (check_context_keys(&timeouts, err) != 0 ||
        (json_is_object(reps.value) && check_context_keys(&reps, err) != 0))
        return -1;
    p->contexts = calloc(n, sizeof *p->contexts);
    if (!p->contexts)
        return err_set(err, ERR_INTERNAL, "%s: no memory", p->file);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(&at, i);
        struct plan_context *c = &p->contexts[i];
        if (load_context(p, &item, c, err) != 0 || load_timeout(&timeouts, c, err) != 0 ||
            load_repetitions(&reps, c, err) != 0)
            return -1;
        p->n_contexts++;
    }
    return 0;
}

/* The next word of a comma-separated list into word[64]; false at the end. */
static bool next_word(const char **list, char *word)
{
    if (!**list)
        return false;
    size_t n = strcspn(*list, ",");
    size_t keep = n < LIMIT_NAME ? n : LIMIT_NAME - 1;
    memcpy(word, *list, keep);
    word[keep] = '\0';
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

int plan_select_variants(struct plan *p, const char *list, struct err *err)
{
    if (!list)
        return 0;
    size_t kept = 0;
    char word[LIMIT_NAME];
    for (const char *at = list; next_word(&at, word);) {
        size_t i = kept;
        while (i < p->n_variants && strcmp(p->variants[i].name, word) != 0)
            i++;
        if (i == p->n_variants)
            return err_set(err, ERR_INPUT, "--variants: %s has no variant \"%s\" (or it is named twice)",
                           p->file, word);
        struct plan_variant chosen = p->variants[i];
        p->variants[i] = p->variants[kept];
        p->variants[kept++] = chosen;
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
    struct json_at timeouts = json_member(&root, "timeouts"), reps = json_member(&root, "repetitions");
    struct plan_context *chosen = calloc(LIMIT_CONTEXTS, sizeof *chosen);
    if (!chosen)
        return err_set(err, ERR_INTERNAL, "--contexts: no memory");
    size_t n = 0;
    char word[LIMIT_NAME];
    int rc = 0;
    for (const char *at = list; rc == 0 && next_word(&at, word);) {
        struct plan_context c = {0};
        if (n == LIMIT_CONTEXTS || !parse_int(word, 1, context_max, &c.tokens))
            rc = err_set(err, ERR_INPUT, "--contexts: expected tokens separated by commas, found \"%s\"",
                         word);
        for (size_t i = 0; rc == 0 && i < n; i++)
            if (chosen[i].tokens == c.tokens)
                rc = err_set(err, ERR_INPUT, "--contexts: %s is there twice", word);
        if (rc == 0 && (load_timeout(&timeouts, &c, err) != 0 || load_repetitions(&reps, &c, err) != 0))
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
    return 0;
}

int plan_set_repeat(struct plan *p, const char *list, struct err *err)
{
    if (!list)
        return 0;
    char word[LIMIT_NAME];
    for (const char *at = list; next_word(&at, word);) {
        int64_t tokens, count;
        char *colon = strchr(word, ':');
        if (colon)
            *colon = '\0';
        if (!colon || !parse_int(word, 1, context_max, &tokens) ||
            !parse_int(colon + 1, 1, LIMIT_REPETITIONS, &count))
            return err_set(err, ERR_INPUT,
                           "--repeat: expected CONTEXT:COUNT separated by commas, such as 4096:2,8192:1");
        size_t i = 0;
        while (i < p->n_contexts && p->contexts[i].tokens != tokens)
            i++;
        if (i == p->n_contexts)
            return err_set(err, ERR_INPUT, "--repeat: %lld is not among the contexts of this run",
                           (long long)tokens);
        p->contexts[i].repetitions = count;
    }
    return 0;
}
