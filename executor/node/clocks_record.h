/* clocks_record: what anybody needs to put a GPU's clocks back after the executor that set them died: a file
 * beside the GPU's lock, one for each user, which others can read and only its user and root can change. It
 * is written and synced before anything is changed, and removed once the clocks are back; another user who
 * put them back leaves it, and the clocks show that it is done with. It outlives its writer, so what it says
 * is untrusted: sizes, names and ranges are checked. A torn or foreign file is no record, because the clocks
 * are not touched before it is whole.
 */
#pragma once

#include "executor/node/clocks_control.h"

enum { RECORD_BOOT_MAX = 64, RECORD_TIME_MAX = 32 };

struct clocks_record {
    char gpu[LIMIT_NAME + 1], run_id[LIMIT_NAME + 1];
    char boot_id[RECORD_BOOT_MAX]; /* of the start of the machine during which the clocks were set */
    char since[RECORD_TIME_MAX];
    long user;
    struct clocks_request set;
    struct clocks_state before;
};

/* Fills in boot_id, since and user. */
int record_write(const struct layout *l, struct clocks_record *r, struct err *err);
int record_clear(const struct layout *l, const char *gpu, uid_t user, struct err *err);
/* Whether the machine was restarted since, which puts clocks back. */
bool record_is_outdated(const struct layout *l, const struct clocks_record *r);
/* Calls fn for each record of a GPU; NULL: of the machine. */
typedef void record_fn(const struct clocks_record *r, void *arg);
void record_each(const struct layout *l, const char *gpu, record_fn *fn, void *arg);
