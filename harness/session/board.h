/* board: several runs in one terminal: their lines one below the other, each after the name of its node, and
 * on a terminal one line per node at the bottom that says what it is doing. Without a terminal only the
 * lines.
 *
 * Takes decoded events and texts; knows nothing of processes or connections. Whoever uses it prints nothing
 * else to the same stream until board_close().
 */
#ifndef KERNSWEEP_HARNESS_SESSION_BOARD_H
#define KERNSWEEP_HARNESS_SESSION_BOARD_H

#include "harness/session/live.h"

enum { BOARD_LABEL_MAX = 256 };

struct board_row {
    char label[BOARD_LABEL_MAX]; /* printable */
    struct live live;            /* prints into text */
    char *text;
    size_t text_len;
    char state[LIVE_LINE_MAX]; /* instead of the progress, or "" */
};

struct board {
    FILE *out;
    bool terminal;
    struct board_row *rows;
    size_t count;
    int width;    /* of the longest label */
    size_t drawn; /* lines of the block at the bottom that are on the screen */
};

/* labels: the nodes. ERR_INTERNAL if out of memory. */
int board_open(struct board *b, FILE *out, const char *const *labels, size_t count, struct err *err);
void board_event(struct board *b, size_t row, const struct event *e);
/* Prints a line of the node, made printable. */
void board_line(struct board *b, size_t row, const char *text, size_t len);
/* What the node's line says until the next event, instead of its run's progress. */
void board_state(struct board *b, size_t row, const char *text);
/* Draws the block again; nothing without a terminal. */
void board_draw(struct board *b);
/* Removes the block. */
void board_close(struct board *b);

#endif
