/* propose_json: numbers of a JSON object that the program prints. */
#ifndef KERNSWEEP_HARNESS_PROPOSE_JSON_H
#define KERNSWEEP_HARNESS_PROPOSE_JSON_H

#include "harness/propose/propose.h"

#include <jansson.h>

/* Adds the numbers of value whose names tell a unit; number: the line, or 0 for a document. */
void propose_json(struct proposal *out, const json_t *value, size_t number);

#endif
