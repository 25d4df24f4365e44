/* colour: whether to colour what is written to a stream.
 *
 * NO_COLOR turns colours off, CLICOLOR_FORCE on (https://no-color.org, https://bixense.com/clicolors);
 * without them a terminal that is not "dumb" has colours. --color sets one of the two, so that all of a
 * command agrees.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdio.h>

/* when: "auto", "always" or "never"; otherwise ERR_INPUT. */
int colour_choose(const char *when, struct err *err);
bool colour_wanted(FILE *out);
