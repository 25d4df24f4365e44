/* journal: events.jsonl, one JSON object per line, each appended with one write, so that a follower sees an
 * event at once and never half of it. After a crash a torn last line is truncated and the sequence numbers
 * continue. Durability: an event is in the page cache when journal_add() returns, so it survives the death of
 * this process; journal_sync() makes it survive the node's. Secrets are masked. Knows nothing of what the
 * events mean.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/bundle/secrets.h"

#include <stdbool.h>
#include <stdint.h>

/* What others put after an event and is longer is cut off by the next one: a test can give the file any size.
 */
enum { JOURNAL_FOREIGN_MAX = 16 << 20 };

struct journal {
    int fd;
    int64_t seq;  /* of the last event */
    int64_t end;  /* its size as we left it */
    bool foreign; /* somebody else has written to it, or cut it */
    const struct secrets *secrets;
};

/* Called for each existing event when a journal is reopened. Returning -1 stops with err. */
typedef int journal_visit(const json_t *event, void *arg, struct err *err);

int journal_open(struct journal *j, const char *path, const struct secrets *secrets, journal_visit *visit,
                 void *arg, struct err *err);
void journal_close(struct journal *j);
/* Takes fields, an object. NULL is an error: its text was not UTF-8. */
int journal_add(struct journal *j, enum event_type type, json_t *fields, struct err *err);
/* Writes a NODE event with a short message without quotes, before the program ends: it allocates nothing. */
void journal_last_words(struct journal *j, const char *message);
/* Whether somebody else has changed, removed or replaced the file at path since it was opened. What was
 * removed or replaced is put back as we wrote it. */
bool journal_was_changed(struct journal *j, const char *path);
int journal_sync(struct journal *j, struct err *err);
