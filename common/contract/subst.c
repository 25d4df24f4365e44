#include "common/contract/subst.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SUBST_PLUS_MAX = 100000000 };

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

/* What stands between a '{' and its '}', as far as it resembles a placeholder. */
struct guess {
    const char *name;
    size_t len, total; /* of the name; of all, with both braces */
    bool blanks;       /* around the name */
    char op;           /* the character after the name; '}' if nothing follows */
    bool number;       /* the operator is followed by digits only */
};

static size_t skip_blanks(const char *s)
{
    return strspn(s, " \t");
}

static bool read_guess(const char *s, struct guess *g)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_",
                      digits[] = "0123456789";
    const char *end = strchr(s, '}'), *at = s + 1;
    if (!end)
        return false;
    *g = (struct guess){.name = at + skip_blanks(at), .total = (size_t)(end - s) + 1};
    while (strchr(letters, g->name[g->len]) || (g->len && strchr(digits, g->name[g->len])))
        g->len++;
    at = g->name + g->len + skip_blanks(g->name + g->len);
    g->op = *at;
    g->blanks = g->name > s + 1 || at > g->name + g->len;
    if (g->len == 0 || *at == '}')
        return g->len > 0;
    at += 1 + skip_blanks(at + 1);
    size_t n = strspn(at, digits);
    g->number = n > 0 && at[n + skip_blanks(at + n)] == '}';
    return true;
}

static bool find_key(const struct guess *g, enum subst_key *key)
{
    for (int k = 0; k < SUBST_COUNT; k++) {
        if (strlen(names[k]) == g->len && strncasecmp(names[k], g->name, g->len) == 0) {
            *key = (enum subst_key)k;
            return true;
        }
    }
    return false;
}

/* Whether it is a plain word, a word and a number, or a known name and whatever is done with it. */
static bool resembles(const struct guess *g, bool known)
{
    if (g->op == '}')
        return known || !g->blanks;
    if (g->number && strchr("+-*/%", g->op))
        return true;
    return known && strchr("+-*/%^:.[(", g->op);
}

static int refuse(const char *s, const struct guess *g, bool known, enum subst_key key, struct err *err)
{
    char name[41];
    int shown = (int)(g->total > 40 ? 40 : g->total);
    snprintf(name, sizeof name, "%.*s", (int)(g->len > 40 ? 40 : g->len), g->name);
    const char *near = known ? names[key] : text_nearest(name, names, SUBST_COUNT);
    if (known && g->op != '}' && strncmp(g->name, near, g->len) == 0)
        return err_set(err, ERR_INPUT,
                       "%.*s: only {context+N} can be computed here; let a shell do the rest: "
                       "[\"sh\", \"-c\", \"prog $((2 * {context}))\"]",
                       shown, s);
    if (near)
        return err_set(err, ERR_INPUT,
                       "unknown placeholder %.*s (did you mean {%s}?); write {%.*s for the literal text %.*s",
                       shown, s, near, shown, s, shown, s);
    return err_set(
        err, ERR_INPUT,
        "unknown placeholder %.*s; known: {src} {build} {out} {variant} {attn_impl} {run_id} "
        "{repetition} {context} {context+N}, in kernel plans {batch} {heads} {kv_heads} {head_dim} "
        "{dtype} {causal}; write {%.*s for the literal text %.*s",
        shown, s, shown, s, shown, s);
}

/* Returns false unless g is exactly {context+N}. */
static bool read_plus(const struct guess *g, enum subst_key key, int64_t *plus)
{
    *plus = 0;
    if (key != SUBST_CONTEXT || g->op != '+' || !g->number || g->blanks)
        return false;
    const char *digit = g->name + g->len + 1;
    for (; *digit >= '0' && *digit <= '9' && *plus < SUBST_PLUS_MAX; digit++)
        *plus = *plus * 10 + (*digit - '0');
    return *digit == '}';
}

/* s must not be empty; template: where it begins. */
static int next_token(const char *template, const char *s, struct token *t, struct err *err)
{
    struct guess g;
    enum subst_key key = SUBST_COUNT;
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
    if (!read_guess(s, &g))
        return 0;
    bool known = find_key(&g, &key), of_shell = s > template && s[-1] == '$';
    bool exact = known && strncmp(g.name, names[key], g.len) == 0;
    if (exact && ((g.op == '}' && !g.blanks) || read_plus(&g, key, &t->plus))) {
        *t = (struct token){.len = g.total, .key = key, .plus = t->plus};
        return 0;
    }
    return of_shell || !resembles(&g, known) ? 0 : refuse(s, &g, known, key, err);
}

int subst_scan(const char *template, unsigned *used, struct err *err)
{
    struct token t;
    *used = 0;
    for (const char *s = template; *s; s += t.len) {
        if (next_token(template, s, &t, err) != 0)
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
        if (next_token(template, s, &t, err) != 0)
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
