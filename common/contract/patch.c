#include "common/contract/patch.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/regex.h"
#include "common/base/text.h"
#include "common/contract/proto.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 1000 };

/* Returns the highest group used in the replacement, or -1 for an invalid escape. */
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
    if (regex_compile(&re, p->pattern, &why) != 0)
        return json_fail(&pattern, err, "not a regular expression: %s", why.msg);
    bool empty = regex_match(&re, "", 0, 0, NULL) == 1;
    int groups = (int)regex_groups(&re), highest = highest_group(p->replacement);
    regex_release(&re);
    if (empty)
        return json_fail(&pattern, err, "it matches an empty string");
    if (highest < 0)
        return json_fail(&replacement, err, "a backslash may only precede 0 to 9 or another backslash");
    if (highest > groups)
        return json_fail(&replacement, err, "\\%d, but the pattern has %d group%s", highest, groups,
                         text_plural(groups));
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

struct rewriting {
    const struct regex *re;
    const char *replacement;
    struct buf *out;
    int64_t matches;
    bool empty; /* the pattern matched an empty string, which would never end */
};

static void add_replacement(const struct rewriting *r, const char *line)
{
    for (const char *p = r->replacement; *p; p++) {
        size_t at, len;
        if (*p != '\\' || !isdigit((unsigned char)*++p))
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
    AUTO(regex_release) struct regex re = {.code = NULL};
    if (regex_compile(&re, p->pattern, err) != 0)
        return err_wrap(err, "%s: \"%.200s\" is not a regular expression", p->file, p->pattern);
    struct rewriting r = {.re = &re, .replacement = p->replacement, .out = out};
    if (rewrite_text(&r, text, len, err) != 0)
        return err_wrap(err, "%s: \"%.200s\"", p->file, p->pattern);
    if (r.empty)
        return err_set(err, ERR_INPUT, "%s: \"%.200s\" matches an empty string", p->file, p->pattern);
    if (r.matches != p->count)
        return err_set(err, ERR_INPUT, "%s: \"%.200s\" matches %s%lld times, expected %lld", p->file,
                       p->pattern, r.matches > COUNT_MAX ? "more than " : "",
                       (long long)(r.matches > COUNT_MAX ? COUNT_MAX : r.matches), (long long)p->count);
    if (!buf_ok(out))
        return err_set(err, ERR_INPUT, "%s: larger than %zu bytes once it is patched", p->file, out->max);
    return 0;
}
