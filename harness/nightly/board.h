/* board: what the index page shows of one plan on one node: the series of each cell with its changes of
 * level, and how the newest night judged it.
 *
 * A board is JSON ("kernsweep.board/1"), made from the store after each nightly run and kept in
 * <reports>/cells/, one file per plan, node and mode, so that the page can be made again without a store. The
 * caller json_decref()s. Errors: ERR_STORAGE, ERR_INTERNAL.
 */
#pragma once

#include "results/judge/compare.h"
#include "results/store/store.h"

#include <jansson.h>

/* Nights in a sparkline. */
enum { BOARD_NIGHTS_MAX = 90 };

#define BOARD_SCHEMA "kernsweep.board/1"
#define BOARD_FOLDER "cells"

struct board_night {
    struct store *store;
    const struct run_data *run;
    const struct comparison *comparison; /* NULL: the run was not compared */
    const json_t *open;                  /* open_cells.h; may be NULL */
    const char *night;                   /* when it began, ISO 8601 */
};

/* NULL with err. */
json_t *board_encode(const struct board_night *n, struct err *err);
/* Writes the board below the folder of the nightly reports. */
int board_save(const char *root, const json_t *board, struct err *err);
