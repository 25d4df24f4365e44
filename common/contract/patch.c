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
    if (!*p->pattern || strlen(p->pattern) > LIMIT_PATTERN)
        return json_fail(&pattern, err, "expected 1 to %d bytes", LIMIT_PATTERN);
    if (pattern_is_too_large(p->pattern))
        return json_fail(&pattern, err, "its repetitions make more than %d parts of it", PATTERN_NODES_MAX);
    if (strlen(p->replacement) > LIMIT_ARG_BYTES)
        return json_fail(&replacement, err, "expected at most %d bytes", LIMIT_ARG_BYTES);
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

int patch_decode(struct patch *out, const struct json_at *at, struct err *err)
{
    static const char *const keys[] = {"file", "pattern", "replacement", "count", NULL};
    *out = (struct patch){.count = 1};
    if (json_keys(at, keys, err) != 0 || json_get_str(at, "file", &out->file, err) != 0 ||
        json_get_str(at, "pattern", &out->pattern, err) != 0 ||
        json_get_str(at, "replacement", &out->replacement, err) != 0 ||
        json_get_int_def(at, "count", 1, COUNT_MAX, &out->count, err) != 0)
        return -1;
    struct json_at file = json_member(at, "file");
    if (!fs_safe_relpath(out->file))
        return json_fail(&file, err, "expected a plain path below the source tree, without \"..\"");
    return check_expression(out, at, err);
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
