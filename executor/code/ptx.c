#include "executor/code/ptx.h"

#include "common/base/alloc.h"

static bool begins(struct span line, const char *word)
{
    size_t len = strlen(word);
    return span_begins(line, word, len) &&
           (line.len == len || line.data[len] == ' ' || line.data[len] == '\t');
}

static struct span trimmed(struct span s)
{
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s.data++;
        s.len--;
    }
    while (s.len && strchr(" \t\r", s.data[s.len - 1])) /* or NUL, with which its container is filled up */
        s.len--;
    return s;
}

/* Cuts a comment off; a string may hold the same characters. */
static struct span without_comment(struct span line)
{
    bool quoted = false;
    for (size_t i = 0; i < line.len; i++) {
        if (line.data[i] == '"')
            quoted = !quoted;
        if (!quoted && i + 1 < line.len && line.data[i] == '/' && line.data[i + 1] == '/')
            line.len = i;
    }
    return trimmed(line);
}

/* Labels that only line numbers refer to. */
static bool is_debug_label(struct span line)
{
    return span_begins(line, "$L__tmp", 7) || span_begins(line, "$L__func_begin", 14) ||
           span_begins(line, "$L__func_end", 12);
}

uint8_t *ptx_code(struct span text, size_t *len)
{
    uint8_t *out = xmalloc(text.len + 1);
    bool in_section = false;
    *len = 0;
    for (size_t at = 0; at < text.len;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.len - at);
        size_t size = end ? (size_t)(end - (text.data + at)) : text.len - at;
        struct span line = without_comment((struct span){text.data + at, size});
        at += size + 1;
        in_section = in_section || begins(line, ".section");
        if (line.len && !in_section && !begins(line, ".loc") && !begins(line, ".file") &&
            !is_debug_label(line)) {
            memcpy(out + *len, line.data, line.len);
            *len += line.len;
            out[(*len)++] = '\n';
        }
        in_section = in_section && !(line.len && line.data[line.len - 1] == '}');
    }
    return out;
}
