#include "common/contract/patch.h"

#include "common/base/fs.h"
#include "common/contract/pattern.h"
#include "common/contract/proto.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 10, COUNT_MAX = 1000, REGEX_ERROR_MAX = 128 };

static int compile(regex_t *re, const char *pattern, char *why)
{
    int rc = regcomp(re, pattern, REG_EXTENDED);
    if (rc != 0)
        regerror(rc, re, why, REGEX_ERROR_MAX);
    return rc;
}

/* The highest group that the replacement names, or -1 for a backslash that means nothing. */
static int highest_group(const char *replacement)
{
    int highest = 0;
    for (const char *p = replacement; *p; p++) {
        if (*p != '\\')
            continue;
        p++;
        if (isdigit((unsigned char)*p))
            highest = *p - '0' > highest ? *p - '0' : highest;
        else if (*p != '\\')
            return -1;
    }
    return highest;
}

static int check_expression(const struct patch *p, const struct json_at *at, struct err *err)
{
    struct json_at pattern = json_member(at, "pattern"), replacement = json_member(at, "replacement");
    char why[REGEX_ERROR_MAX];
    regex_t re;
    if (pattern_is_too_large(p->pattern))
        return json_fail(&pattern, err, "its repetitions make more than %d parts of it", PATTERN_NODES_MAX);
    if (compile(&re, p->pattern, why) != 0)
        return json_fail(&pattern, err, "not a POSIX extended regular expression: %s", why);
    bool empty = regexec(&re, "", 0, NULL, 0) == 0;
    int groups = (int)re.re_nsub, highest = highest_group(p->replacement);
    regfree(&re);
    if (empty)
        return json_fail(&pattern, err, "it matches an empty text");
    if (highest < 0)
        return json_fail(&replacement, err, "a backslash may stand before 0 to 9 or another one only");
    if (highest > groups)
        return json_fail(&replacement, err, "\\%d, but the pattern has %d groups", highest, groups);
    return 0;
}

const struct key patch_keys[] = {
    {KEY_AT(struct patch, file), .kind = KEY_TEXT, .in = IN_BOTH, .required = true, .least = 1,
     .most = FS_PATH_MAX - 1, .accepts = fs_safe_relpath,
     .expected = "a plain path below the source tree, without \"..\""},
    {KEY_AT(struct patch, pattern), .kind = KEY_TEXT, .in = IN_BOTH, .required = true, .least = 1,
     .most = LIMIT_PATTERN},
    {KEY_AT(struct patch, replacement), .kind = KEY_TEXT, .in = IN_BOTH, .required = true,
     .most = LIMIT_ARG_BYTES},
    {KEY_AT(struct patch, count), .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = COUNT_MAX,
     .usual = 1},
    {.name = NULL},
};

int patch_decode(struct patch *out, const struct json_at *at, struct err *err)
{
    const struct key_table table = {patch_keys, out};
    return keys_read(at, IN_BOTH, &table, 1, err) == 0 ? check_expression(out, at, err) : -1;
}

/* Where the matches of a text go. */
struct rewriting {
    const regex_t *re;
    const char *replacement;
    struct buf *out;
    int64_t matches;
    bool empty; /* the pattern matched no character: there would be no end to it */
};

static void add_replacement(const struct rewriting *r, const char *line, const regmatch_t *group)
{
    for (const char *p = r->replacement; *p; p++) {
        if (*p != '\\') {
            buf_putc(r->out, *p);
            continue;
        }
        p++;
        const regmatch_t *g = isdigit((unsigned char)*p) ? &group[*p - '0'] : NULL;
        if (!g)
            buf_putc(r->out, *p);
        else if (g->rm_so >= 0)
            buf_add(r->out, line + g->rm_so, (size_t)(g->rm_eo - g->rm_so));
    }
}

static void rewrite_line(struct rewriting *r, const char *line, size_t len)
{
    regmatch_t group[GROUPS];
    size_t at = 0;
    while (at < len && r->matches <= COUNT_MAX) {
        group[0] = (regmatch_t){.rm_so = (regoff_t)at, .rm_eo = (regoff_t)len};
        if (regexec(r->re, line, GROUPS, group, REG_STARTEND) != 0)
            break;
        if (group[0].rm_eo == group[0].rm_so) {
            r->empty = true;
            return;
        }
        r->matches++;
        buf_add(r->out, line + at, (size_t)group[0].rm_so - at);
        add_replacement(r, line, group);
        at = (size_t)group[0].rm_eo;
    }
    buf_add(r->out, line + at, len - at);
}

static void rewrite(struct rewriting *r, const char *text, size_t len)
{
    while (len > 0 && !r->empty && r->matches <= COUNT_MAX) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;
        rewrite_line(r, text, n);
        if (end)
            buf_putc(r->out, '\n');
        n += end != NULL;
        text += n;
        len -= n;
    }
}

int patch_apply(const struct patch *p, const char *text, size_t len, struct buf *out, struct err *err)
{
    char why[REGEX_ERROR_MAX];
    regex_t re;
    if (compile(&re, p->pattern, why) != 0)
        return err_set(err, ERR_INPUT, "%s: \"%.200s\" is no regular expression: %s", p->file, p->pattern,
                       why);
    struct rewriting r = {.re = &re, .replacement = p->replacement, .out = out};
    rewrite(&r, text, len);
    regfree(&re);
    if (r.empty)
        return err_set(err, ERR_INPUT, "%s: \"%.200s\" matches an empty text", p->file, p->pattern);
    if (r.matches != p->count)
        return err_set(err, ERR_INPUT, "%s: \"%.200s\" matches %s%lld times, expected %lld", p->file,
                       p->pattern, r.matches > COUNT_MAX ? "more than " : "",
                       (long long)(r.matches > COUNT_MAX ? COUNT_MAX : r.matches), (long long)p->count);
    if (!buf_ok(out))
        return err_set(err, ERR_INPUT, "%s: larger than %zu bytes once it is patched", p->file, out->max);
    return 0;
}
