#include "reports/render/prose.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <string.h>

/* Pieces that the writer does not truncate. */
enum { PIECE_MAX = 2048, MARKER_MAX = 8 };

struct prose {
    struct md *w;
    struct buf block; /* the paragraph or item, on one line; or the code */
    char marker[MARKER_MAX];
    bool in_code;
};

/* Where to end a piece of at most PIECE_MAX bytes: before a space, else between characters. */
static size_t piece_of(const char *s, size_t len)
{
    if (len <= PIECE_MAX)
        return len;
    size_t n = PIECE_MAX;
    while (n > 0 && s[n] != ' ')
        n--;
    n = n ? n : PIECE_MAX;
    while (((unsigned char)s[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static void put_text(struct md *w, const char *s, size_t len)
{
    for (size_t n; len > 0; s += n, len -= n) {
        char piece[PIECE_MAX + 1];
        n = piece_of(s, len);
        snprintf(piece, sizeof piece, "%.*s", (int)n, s);
        md_text(w, piece);
    }
}

/* Text with code between two backticks. */
static void put_line(struct md *w, const char *s)
{
    while (*s) {
        const char *open = strchr(s, '`'), *close = open ? strchr(open + 1, '`') : NULL;
        char code[PIECE_MAX + 1];
        if (!close || close == open + 1 || (size_t)(close - open) > PIECE_MAX) {
            const size_t upto = close == NULL ? strlen(s) : (size_t)(open - s) + 1;
            put_text(w, s, upto);
            s += upto;
            continue;
        }
        put_text(w, s, (size_t)(open - s));
        snprintf(code, sizeof code, "%.*s", (int)(close - open - 1), open + 1);
        md_code(w, code);
        s = close + 1;
    }
}

/* Writes what was collected. */
static void flush(struct prose *p)
{
    const char *text = buf_str(&p->block);
    if (p->in_code)
        md_code_block(p->w, "", text, p->block.len);
    else if (*p->marker) {
        buf_puts(p->w->out, p->marker);
        put_line(p->w, text);
        md_line(p->w);
    } else if (*text) {
        md_end(p->w);
        put_line(p->w, text);
        md_end(p->w);
    }
    *p->marker = '\0';
    buf_clear(&p->block);
}

/* The length of "- " or "1. " at the beginning of a line, which is then marker; 0 without one. */
static size_t take_marker(const char *line, char marker[MARKER_MAX])
{
    size_t digits = strspn(line, "0123456789");
    if (digits == 0 && strchr("-*+", *line) && line[1] == ' ') {
        snprintf(marker, MARKER_MAX, "- ");
        return 2;
    }
    if (digits == 0 || digits > 3 || !strchr(".)", line[digits]) || line[digits + 1] != ' ')
        return 0;
    snprintf(marker, MARKER_MAX, "%.*s. ", (int)digits, line);
    return digits + 2;
}

static void take_line(struct prose *p, const char *line, const char *trimmed)
{
    char marker[MARKER_MAX] = "";
    if (strncmp(trimmed, "```", 3) == 0) {
        flush(p);
        p->in_code = !p->in_code;
        return;
    }
    if (p->in_code) {
        buf_puts(&p->block, line);
        buf_putc(&p->block, '\n');
        return;
    }
    size_t skip = *trimmed ? take_marker(trimmed, marker) : 0;
    if (skip || !*trimmed) {
        flush(p);
        memcpy(p->marker, marker, sizeof marker);
    }
    if (p->block.len > 0)
        buf_putc(&p->block, ' ');
    buf_puts(&p->block, trimmed + skip + strspn(trimmed + skip, " \t"));
}

void md_prose(struct md *w, const char *text)
{
    AUTO(buf_release) struct buf line = {.max = strlen(text) + 16};
    struct prose p = {.w = w, .block = {.max = strlen(text) + 16}};
    md_end(w);
    for (const char *s = text; *s;) {
        size_t len = strcspn(s, "\n"), used = len;
        while (used > 0 && strchr(" \t\r", s[used - 1]))
            used--;
        buf_clear(&line);
        buf_add(&line, s, used);
        take_line(&p, buf_str(&line), buf_str(&line) + strspn(buf_str(&line), " \t"));
        s += len + (s[len] == '\n');
    }
    flush(&p);
    md_end(w);
    w->out->failed |= !buf_ok(&p.block) || !buf_ok(&line);
    buf_release(&p.block);
}
