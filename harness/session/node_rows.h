/* node_rows: several runs in one terminal. Their lines are printed one below the other, each after the
 * name of its node; a terminal also shows one status line per node at the bottom.
 *
 * Takes decoded events and text; knows nothing of processes or connections. The caller prints nothing else
 * to the same stream until node_rows_close().
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
    int width;    /* of the longest label, in columns */
    size_t drawn; /* status lines now on the screen */
};

/* labels: the names of the nodes. */
void node_rows_open(struct node_rows *b, FILE *out, const char *const *labels, size_t count);
void node_rows_event(struct node_rows *b, size_t row, const struct event *e);
/* Prints a line of the node, with unprintable characters escaped. */
void node_rows_line(struct node_rows *b, size_t row, const char *text, size_t len);
/* Shows this text in the node's status line, instead of its run's progress, until the next event. */
void node_rows_state(struct node_rows *b, size_t row, const char *text);
/* Redraws the status lines; does nothing without a terminal. */
void node_rows_draw(struct node_rows *b);
/* Removes the block. */
void node_rows_close(struct node_rows *b);
