/* held: what tests find next to their own files, and may put something else in the place of: folders of
 * results, and files that the executor has open. The open descriptor tells which is ours, wherever it was
 * moved to.
 */
#ifndef KERNSWEEP_EXECUTOR_WORKDIR_HELD_H
#define KERNSWEEP_EXECUTOR_WORKDIR_HELD_H

#include "common/base/fs.h"

struct held {
    char path[FS_PATH_MAX];
    int fd;
    char aside[FS_PATH_MAX]; /* what stood in its place, until it is removed; "": nothing */
};

#define HELD_NONE ((struct held){.fd = -1})

enum held_state { HELD_IN_PLACE, HELD_PUT_BACK, HELD_LOST };

/* Makes the folder, in the place of whatever else has that name; one that is there is kept. */
int held_open(struct held *h, const char *path, struct err *err);
/* The same, but empty: what is there is removed, or, if it cannot be, moved aside. */
int held_make(struct held *h, const char *path, struct err *err);
void held_close(struct held *h);
/* Puts the folder back, or, where it is gone, makes an empty one; what stands in its place is moved aside,
 * for it may have the folder in it, or another that is held. -1: it cannot be done. Of one that is not open:
 * HELD_IN_PLACE. */
int held_look(struct held *h, enum held_state *out, struct err *err);
/* Removes what was moved aside, once all folders that are held have been looked at. -1: it stays there. */
int held_clear(struct held *h, struct err *err);

/* Opens a new file for reading and writing, in the place of whatever has that name. -1 with errno. */
int held_create(const char *path);
/* The open file, which was made as `part`, gets the name `path`, whatever has become of either name. */
int held_publish(int fd, const char *part, const char *path, struct err *err);

#endif
