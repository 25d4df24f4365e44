#include "harness/commands/base/words.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/contract/subst.h"

#include <stdlib.h>
#include <string.h>

enum { COMMAND_MAX = 1 << 16 };

bool words_need_shell(const char *text)
{
    char quote = '\0';
    for (const char *s = text; *s; s++) {
        if (quote == '\'') {
            quote = *s == '\'' ? '\0' : quote;
            continue;
        }
        bool variable = *s == '`' || (*s == '$' && s[1] && s[1] != ' ');
        if (*s == '\\' && s[1])
            s++;
        else if (variable || (!quote && strchr("|&;<>()*?~#\n", *s)))
            return true;
        else if (quote)
            quote = *s == quote ? '\0' : quote;
        else if (*s == '\'' || *s == '"')
            quote = *s;
    }
    return false;
}

/* Reads one word from *text, which must not begin with a blank. Returns false if a quote is not closed. */
static bool next_word(const char **text, struct buf *word)
{
    const char *s = *text;
    char quote = '\0';
    for (; *s && (quote || !strchr(" \t\n", *s)); s++) {
        if (quote && *s == quote)
            quote = '\0';
        else if (!quote && (*s == '\'' || *s == '"'))
            quote = *s;
        else if (*s == '\\' && quote != '\'' && s[1] && (!quote || strchr("\\\"$`", s[1])))
            buf_putc(word, *++s);
        else
            buf_putc(word, *s);
    }
    *text = s;
    return !quote;
}

int words_split(const char *text, struct strvec *out, struct err *err)
{
    size_t before = out->n;
    for (const char *s = text + strspn(text, " \t\n"); *s; s += strspn(s, " \t\n")) {
        AUTO(buf_release) struct buf word = {.max = COMMAND_MAX};
        bool ended = next_word(&s, &word) && buf_ok(&word);
        strvec_push(out, buf_str(&word));
        if (!ended)
            return err_set(err, ERR_INPUT, "%.200s: a quote does not end", text);
    }
    if (out->n == before)
        return err_set(err, ERR_INPUT, "expected a command, found nothing");
    return 0;
}

void words_push_literal(struct strvec *out, const char *word, bool placeholders)
{
    struct err ignored = {0};
    unsigned used = 0;
    AUTO(buf_release) struct buf text = {.max = 2 * COMMAND_MAX};
    /* In a word without placeholders, "{{" is literal text of the user, not the plan's escape for a brace. */
    if (placeholders && subst_scan(word, &used, &ignored) == 0 && (used != 0 || !strstr(word, "{{"))) {
        strvec_push(out, word);
        return;
    }
    for (const char *s = word; *s; s++) {
        if (*s == '{')
            buf_putc(&text, '{');
        buf_putc(&text, *s);
    }
    strvec_push(out, buf_str(&text));
}
