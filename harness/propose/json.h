/* propose_json: numbers of a JSON object that the program prints. */
#pragma once

#include "harness/propose/propose.h"

#include <jansson.h>

/* Adds the numbers of value whose names tell a unit; number: the line, or 0 for a document. */
void propose_json(struct proposal *out, const json_t *value, size_t number);
