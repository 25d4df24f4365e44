#include "common/contract/subst.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { SUBST_PLUS_DIGITS = 9 };

static const char *const names[SUBST_COUNT] = {
    [SUBST_SRC] = "src",         [SUBST_BUILD] = "build",           [SUBST_OUT] = "out",
    [SUBST_VARIANT] = "variant", [SUBST_ATTN_IMPL] = "attn_impl",   [SUBST_RUN_ID] = "run_id",
    [SUBST_CONTEXT] = "context", [SUBST_REPETITION] = "repetition", [SUBST_BATCH] = "batch",
    [SUBST_HEADS] = "heads",     [SUBST_KV_HEADS] = "kv_heads",     [SUBST_HEAD_DIM] = "head_dim",
    [SUBST_DTYPE] = "dtype",     [SUBST_CAUSAL] = "causal",
};

struct token {
    size_t len;         /* in the template */
    size_t literal;     /* bytes to copy verbatim; 0 for a placeholder */
    enum subst_key key; /* of a placeholder */
    int64_t plus;
};

const char *subst_name(enum subst_key key)
{
    return names[key];
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

static int find_key(const char *name, size_t len, enum subst_key *key, struct err *err)
{
    for (int k = 0; k < SUBST_COUNT; k++) {
        if (strlen(names[k]) == len && memcmp(names[k], name, len) == 0) {
            *key = (enum subst_key)k;
            return 0;
        }
    }
    return err_set(
        err, ERR_INPUT,
        "unknown placeholder {%.*s}; known: {src} {build} {out} {variant} {attn_impl} {run_id} "
        "{repetition} {context} {context+N}, in kernel plans {batch} {heads} {kv_heads} {head_dim} {dtype} "
        "{causal}; write {{ for a brace",
        (int)(len > 40 ? 40 : len), name);
}

/* Length of "+digits" at s, or 0. */
static size_t read_plus(const char *s, int64_t *plus)
{
    size_t i = 1;
    if (s[0] != '+')
        return 0;
    for (*plus = 0; s[i] >= '0' && s[i] <= '9' && i <= SUBST_PLUS_DIGITS; i++)
        *plus = *plus * 10 + (s[i] - '0');
    return i > 1 ? i : 0;
}

/* s must not be empty. */
static int next_token(const char *s, struct token *t, struct err *err)
{
    *t = (struct token){.len = strcspn(s, "{")};
    if (t->len > 0) {
        t->literal = t->len;
        return 0;
    }
    t->len = t->literal = 1;
    if (s[1] == '{') {
        t->len = 2;
        return 0;
    }
    size_t n = 1;
    while (is_name_char(s[n]))
        n++;
    size_t plus = read_plus(s + n, &t->plus);
    if (n == 1 || s[n + plus] != '}')
        return 0;
    if (find_key(s + 1, n - 1, &t->key, err) != 0)
        return -1;
    if (plus && t->key != SUBST_CONTEXT)
        return err_set(err, ERR_INPUT, "+N is only for {context+N}, not for {%s}", names[t->key]);
    t->len = n + plus + 1;
    t->literal = 0;
    return 0;
}

int subst_scan(const char *template, unsigned *used, struct err *err)
{
    struct token t;
    *used = 0;
    for (const char *s = template; *s; s += t.len) {
        if (next_token(s, &t, err) != 0)
            return -1;
        if (!t.literal)
            *used |= SUBST_BIT(t.key);
    }
    return 0;
}

static int put_value(const struct token *t, const struct subst *values, struct buf *out, struct err *err)
{
    int64_t number = t->key == SUBST_CONTEXT ? values->context : values->repetition;
    if (values->text[t->key])
        buf_puts(out, values->text[t->key]);
    else if ((t->key == SUBST_CONTEXT || t->key == SUBST_REPETITION) && number > 0)
        buf_printf(out, "%" PRId64, number + t->plus);
    else
        return err_set(err, ERR_INPUT, "{%s} has no value in this command", names[t->key]);
    return 0;
}

int subst_expand(const char *template, const struct subst *values, struct buf *out, struct err *err)
{
    struct token t;
    for (const char *s = template; *s; s += t.len) {
        if (next_token(s, &t, err) != 0)
            return -1;
        if (t.literal)
            buf_add(out, s, t.literal);
        else if (put_value(&t, values, out, err) != 0)
            return -1;
    }
    if (!buf_ok(out))
        return err_set(err, ERR_INPUT, "the expanded text is longer than %zu bytes", out->max);
    return 0;
}
