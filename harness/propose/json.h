/* propose_json: proposes numbers of a JSON object that the program prints. */
#pragma once

#include "harness/propose/propose.h"

#include <jansson.h>

/* Adds the numbers in value whose names suggest a unit or a time. number: the line, or 0 for a document. */
void propose_json(struct proposal *out, const json_t *value, size_t number);
