#include "common/contract/patch.h"

#include "common/base/fs.h"
#include "common/base/regex.h"
#include "common/contract/proto.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 1000 };

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
    struct regex re;
    struct err why = {0};
    if (!*p->pattern || strlen(p->pattern) > LIMIT_PATTERN)
        return json_fail(&pattern, err, "expected 1 to %d bytes", LIMIT_PATTERN);
    if (strlen(p->replacement) > LIMIT_ARG_BYTES)
        return json_fail(&replacement, err, "expected at most %d bytes", LIMIT_ARG_BYTES);
    if (regex_compile(&re, p->pattern, &why) != 0)
        return json_fail(&pattern, err, "not a regular expression: %s", why.msg);
    bool empty = regex_match(&re, "", 0, 0, NULL) == 1;
    int groups = (int)regex_groups(&re), highest = highest_group(p->replacement);
    regex_release(&re);
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
    const struct regex *re;
    const char *replacement;
    struct buf *out;
    int64_t matches;
    bool empty; /* the pattern matched no character: there would be no end to it */
};

static void add_replacement(const struct rewriting *r, const char *line)
{
    for (const char *p = r->replacement; *p; p++) {
        size_t at, len;
        if (*p != '\\')
            buf_putc(r->out, *p);
        else if (!isdigit((unsigned char)*++p))
            buf_putc(r->out, *p);
        else if (regex_group(r->re, (size_t)(*p - '0'), &at, &len))
            buf_add(r->out, line + at, len);
    }
}

static int rewrite_line(struct rewriting *r, const char *line, size_t len, struct err *err)
{
    size_t done = 0;
    while (done < len && r->matches <= COUNT_MAX) {
        size_t at = 0, n = 0;
        int rc = regex_match(r->re, line, len, done, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            break;
        regex_group(r->re, 0, &at, &n);
        if (n == 0) {
            r->empty = true;
            return 0;
        }
        r->matches++;
        buf_add(r->out, line + done, at - done);
        add_replacement(r, line);
        done = at + n;
    }
    buf_add(r->out, line + done, len - done);
    return 0;
}

static int rewrite_text(struct rewriting *r, const char *text, size_t len, struct err *err)
{
    while (len > 0 && !r->empty && r->matches <= COUNT_MAX) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;
        if (rewrite_line(r, text, n, err) != 0)
            return -1;
        if (end)
            buf_putc(r->out, '\n');
        n += end != NULL;
        text += n;
        len -= n;
    }
    return 0;
}

int patch_apply(const struct patch *p, const char *text, size_t len, struct buf *out, struct err *err)
{
    struct regex re;
    if (regex_compile(&re, p->pattern, err) != 0)
        return err_wrap(err, "%s: \"%.200s\" is not a regular expression", p->file, p->pattern);
    struct rewriting r = {.re = &re, .replacement = p->replacement, .out = out};
    int rc = rewrite_text(&r, text, len, err);
    regex_release(&re);
    if (rc != 0)
        return err_wrap(err, "%s: \"%.200s\"", p->file, p->pattern);
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
