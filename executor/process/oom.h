/* oom: whether the kernel's OOM killer acted while a test ran. Three sources, each where it is readable: the
 * kernel log, the memory cgroup's counter, the system's counter. Descriptors are opened once per run. Knows
 * nothing of how the test ended: the caller asks only about tests that died by SIGKILL.
 */
#ifndef KERNSWEEP_EXECUTOR_PROCESS_OOM_H
#define KERNSWEEP_EXECUTOR_PROCESS_OOM_H

#include "executor/workdir/layout.h"

#include <stdbool.h>
#include <stdint.h>

enum { OOM_EVIDENCE_MAX = 256 };

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
/* Writes one line of ASCII; false when there is no evidence. out: char[OOM_EVIDENCE_MAX]. */
bool oom_evidence(struct oom *o, char *out);

#endif
