/* document: a plan's file as JSON: JSON with comments and trailing commas, or YAML (by the ending .yaml or
 * .yml). Keeps the text, so that errors can give lines and columns.
 *
 * A strict JSON file is known by the hash of its bytes, as ever; any other by that of the JSON it stands for,
 * so that a comment does not make another plan. The owner calls plan_document_release().
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/problems.h"
#include "common/base/sha256.h"

struct plan_document {
    struct json_source source; /* first: located through it */
    struct buf text;           /* comments of JSON are blanked */
    bool yaml;
    json_t *root; /* owned */
    char sha256[SHA256_HEX_LEN + 1];
};

bool plan_document_is_yaml(const char *file);
/* Whether the name is that of a plan: it ends in .json, .jsonc, .yaml or .yml. */
bool plan_document_is_named(const char *file);

/* problems: collects what readers of the JSON find wrong with it. The document must not be moved. */
int plan_document_load(struct plan_document *d, const char *file, struct json_problems *problems,
                       struct err *err);
void plan_document_release(struct plan_document *d);
