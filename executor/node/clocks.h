/* clocks: holds the clocks of a run's GPUs, and puts them back: after the run, or, where its executor died,
 * by whoever has the GPU's lock next. Callers hold the lock of each GPU they name.
 */
#pragma once

#include "executor/node/clocks_control.h"

enum { CLOCKS_GPUS_MAX = 64, CLOCKS_NOTE_MAX = 512 };

struct clocks {
    struct clocks_request want;
    size_t count;
    struct {
        struct clocks_gpu gpu;
        struct clocks_state before;
        const char *through; /* static; the way that set them */
        bool held;           /* set, and not put back yet */
    } item[CLOCKS_GPUS_MAX];
};

/* Adds a GPU and sets its clocks; fails where a record of it stands. CONTROL_DENIED and CONTROL_FAILED leave
 * that GPU as it was. run_id: for the record. gpus: node.json's. */
enum control_result clocks_hold(struct clocks *c, const struct layout *l, const json_t *gpus,
                                const char *name, const char *run_id, struct err *err);
/* Puts all back. Returns -1 when one could not be: its record stays. */
int clocks_put_back(struct clocks *c, const struct layout *l, struct err *err);

/* Acts on the records of a GPU: puts its clocks back, unless something else has changed them
 * meanwhile. note: char[CLOCKS_NOTE_MAX], what was found and done, or why it could not be; "" without a
 * record. Returns 0 or -1. */
int clocks_recover(const struct layout *l, const json_t *gpus, const char *name, char *note);
/* Does the same for every GPU whose record is of this run and whose lock is free. note: of the last one. */
int clocks_recover_run(const struct layout *l, const json_t *gpus, const char *run_id, char *note);

/* Lists the records on the machine: an array of {"gpu", "run_id", "user", "since", "mode", "mhz", "held",
 * "can_put_back"}, without those that are settled. held: the run still has the GPU's lock.
 * can_put_back: this user could. gpus: node.json's. */
json_t *clocks_left(const struct layout *l, const json_t *gpus);
