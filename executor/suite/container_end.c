#include "executor/suite/container_end.h"

#include "common/base/alloc.h"
#include "common/base/program_env.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const double answer_limit_s = 30; /* docker's "rm --force" waits for the kill */
static const double linger_s = 5;        /* what an engine tidies up once its command has ended */
static const double kill_grace_s = 2;
static const double heartbeat_s = 1;

static void on_output(void *arg, const char *data, size_t len)
{
    struct container_end *e = arg;
    size_t room = sizeof e->answer - 1 - e->len, n = len < room ? len : room;
    memcpy(e->answer + e->len, data, n);
    e->len += n;
    e->answer[e->len] = '\0';
}

static void on_heartbeat(void *arg, double t_s)
{
    struct container_end *e = arg;
    if (e->in.heartbeat)
        e->in.heartbeat(e->in.arg, t_s);
}

static void make_command(const struct container_end *e, struct strvec *out)
{
    if (e->phase == CONTAINER_ASKED)
        engine_inspect_argv(e->engine, e->name, out);
    else if (e->phase == CONTAINER_TAKEN_AWAY)
        engine_remove_argv(e->engine, e->name, out);
    else
        engine_list_name_argv(e->engine, e->name, out);
}

static bool start_command(struct container_end *e)
{
    struct err ignored = {.kind = ERR_NONE};
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    const struct child_hooks hooks = {.output = on_output, .heartbeat = on_heartbeat, .arg = e};
    e->len = 0;
    e->answer[0] = '\0';
    e->limits = (struct child_limits){.timeout_s = answer_limit_s,
                                      .kill_grace_s = kill_grace_s,
                                      .heartbeat_s = heartbeat_s,
                                      .linger_s = linger_s,
                                      .finishes = true};
    make_command(e, &argv);
    program_env(argv.v[0], &env);
    const struct process_spec spec = {
        .argv = argv.v, .env = env.v, .cwd = "/", .input = -1, .without_stderr = true, .kept = e->in.kept};
    if (child_start(&e->child, e->in.loop, &spec, &e->limits, &hooks, &ignored) == 0)
        return true;
    child_close(&e->child);
    return false;
}

/* done: the command ended with 0. An engine that does not know the container may never have made it. */
static void take_answer(struct container_end *e, bool done)
{
    if (e->phase == CONTAINER_ASKED) {
        e->oom = done && strstr(e->answer, " true");
        e->phase = done ? CONTAINER_TAKEN_AWAY : CONTAINER_LOOKED_FOR;
    } else if (e->phase == CONTAINER_TAKEN_AWAY) {
        e->phase = CONTAINER_LOOKED_FOR;
    } else {
        e->gone = done && !*e->answer;
        e->phase = CONTAINER_ENDED;
    }
}

/* Starts the next command; one that cannot be started counts as unanswered. Returns true if there is none. */
static bool go_on(struct container_end *e)
{
    while (e->phase != CONTAINER_ENDED) {
        if (start_command(e))
            return false;
        take_answer(e, false);
    }
    return true;
}

bool container_end_begin(struct container_end *e, struct container_use *use,
                         const struct container_end_in *in)
{
    *e = (struct container_end){.in = *in, .engine = use->engine, .name = use->name, .gone = true};
    bool to_end = use->on && engine_has_containers(use->engine);
    strvec_release(&use->argv);
    use->on = false;
    if (!to_end)
        return true;
    e->gone = false;
    e->phase = CONTAINER_ASKED;
    return go_on(e);
}

static bool ended_well(const struct child_result *r)
{
    int status = r->process.wait_status;
    return r->process.ended && !r->process.exec_errno && r->stop == STOP_NONE && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

bool container_end_turn(struct container_end *e)
{
    if (e->phase == CONTAINER_ENDED)
        return true;
    if (!child_turn(&e->child))
        return false;
    child_close(&e->child);
    take_answer(e, ended_well(&e->child.result));
    return go_on(e);
}

void container_end_finish(struct container_end *e)
{
    struct err ignored;
    while (e->phase != CONTAINER_ENDED) {
        if (loop_wait(e->in.loop, &ignored) == 0) {
            container_end_turn(e);
            continue;
        }
        child_close(&e->child);
        e->phase = CONTAINER_ENDED;
    }
}

bool container_end_run(struct container_use *use, const struct container_end_in *in)
{
    struct container_end e;
    if (!container_end_begin(&e, use, in))
        container_end_finish(&e);
    return e.gone;
}
