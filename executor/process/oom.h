/* oom: whether the kernel's OOM killer acted on a test. There are three sources, each used where it is
 * readable: the kernel log, the memory cgroup's counter, the system's counter. Only the first says on which
 * process it acted, so only it tells tests that ran beside each other apart. Descriptors are opened once per
 * run. Knows nothing of how the test ended: the caller asks only about tests that died by SIGKILL.
 */
#pragma once

#include "executor/process/proctree.h"
#include "executor/workdir/layout.h"

#include <stdint.h>

enum { OOM_EVIDENCE_MAX = 256 };

enum oom_found {
    OOM_NOTHING,
    OOM_SOMEWHERE, /* it acted while the test ran: on this test, or on one that ran beside it */
    OOM_HERE
};

struct oom {
    int kernel_log; /* each -1 when not readable */
    int cgroup;
    int vmstat;
    int64_t cgroup_kills, vmstat_kills; /* before the test; -1 unknown */
};

void oom_open(struct oom *o, const struct layout *l);
void oom_close(struct oom *o);
/* Records the counters before a test. */
void oom_mark(struct oom *o);
/* own: the processes of the test; NULL if no test ran beside it, so that all that happened is taken for its
 * own. Writes one line of ASCII unless there is nothing. out: char[OOM_EVIDENCE_MAX]. */
enum oom_found oom_evidence(struct oom *o, const struct proctree_seen *own, char *out);
