/* ended: when a test ended, by two clocks: this machine's, and that of the file system of its folder, which
 * may be a server's and differ. What has a later time by the file system's own clock was changed afterwards.
 */
#ifndef KERNSWEEP_EXECUTOR_TRIAL_ENDED_H
#define KERNSWEEP_EXECUTOR_TRIAL_ENDED_H

#include "executor/suite/suite.h"

/* Before the last of its files is written. */
void ended_writing(struct suite *s, size_t test);

/* Once that has been written. dir: its folder; NULL: it has none that can be trusted. */
void ended_note(struct suite *s, size_t test, const char *dir);

#endif
