/* artifact: writes one file of a bundle, with secrets masked, under a temporary name, then renames it.
 * Files are not synced one by one: a test of 20 ms must not wait for the disk. What a crash of the node loses
 * is noticed when the run resumes (an unreadable perf.json is no result), and closing a run syncs everything.
 */
#pragma once

#include "common/base/err.h"
#include "executor/bundle/secrets.h"

#include <jansson.h>

/* Takes value. NULL is an error: its text was not UTF-8. */
int artifact_json(const char *dir, const char *name, json_t *value, const struct secrets *secrets,
                  struct err *err);
/* Does the same; sha256 (char[SHA256_HEX_LEN + 1]): of what was written. */
int artifact_json_sealed(const char *dir, const char *name, json_t *value, const struct secrets *secrets,
                         char *sha256, struct err *err);
int artifact_text(const char *dir, const char *name, const char *text, size_t len,
                  const struct secrets *secrets, struct err *err);

/* Rounds to six decimals; null when it is NaN. */
json_t *artifact_number(double x);
