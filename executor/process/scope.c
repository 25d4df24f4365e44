#include "executor/process/scope.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/run.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOVE_WAIT_MS = 20 };

static const double call_limit_s = 5;
static const double move_limit_s = 3;

const struct scope_host scope_host_usual = {.systemd = "/run/systemd/system",
                                            .linger = "/var/lib/systemd/linger",
                                            .runtime = "/run/user",
                                            .busctl = "busctl"};

/* The name as the password file has it; the static binary reads no other source. */
static bool own_name(char *out, size_t size)
{
    AUTO_FCLOSE FILE *f = fopen("/etc/passwd", "re");
    char line[1024];
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        char *save = NULL, *name = strtok_r(line, ":", &save);
        const char *uid = name && strtok_r(NULL, ":", &save) ? strtok_r(NULL, ":", &save) : NULL;
        found = uid && (uid_t)strtoul(uid, NULL, 10) == geteuid();
        if (found)
            snprintf(out, size, "%s", name);
    }
    const char *user = getenv("USER");
    if (!found && user)
        snprintf(out, size, "%s", user);
    return found || user;
}

static bool lingers(const struct scope_host *h)
{
    char name[256], path[FS_PATH_MAX];
    return own_name(name, sizeof name) && fs_join(path, NULL, h->linger, name) == 0 && fs_exists(path);
}

static bool has_program(const char *name)
{
    return strchr(name, '/') ? access(name, X_OK) == 0 : spawn_on_path(name);
}

bool scope_is_available(const struct scope_host *h, char *why)
{
    const char *reason = !fs_is_dir(h->systemd)          ? "systemd does not run here"
                         : !has_program(h->busctl)       ? "there is no busctl"
                         : geteuid() != 0 && !lingers(h) ? "the user's systemd ends with the last session"
                                                         : "";
    snprintf(why, SCOPE_WHY_MAX, "%s", reason);
    return !*reason;
}

/* sshd without pam_systemd does not set it. */
static void find_bus(const struct scope_host *h)
{
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s/%u", h->runtime, (unsigned)geteuid());
    if (!getenv("XDG_RUNTIME_DIR") && fs_is_dir(path))
        setenv("XDG_RUNTIME_DIR", path, 1);
}

static bool call_manager(const struct scope_host *h, const char *name, char *why)
{
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    char unit[128], pid[32];
    struct run_result res;
    struct err err = {.kind = ERR_NONE};
    snprintf(unit, sizeof unit, "%.100s.scope", name);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    strvec_pushl(&argv, h->busctl, geteuid() == 0 ? "--system" : "--user", "--timeout=4", "call",
                 "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                 "StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail", "3", "Delegate", "b", "true", "PIDs",
                 "au", "1", pid, "CollectMode", "s", "inactive-or-failed", "0", NULL);
    if (run_capture(strvec_argv(&argv), NULL, call_limit_s, NULL, &res, &err) == 0 &&
        run_expect_success(&res, "busctl", &err) == 0)
        return true;
    snprintf(why, SCOPE_WHY_MAX, "systemd gave no scope: %.120s", err.msg);
    return false;
}

/* The manager answers before it has moved the process. */
static bool wait_moved(const struct layout *l, const struct hierarchy *before, struct hierarchy *after)
{
    int64_t deadline_ns = clock_deadline_ns(move_limit_s);
    for (;;) {
        hierarchy_read(after, l);
        if (strcmp(after->own, before->own) != 0)
            return true;
        if (clock_left_ms(deadline_ns) == 0)
            return false;
        poll(NULL, 0, MOVE_WAIT_MS);
    }
}

bool scope_enter(const struct scope_host *h, const struct layout *l, const char *name,
                 struct hierarchy *after, char *why)
{
    struct hierarchy before;
    hierarchy_read(&before, l);
    *after = before;
    if (!scope_is_available(h, why))
        return false;
    find_bus(h);
    if (!call_manager(h, name, why))
        return false;
    if (wait_moved(l, &before, after))
        return true;
    snprintf(why, SCOPE_WHY_MAX, "systemd made a scope, but did not move the executor into it");
    return false;
}
