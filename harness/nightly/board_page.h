/* board_page: the parts of the nights' page that come from boards (board.h): the cells that are open, those
 * that are inconclusive, and a card with a sparkline per cell. Appends HTML. Pure.
 */
#pragma once

#include "common/base/buf.h"

#include <jansson.h>

/* The class of the news, or of a verdict: the worst of its words. "bad", "warn", "good" or "none". */
const char *board_news_class(const char *news);

/* A list of the open cells, the worst first. Returns how many there are. */
size_t board_page_findings(const json_t *boards, struct buf *out);
/* What somebody accepted since the night before, if anything. */
void board_page_accepted(const json_t *boards, struct buf *out);
/* The suspects of the newest night, and those of the night before that did not come back, if any. */
void board_page_suspects(const json_t *boards, struct buf *out);
/* The cells that the newest night could not decide, if any. */
void board_page_inconclusive(const json_t *boards, struct buf *out);
/* A section per board. */
void board_page_cells(const json_t *boards, struct buf *out);
