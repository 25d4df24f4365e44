/* oom: whose process the OOM killer ended, from a kernel log that a pair of sockets plays (each read gives
 * one record), and from counters in files. */
#include "tests/unit/support.h"

#include "executor/process/oom.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OWN = 1200, NEIGHBOUR = 1300 };

static const struct proctree_seen own = {.count = 2, .pid = {1100, OWN}};

/* An oom whose kernel log has these records. */
static struct oom with_log(const char *const *records)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    for (; *records; records++)
        assert_true(write(ends[1], *records, strlen(*records)) > 0);
    close(ends[1]);
    return (struct oom){
        .kernel_log = ends[0], .cgroup = -1, .vmstat = -1, .cgroup_kills = -1, .vmstat_kills = -1};
}

static enum oom_found ask(const char *const *records, const struct proctree_seen *seen, char *evidence)
{
    struct oom o = with_log(records);
    *evidence = '\0';
    enum oom_found found = oom_evidence(&o, seen, evidence);
    oom_close(&o);
    return found;
}

TEST(a_kill_is_ascribed_to_the_test_whose_process_it_was)
{
    char evidence[OOM_EVIDENCE_MAX];
    const char *const others[] = {"6,1,1,-;usb: new device\n",
                                  "3,2,2,-;Out of memory: Killed process 1300 (infer) total-vm:9kB\n", NULL};
    const char *const both[] = {"3,2,2,-;Memory cgroup out of memory: Killed process 1200 (a) total-vm:9kB\n",
                                "3,3,3,-;Out of memory: Killed process 1300 (b) total-vm:9kB\n", NULL};
    const char *const longer[] = {"3,2,2,-;Out of memory: Killed process 12001 (infer) total-vm:9kB\n", NULL};
    assert_int_equal(ask(others, &own, evidence), OOM_SOMEWHERE);
    assert_string_equal(evidence, "kernel log: Out of memory: Killed process 1300 (infer) total-vm:9kB");
    assert_int_equal(ask(both, &own, evidence), OOM_HERE);
    assert_string_equal(evidence,
                        "kernel log: Memory cgroup out of memory: Killed process 1200 (a) total-vm:9kB");
    assert_int_equal(ask(longer, &own, evidence), OOM_SOMEWHERE);
    assert_int_equal(ask(others, NULL, evidence), OOM_HERE); /* a test that ran alone */
    assert_int_equal(ask((const char *const[]){NULL}, &own, evidence), OOM_NOTHING);
}

TEST(counters_say_nothing_of_tests_beside_each_other)
{
    char evidence[OOM_EVIDENCE_MAX];
    struct oom o = {.kernel_log = -1, .cgroup = -1, .vmstat = memfd_create("vmstat", 0)};
    assert_true(write(o.vmstat, "pgfault 3\noom_kill 4\n", 21) == 21);
    oom_mark(&o);
    assert_int_equal(oom_evidence(&o, NULL, evidence), OOM_NOTHING);
    assert_true(pwrite(o.vmstat, "pgfault 3\noom_kill 5\n", 21, 0) == 21);
    assert_int_equal(oom_evidence(&o, &own, evidence), OOM_SOMEWHERE);
    assert_int_equal(oom_evidence(&o, NULL, evidence), OOM_HERE);
    assert_non_null(strstr(evidence, "rose from 4 to 5"));
    oom_close(&o);
}

TEST(the_oldest_processes_are_forgotten_first)
{
    struct proctree_seen seen = {.count = 0};
    for (pid_t pid = 1; pid <= PROCTREE_SEEN_MAX + 2; pid++) {
        proctree_note(&seen, pid);
        proctree_note(&seen, pid);
    }
    assert_false(proctree_has_seen(&seen, 2));
    assert_true(proctree_has_seen(&seen, 3));
    assert_true(proctree_has_seen(&seen, PROCTREE_SEEN_MAX + 2));
}
