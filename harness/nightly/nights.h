/* nights: the folder of nightly reports: <root>/<date>/<run id or "blocked">/{report.md,report.html,
 * summary.json}, index.md, which lists all nightly runs, newest first, and index.html (nights_page.h).
 *
 * The index is rebuilt from the summaries and boards each time, so that it always agrees with them. Knows
 * nothing about nodes or stores.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"

#include <jansson.h>

struct night {
    char dir[FS_PATH_MAX];
    char markdown[FS_PATH_MAX];
    char html[FS_PATH_MAX];
};

/* Creates the folder of a nightly run. name: a safe path component. */
int nights_open(struct night *n, const char *root, const char *date, const char *name, struct err *err);
/* Writes summary.json and, unless it is NULL, the board (board.h), then both index pages. */
int nights_close(const struct night *n, const char *root, const json_t *summary, const json_t *board,
                 struct err *err);
