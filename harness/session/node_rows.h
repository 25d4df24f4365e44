/* node_rows: several runs in one terminal: their lines one below the other, each after the name of its node,
 * and on a terminal one line per node at the bottom that says what it is doing. Without a terminal only the
 * lines.
 *
 * Takes decoded events and texts; knows nothing of processes or connections. Whoever uses it prints nothing
 * else to the same stream until node_rows_close().
 */
#pragma once

#include "harness/session/live.h"

enum { NODE_LABEL_MAX = 256 };

struct node_row {
    char label[NODE_LABEL_MAX]; /* printable */
    struct live live;           /* prints into text */
    char *text;
    size_t text_len;
    char state[LIVE_LINE_MAX]; /* instead of the progress, or "" */
};

struct node_rows {
    FILE *out;
    bool terminal;
    struct node_row *rows;
    size_t count;
    int width;    /* of the longest label */
    size_t drawn; /* lines of the block at the bottom that are on the screen */
};

/* labels: the nodes. */
void node_rows_open(struct node_rows *b, FILE *out, const char *const *labels, size_t count);
void node_rows_event(struct node_rows *b, size_t row, const struct event *e);
/* Prints a line of the node, made printable. */
void node_rows_line(struct node_rows *b, size_t row, const char *text, size_t len);
/* What the node's line says until the next event, instead of its run's progress. */
void node_rows_state(struct node_rows *b, size_t row, const char *text);
/* Draws the block again; nothing without a terminal. */
void node_rows_draw(struct node_rows *b);
/* Removes the block. */
void node_rows_close(struct node_rows *b);
