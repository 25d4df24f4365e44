#include "harness/plan/matrix.h"

#include "common/base/alloc.h"
#include "common/contract/proto.h"
#include "common/contract/settings.h"
#include "harness/plan/word_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNTIL_LEAST = 3 };

/* Returns the entry of a per-context object ("4096": 180, or "default"), or NULL. */
static const json_t *per_context(const json_t *table, int64_t tokens)
{
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)tokens);
    const json_t *v = json_object_get(table, key);
    return v ? v : json_object_get(table, "default");
}

/* Keys are "default" or a number of tokens without leading zeros. */
static int check_context_keys(const struct json_at *table, struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_iterable(table->value), key, value)
    {
        struct json_at at = json_member(table, key);
        bool digits = *key >= '1' && *key <= '9' && strspn(key, "0123456789") == strlen(key);
        if (strcmp(key, "default") != 0 && (!digits || strlen(key) > 10))
            return json_fail(&at, err, "expected a context in tokens or \"default\" as the key");
    }
    return 0;
}

/* Checks all entries, as --contexts may select contexts that the plan does not list. */
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
    json_object_foreach(json_iterable(table->value), key, value)
    {
        if (json_get_num(table, key, TEST_TIMEOUT_MIN_S, TEST_TIMEOUT_MAX_S, &seconds, err) != 0)
            return -1;
    }
    return 0;
}

static int check_number(int64_t warmup, const struct json_at *at, struct err *err)
{
    int64_t n = json_integer_value(at->value);
    if (n < 1 || n > LIMIT_REPETITIONS - warmup)
        return json_fail(at, err, "expected 1 to %d repetitions, warm-ups included, found %lld",
                         LIMIT_REPETITIONS, (long long)n);
    return 0;
}

static bool is_rule(const json_t *repetitions)
{
    return json_object_get(repetitions, "until");
}

/* Checks a rule such as {"until": 1.0, "least": 3, "most": 20}. */
static int check_rule(int64_t warmup, const struct json_at *at, struct err *err)
{
    static const char *const known[] = {"until", "least", "most", NULL};
    double until;
    int64_t least = UNTIL_LEAST, most;
    if (json_keys(at, known, err) != 0 || json_get_num(at, "until", UNTIL_MIN, UNTIL_MAX, &until, err) != 0 ||
        json_get_int_def(at, "least", 1, LIMIT_REPETITIONS - warmup, &least, err) != 0 ||
        json_get_int(at, "most", 1, LIMIT_REPETITIONS - warmup, &most, err) != 0)
        return -1;
    struct json_at place = json_member(at, "most");
    return most < least ? json_fail(&place, err, "expected at least \"least\", %lld", (long long)least) : 0;
}

static int check_count(int64_t warmup, const struct json_at *at, struct err *err)
{
    if (is_rule(at->value))
        return check_rule(warmup, at, err);
    if (!json_is_integer(at->value))
        return json_expected(at, "an integer, or an object of integers by context", err);
    return check_number(warmup, at, err);
}

static int check_repetitions(int64_t warmup, const struct json_at *at, struct err *err)
{
    const char *key;
    json_t *value;
    if (!at->value)
        return 0;
    if (!json_is_object(at->value) || is_rule(at->value))
        return check_count(warmup, at, err);
    if (check_context_keys(at, err) != 0)
        return -1;
    json_object_foreach(json_iterable(at->value), key, value)
    {
        struct json_at member = json_member(at, key);
        if (check_count(warmup, &member, err) != 0)
            return -1;
    }
    return 0;
}

static void fill_repetitions(struct plan_context *c, const json_t *said)
{
    const json_t *least = json_object_get(said, "least");
    bool rule = is_rule(said);
    c->repetitions = !said ? 1 : json_integer_value(rule ? json_object_get(said, "most") : said);
    c->until = rule ? json_number_value(json_object_get(said, "until")) : 0;
    c->least = !rule ? 0 : least ? json_integer_value(least) : UNTIL_LEAST;
}

/* fill_context() trusts the plan's tables, which matrix_read() has checked. */
static int fill_context(const struct json_at *root, struct plan_context *c, struct err *err)
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
    bool by_context = json_is_object(reps.value) && !is_rule(reps.value);
    c->timeout_s = json_number_value(timeout);
    fill_repetitions(c, by_context ? per_context(reps.value, c->tokens) : reps.value);
    return 0;
}

static bool has_context(const struct plan_context *contexts, size_t n, int64_t tokens)
{
    for (size_t i = 0; i < n; i++)
        if (contexts[i].tokens == tokens)
            return true;
    return false;
}

static int read_context(const struct matrix *m, const struct json_at *at, struct plan_context *c,
                        struct err *err)
{
    if (!json_is_integer(at->value))
        return json_expected(at, "a context in tokens, an integer", err);
    c->tokens = json_integer_value(at->value);
    if (c->tokens < 1 || c->tokens > LIMIT_CONTEXT)
        return json_fail(at, err, "expected 1 to %d tokens, found %lld", LIMIT_CONTEXT, (long long)c->tokens);
    if (has_context(m->contexts, m->count, c->tokens))
        return json_fail(at, err, "the context %lld is listed twice", (long long)c->tokens);
    return 0;
}

int matrix_read(struct matrix *m, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "contexts"), timeouts = json_member(root, "timeouts"),
                   reps = json_member(root, "repetitions");
    size_t n = json_array_size(at.value);
    if (!json_is_array(at.value))
        return json_expected(&at, "a non-empty array of contexts in tokens", err);
    if (n == 0)
        return json_fail(&at, err, "expected a non-empty array of contexts in tokens, found an empty one");
    if (n > LIMIT_CONTEXTS)
        return json_fail(&at, err, "expected at most %d contexts, found %zu", LIMIT_CONTEXTS, n);
    bool limited = check_timeouts(&timeouts, err) == 0;
    int rc = limited ? 0 : -1;
    rc |= check_repetitions(m->warmup, &reps, err);
    m->contexts = xcalloc(n, sizeof *m->contexts);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(&at, i);
        struct plan_context *c = &m->contexts[m->count];
        if (read_context(m, &item, c, err) == 0 && (!limited || fill_context(root, c, err) == 0))
            m->count++;
        else
            rc = -1;
    }
    return rc;
}

void matrix_release(struct matrix *m)
{
    free(m->contexts);
    *m = (struct matrix){0};
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

static int select_into(struct plan_context *chosen, size_t *n, const struct json_at *root, const char *list,
                       struct err *err)
{
    char word[LIST_WORD_MAX];
    while (word_list_next(&list, word)) {
        struct plan_context *c = &chosen[*n];
        if (*n == LIMIT_CONTEXTS || !parse_int(word, 1, LIMIT_CONTEXT, &c->tokens))
            return err_set(err, ERR_INPUT, "--contexts: expected tokens separated by commas, found \"%s\"",
                           word);
        if (has_context(chosen, *n, c->tokens))
            return err_set(err, ERR_INPUT, "--contexts: %s is listed twice", word);
        if (fill_context(root, c, err) != 0)
            return err_wrap(err, "--contexts");
        ++*n;
    }
    return *n > 0 ? 0 : err_set(err, ERR_INPUT, "--contexts: expected tokens separated by commas");
}

static void replace_contexts(struct matrix *m, struct plan_context *contexts, size_t n)
{
    free(m->contexts);
    m->contexts = contexts;
    m->count = n;
}

int matrix_select(struct matrix *m, const struct json_at *root, const char *list, struct err *err)
{
    struct plan_context *chosen = xcalloc(LIMIT_CONTEXTS + 1, sizeof *chosen);
    size_t n = 0;
    if (select_into(chosen, &n, root, list, err) != 0) {
        free(chosen);
        return -1;
    }
    replace_contexts(m, chosen, n);
    return 0;
}

int matrix_keep(struct matrix *m, const struct json_at *root, const int64_t *contexts, size_t n,
                struct err *err)
{
    struct plan_context *chosen = xcalloc(n + 1, sizeof *chosen);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (has_context(chosen, count, contexts[i]))
            continue;
        chosen[count].tokens = contexts[i];
        if (fill_context(root, &chosen[count++], err) != 0) {
            free(chosen);
            return -1;
        }
    }
    replace_contexts(m, chosen, count);
    return 0;
}

static void repeat(struct plan_context *c, int64_t count)
{
    c->repetitions = count;
    c->until = 0;
}

void matrix_repeat_exactly(struct matrix *m, int64_t count)
{
    for (size_t i = 0; i < m->count; i++)
        repeat(&m->contexts[i], count);
}

void matrix_repeat_at_least(struct matrix *m, int64_t count)
{
    for (size_t i = 0; i < m->count; i++)
        repeat(&m->contexts[i], m->contexts[i].repetitions > count ? m->contexts[i].repetitions : count);
}

void matrix_repeat_context(struct matrix *m, int64_t tokens, int64_t count)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->contexts[i].tokens == tokens && m->contexts[i].repetitions != count)
            repeat(&m->contexts[i], count);
}

/* With tokens 0, all contexts are changed. */
static bool repeat_some(struct matrix *m, int64_t tokens, int64_t count)
{
    bool found = false;
    for (size_t i = 0; i < m->count; i++) {
        if (tokens && m->contexts[i].tokens != tokens)
            continue;
        repeat(&m->contexts[i], count);
        found = true;
    }
    return found;
}

static int bad_repeat(const struct matrix *m, const char *word, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "--repeat: expected a count of 1 to %lld for every context, such as 3, or CONTEXT:COUNT "
                   "separated by commas, such as 4096:2,8192:1, found \"%.40s\"",
                   (long long)(LIMIT_REPETITIONS - m->warmup), word);
}

/* Refuses a word that would override an earlier one. before: the part of the list that precedes it. */
static int check_once(const char *before, size_t len, int64_t tokens, struct err *err)
{
    char word[LIST_WORD_MAX];
    for (const char *rest = before; rest < before + len && word_list_next(&rest, word);) {
        bool all = !strchr(word, ':');
        if (tokens == 0)
            return err_set(err, ERR_INPUT, "--repeat: the count for every context comes first, and once");
        if (!all && strtoll(word, NULL, 10) == tokens)
            return err_set(err, ERR_INPUT, "--repeat: %lld is listed twice", (long long)tokens);
    }
    return 0;
}

int matrix_repeat(struct matrix *m, const char *list, struct err *err)
{
    char word[LIST_WORD_MAX];
    const char *rest = list, *at = list;
    if (!*list)
        return bad_repeat(m, list, err);
    for (; word_list_next(&rest, word); at = rest) {
        int64_t tokens = 0, count;
        char *colon = strchr(word, ':');
        if (colon)
            *colon = '\0';
        if ((colon && !parse_int(word, 1, LIMIT_CONTEXT, &tokens)) ||
            !parse_int(colon ? colon + 1 : word, 1, LIMIT_REPETITIONS - m->warmup, &count))
            return bad_repeat(m, list, err);
        if (check_once(list, (size_t)(at - list), tokens, err) != 0)
            return -1;
        if (!repeat_some(m, tokens, count))
            return err_set(err, ERR_INPUT, "--repeat: %lld is not among the contexts of this run",
                           (long long)tokens);
    }
    return 0;
}

bool matrix_has_rule(const struct matrix *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->contexts[i].until > 0)
            return true;
    return false;
}
