#include "executor/process/contain.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/run.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "executor/process/aside.h"
#include "executor/process/isolate.h"
#include "executor/process/remains.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MOVE_WAIT_MS = 20 };

static const double call_limit_s = 5;
static const double move_limit_s = 3;

const struct scope_host scope_host_usual = {.systemd = "/run/systemd/system",
                                            .linger = "/var/lib/systemd/linger",
                                            .runtime = "/run/user",
                                            .busctl = "busctl"};

/* The password file is read directly, because the static binary has no other source. */
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

/* Whether systemd can give us a scope of our own, with control groups delegated to us: the system's manager
 * to root, their own to others. A user's manager ends with the last session unless the user lingers, and
 * would take a run with it: then there is no scope. why: char[SCOPE_WHY_MAX], why not. Starts nothing. */
static bool scope_is_available(const struct scope_host *h, char *why)
{
    const char *reason = !fs_is_dir(h->systemd)          ? "systemd does not run here"
                         : !has_program(h->busctl)       ? "there is no busctl"
                         : geteuid() != 0 && !lingers(h) ? "the user's systemd ends with the last session"
                                                         : "";
    snprintf(why, SCOPE_WHY_MAX, "%s", reason);
    return !*reason;
}

/* sshd without pam_systemd does not set XDG_RUNTIME_DIR, which busctl needs. */
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

const char *containment_name(enum containment kind)
{
    switch (kind) {
    case CONTAINED_GROUP:
        break;
    case CONTAINED_SCOPE:
        return "scope";
    case CONTAINED_CGROUP:
        return "cgroup";
    }
    return "group";
}

/* systemd marks what it delegates. Root can write everywhere, but under systemd should write only there. */
static bool is_delegated(const char *folder)
{
    char value[8];
    return getxattr(folder, "user.delegate", value, sizeof value) > 0 ||
           getxattr(folder, "trusted.delegate", value, sizeof value) > 0;
}

/* A scope is better than a folder that is writable only because we are root. */
static bool wants_scope(const struct hierarchy *at, const struct scope_host *h, char *why)
{
    bool own = hierarchy_is_ours(at->own) && (geteuid() != 0 || is_delegated(at->own));
    return *at->own && !own && scope_is_available(h, why);
}

static bool has_controller(const struct hierarchy *at, const char *name)
{
    return hierarchy_is_ours(at->own) && hierarchy_lists(at->own, "cgroup.controllers", name);
}

static int move_aside(struct contain *c, struct err *err)
{
    return *c->stand ? 0 : aside_enter(c->stand, c->at.own, c->helper, err);
}

static int give_down(struct contain *c, const char *folder, const char *word, struct err *err)
{
    if (hierarchy_lists(folder, "cgroup.subtree_control", word + 1))
        return 0;
    int rc = hierarchy_write(folder, "cgroup.subtree_control", word);
    if (rc == EBUSY && folder == c->at.own && move_aside(c, err) == 0)
        rc = hierarchy_write(folder, "cgroup.subtree_control", word);
    return rc == 0 ? 0
                   : err_set_errno(err, ERR_NODE, rc, "%s cannot be enabled for groups below %s%s", word + 1,
                                   folder, rc == EBUSY ? ", where other programs run, too" : "");
}

/* Finds where one controller's limits are set: in version 2, else in version 1. out: the folder, or "". */
static void find_controller(struct contain *c, const char *word, const char *v1, char *out, const char *name)
{
    struct err err = {.kind = ERR_NONE};
    *out = '\0';
    if (has_controller(&c->at, word + 1)) {
        if (give_down(c, c->at.own, word, &err) == 0 && give_down(c, c->place.base, word, &err) == 0)
            memcpy(out, c->place.base, FS_PATH_MAX);
    } else if (hierarchy_is_ours(v1) && hierarchy_make(out, v1, name, &err) != 0) {
        *out = '\0';
    }
    if (err.kind != ERR_NONE)
        snprintf(c->why, sizeof c->why, "%.300s", err.msg);
}

static void find_controllers(struct contain *c, const char *name, const struct contain_limits *limits)
{
    if (limits->memory_bytes > 0)
        find_controller(c, "+memory", c->at.v1_memory, c->place.memory, name);
    if (limits->processes > 0)
        find_controller(c, "+pids", c->at.v1_pids, c->place.pids, name);
}

static bool limits_hold(const struct contain *c, const struct contain_limits *l)
{
    return (l->memory_bytes == 0 || *c->place.memory) && (l->processes == 0 || *c->place.pids);
}

/* Says why there are no control groups. scope: why there is no scope. */
static void say_why(struct contain *c, const char *scope)
{
    if (!*c->at.own)
        snprintf(c->why, sizeof c->why, "no control groups of version 2 are mounted");
    else
        snprintf(c->why, sizeof c->why, "the control group %.120s is not writable, and %.150s", c->at.own,
                 scope);
}

/* unit: the name of the scope to enter; NULL: nothing is entered, and c says what would be chosen. */
static void choose(struct contain *c, const struct layout *l, const struct scope_host *h, const char *unit)
{
    char scope[SCOPE_WHY_MAX] = "";
    hierarchy_read(&c->at, l);
    if (wants_scope(&c->at, h, scope) &&
        (!unit || (scope_enter(h, l, unit, &c->at, scope) && hierarchy_is_ours(c->at.own))))
        c->kind = CONTAINED_SCOPE;
    else if (hierarchy_is_ours(c->at.own))
        c->kind = CONTAINED_CGROUP;
    else
        say_why(c, *scope ? scope : (scope_is_available(h, scope), scope));
}

static int refuse(struct contain *c, const struct contain_limits *l)
{
    char why[CONTAIN_WHY_MAX / 2];
    snprintf(why, sizeof why, "%.150s", *c->why ? c->why : "the controller is not delegated to this user");
    snprintf(c->why, sizeof c->why,
             "this node cannot enforce limits.%s: %s; see docs/nodes.md, or drop the limit",
             l->memory_bytes > 0 && !*c->place.memory ? "memory" : "processes", why);
    return 0;
}

int contain_open(struct contain *c, const struct layout *l, const struct scope_host *h,
                 const struct contain_run *run, struct err *err)
{
    char folder[NAME_MAX + 1];
    const struct contain_limits *limits = &run->limits;
    struct err why = {.kind = ERR_NONE};
    *c = (struct contain){.kind = CONTAINED_GROUP, .helper = run->helper};
    snprintf(folder, sizeof folder, "kernsweep-%.180s-%ld", run->name, (long)getpid());
    choose(c, l, h, folder);
    if (c->kind != CONTAINED_GROUP && run->recorded && remains_note(&c->at, l, folder, c->record, err) != 0)
        return -1;
    if (c->kind != CONTAINED_GROUP && hierarchy_make(c->place.base, c->at.own, folder, &why) != 0) {
        c->kind = CONTAINED_GROUP;
        c->place.base[0] = '\0';
        snprintf(c->why, sizeof c->why, "%.300s", why.msg);
    }
    if (c->kind != CONTAINED_GROUP)
        find_controllers(c, folder, limits);
    return limits_hold(c, limits) ? 1 : refuse(c, limits);
}

static void step_back(struct contain *c)
{
    if (!*c->stand)
        return;
    (void)hierarchy_write(c->at.own, "cgroup.subtree_control", "-memory");
    (void)hierarchy_write(c->at.own, "cgroup.subtree_control", "-pids");
    aside_leave(c->stand, c->at.own);
}

void contain_close(struct contain *c)
{
    const char *const folders[] = {c->place.base, c->place.memory, c->place.pids};
    bool gone = true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        gone &= !*folders[i] || contain_folder_remove(folders[i], 1);
    step_back(c);
    if (gone && *c->record)
        remains_forget(c->record);
    *c = (struct contain){.kind = CONTAINED_GROUP};
}

json_t *contain_look(const struct layout *l, const struct scope_host *h)
{
    struct contain c = {.kind = CONTAINED_GROUP};
    choose(&c, l, h, NULL);
    /* A scope's controllers are known once it exists: root's has all, a user's those of its manager. */
    bool scoped = c.kind == CONTAINED_SCOPE, any = c.kind != CONTAINED_GROUP;
    bool memory = any && (scoped ? !*c.at.v1_memory : has_controller(&c.at, "memory"));
    bool pids = any && (scoped ? !*c.at.v1_pids : has_controller(&c.at, "pids"));
    memory |= any && hierarchy_is_ours(c.at.v1_memory);
    pids |= any && hierarchy_is_ours(c.at.v1_pids);
    return json_pack("{s:s, s:s, s:b, s:b, s:b, s:s}", "kind", containment_name(c.kind), "hierarchy",
                     hierarchy_name(&c.at), "memory", (int)memory, "processes", (int)pids, "isolate",
                     (int)isolate_works(), "why", c.why);
}
