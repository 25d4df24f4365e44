/* document: a plan's file as JSON. The file is JSON, possibly with comments and trailing commas, or YAML (by
 * the ending .yaml or .yml). Keeps the text, so that errors can give lines and columns.
 *
 * A strict JSON file is identified by the hash of its bytes, any other by the hash of the equivalent JSON, so
 * that a comment does not make a different plan. The owner calls plan_document_release().
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/problems.h"
#include "common/base/sha256.h"

struct plan_document {
    struct json_source source; /* must be first: json_at leads back to the document through it */
    struct buf text;           /* with comments of JSON blanked */
    bool yaml;
    json_t *root; /* owned */
    char sha256[SHA256_HEX_LEN + 1];
};

bool plan_document_is_yaml(const char *file);
/* Whether the file name is that of a plan, which ends in .json, .jsonc, .yaml or .yml. */
bool plan_document_is_named(const char *file);

/* problems: collects the errors that readers of the JSON find. The document must not be moved. */
int plan_document_load(struct plan_document *d, const char *file, struct json_problems *problems,
                       struct err *err);
void plan_document_release(struct plan_document *d);
