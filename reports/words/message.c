#include "reports/words/message.h"

#include <string.h>

const char *message(enum report_lang lang, enum msg id)
{
    static const char *const texts[MSG_COUNT][REPORT_LANG_COUNT] = {
#define M(id, en, es) [MSG_##id] = {[REPORT_EN] = (en), [REPORT_ES] = (es)},
#include "reports/words/messages.def"
#undef M
    };
    return texts[id][lang];
}

const char *report_lang_name(enum report_lang lang)
{
    static const char *const names[REPORT_LANG_COUNT] = {[REPORT_EN] = "en", [REPORT_ES] = "es"};
    return names[lang];
}

/* Length of a placeholder at s ("{3}" or "`{3}`"), 0 when there is none. */
static size_t placeholder(const char *s, size_t *index, bool *code)
{
    *code = s[0] == '`';
    const char *p = s + *code;
    if (p[0] != '{' || p[1] < '1' || p[1] > '9' || p[2] != '}' || (*code && p[3] != '`'))
        return 0;
    *index = (size_t)(p[1] - '0');
    return *code ? 5 : 3;
}

void message_expand(const char *text, const char *const *args, const struct message_sink *sink)
{
    size_t n_args = 0;
    while (args[n_args])
        n_args++;
    const char *start = text;
    for (const char *p = text; *p;) {
        size_t index = 0;
        bool code = false;
        size_t len = placeholder(p, &index, &code);
        if (len == 0) {
            p++;
            continue;
        }
        sink->literal(sink->ctx, start, (size_t)(p - start));
        if (index < n_args)
            sink->data(sink->ctx, args[index], code);
        p += len;
        start = p;
    }
    sink->literal(sink->ctx, start, strlen(start));
}

static void plain_literal(void *ctx, const char *s, size_t len)
{
    buf_add(ctx, s, len);
}

static void plain_data(void *ctx, const char *s, bool code)
{
    (void)code;
    buf_puts(ctx, s);
}

void message_plain_args(struct buf *out, enum report_lang lang, enum msg id, const char *const *args)
{
    struct message_sink sink = {.literal = plain_literal, .data = plain_data, .ctx = out};
    message_expand(message(lang, id), args, &sink);
}
