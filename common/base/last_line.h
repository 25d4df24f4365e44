/* last_line: the last line of an output that is not empty, as it is received in pieces of any size. Longer
 * lines are cut, far behind what is shown of them, so that no secret is cut in what is. The text is
 * untrusted: the caller makes it printable. {0} is ready for use. */
#pragma once

#include <stddef.h>

enum { LAST_LINE_MAX = 2048, LAST_LINE_SHOWN = 200 };

struct last_line {
    char ended[LAST_LINE_MAX + 1], open[LAST_LINE_MAX + 1];
    size_t len; /* of the one that is still open */
};

void last_line_feed(struct last_line *l, const char *data, size_t len);
/* "" if nothing was printed. */
const char *last_line_text(const struct last_line *l);
