/* artifact: writing one file of a bundle: cleaned of secrets, under a temporary name, then renamed.
 * Not synced one by one: a test of 20 ms must not wait for the disk. What a crash of the node loses is found
 * on resuming (a perf.json that does not read is no result), and closing a run syncs everything (see
 * supervise).
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_ARTIFACT_H
#define KERNSWEEP_EXECUTOR_BUNDLE_ARTIFACT_H

#include "common/base/err.h"
#include "executor/bundle/secrets.h"

#include <jansson.h>

/* Takes value (NULL is a failed allocation of the caller's). */
int artifact_json(const char *dir, const char *name, json_t *value, const struct secrets *secrets,
                  struct err *err);
int artifact_text(const char *dir, const char *name, const char *text, size_t len,
                  const struct secrets *secrets, struct err *err);

/* A number, rounded to a millionth; null when it is NaN. */
json_t *artifact_number(double x);

#endif
