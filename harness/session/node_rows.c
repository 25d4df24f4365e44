#include "harness/session/node_rows.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { LINE_MAX_BYTES = 4096, LABEL_WIDTH_MAX = 32, COLUMNS_USUAL = 80, LINES_USUAL = 24 };

static void open_row(struct node_row *r, const struct live *model, const char *label)
{
    FILE *out = open_memstream(&r->text, &r->text_len);
    text_printable_fixed(r->label, sizeof r->label, label, strlen(label));
    live_init(&r->live, out);
    r->live.colour = model->colour;
    snprintf(r->state, sizeof r->state, "connecting");
}

void node_rows_open(struct node_rows *b, FILE *out, const char *const *labels, size_t count)
{
    struct live model;
    live_init(&model, out);
    *b = (struct node_rows){
        .out = out, .terminal = model.progress, .rows = xcalloc(count, sizeof *b->rows), .count = count};
    for (size_t i = 0; i < count; i++) {
        open_row(&b->rows[i], &model, labels[i]);
        int width = (int)strlen(b->rows[i].label);
        if (width > b->width)
            b->width = width < LABEL_WIDTH_MAX ? width : LABEL_WIDTH_MAX;
    }
}

static void erase(struct node_rows *b)
{
    if (b->drawn == 0)
        return;
    fputs("\r", b->out);
    if (b->drawn > 1)
        fprintf(b->out, "\033[%zuA", b->drawn - 1);
    fputs("\033[J", b->out);
    b->drawn = 0;
}

static void print_line(struct node_rows *b, size_t row, const char *text, size_t len)
{
    AUTO(buf_release) struct buf line = {.max = LINE_MAX_BYTES}, fitted = {.max = (size_t)4 * LINE_MAX_BYTES};
    buf_printf(&line, "%-*s  %.*s\n", b->width, b->rows[row].label, (int)len, text);
    text_wrap(buf_str(&line), text_columns(b->out), &fitted);
    fputs(buf_str(&fitted), b->out);
}

/* Prints what the row's live view has written since the last call, which already contains its colours. */
static void print_text(struct node_rows *b, size_t row)
{
    struct node_row *r = &b->rows[row];
    fflush(r->live.out);
    for (size_t at = 0; at < r->text_len;) {
        size_t len = strcspn(r->text + at, "\n");
        print_line(b, row, r->text + at, len);
        at += len + 1;
    }
    rewind(r->live.out);
}

void node_rows_event(struct node_rows *b, size_t row, const struct event *e)
{
    live_event(&b->rows[row].live, e);
    *b->rows[row].state = '\0';
    erase(b);
    print_text(b, row);
    fflush(b->out);
}

void node_rows_line(struct node_rows *b, size_t row, const char *text, size_t len)
{
    char line[LINE_MAX_BYTES];
    text_printable_fixed(line, sizeof line, text, len);
    erase(b);
    print_line(b, row, line, strlen(line));
    fflush(b->out);
}

void node_rows_state(struct node_rows *b, size_t row, const char *text)
{
    text_printable_fixed(b->rows[row].state, sizeof b->rows[row].state, text, strlen(text));
}

static struct winsize size_of(FILE *out)
{
    struct winsize w = {0};
    if (ioctl(fileno(out), TIOCGWINSZ, &w) != 0 || w.ws_col == 0 || w.ws_row == 0)
        w = (struct winsize){.ws_col = COLUMNS_USUAL, .ws_row = LINES_USUAL};
    return w;
}

static void draw_row(struct node_rows *b, size_t row, size_t columns)
{
    char progress[LIVE_LINE_MAX], line[LIVE_LINE_MAX + NODE_LABEL_MAX + 4];
    const struct node_row *r = &b->rows[row];
    live_progress(&r->live, progress);
    snprintf(line, sizeof line, "%-*s  %s", b->width, r->label, *r->state ? r->state : progress);
    fprintf(b->out, "%.*s", (int)text_fitting(line, columns), line);
}

void node_rows_draw(struct node_rows *b)
{
    if (!b->terminal)
        return;
    struct winsize w = size_of(b->out);
    size_t room = w.ws_row > 3 ? (size_t)w.ws_row - 2 : 1, shown = b->count <= room ? b->count : room - 1;
    erase(b);
    for (size_t i = 0; i < shown; i++) {
        draw_row(b, i, (size_t)w.ws_col - 1);
        if (i + 1 < b->count)
            fputc('\n', b->out);
    }
    if (shown < b->count)
        fprintf(b->out, "and %zu more nodes", b->count - shown);
    b->drawn = shown + (shown < b->count);
    fflush(b->out);
}

void node_rows_close(struct node_rows *b)
{
    erase(b);
    if (b->out)
        fflush(b->out);
    for (size_t i = 0; i < b->count; i++) {
        fclose(b->rows[i].live.out);
        free(b->rows[i].text);
    }
    free(b->rows);
    *b = (struct node_rows){0};
}
