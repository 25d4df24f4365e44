#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/last_line.h"
#include "common/base/text.h"
#include "executor/process/child.h"
#include "executor/process/command.h"
#include "executor/suite/container_end.h"
#include "executor/suite/test_group.h"

#include <stdio.h>
#include <string.h>

static const double engine_linger_s = 5; /* what an engine tidies up once its program has ended */

struct step_output {
    const struct step *step;
    struct last_line last;
};

static void on_output(void *arg, const char *data, size_t len)
{
    struct step_output *to = arg;
    runlog_add(to->step->log, data, len);
    last_line_feed(&to->last, data, len);
    if (to->step->output)
        to->step->output(to->step->arg, data, len);
}

static void log_command(struct runlog *log, const struct strvec *argv)
{
    AUTO(buf_release) struct buf line = {.max = LIMIT_LOG_LINE};
    buf_puts(&line, "$ ");
    text_shell_join(&line, strvec_argv(argv));
    buf_putc(&line, '\n');
    runlog_add(log, buf_str(&line), line.len);
}

/* What a program prints last is mostly why it failed. */
static void add_last_line(const struct suite *s, const struct last_line *last, struct assessment *out)
{
    const char *text = last_line_text(last);
    char line[LAST_LINE_SHOWN + 1], ending[REASON_MAX];
    memcpy(ending, out->reason, sizeof ending);
    secrets_printable(&s->secrets, text, strlen(text), line, sizeof line);
    if (out->status != STATUS_OK && *line)
        reason_set(out->reason, "%.280s: %s", ending, line);
}

static int run_logged(struct suite *s, size_t variant, struct step *step, const struct strvec *argv,
                      const struct strvec *env, struct assessment *out, double *wall_s, struct err *err)
{
    struct contain_group group;
    struct process_spec spec = {.argv = argv->v,
                                .env = env->v,
                                .cwd = step->cwd,
                                .input = -1,
                                .files = s->processes.files,
                                .group = &group};
    struct child_limits limits = {.timeout_s = step->timeout_s, .kill_grace_s = s->job.settings.kill_grace_s};
    struct step_output printed = {.step = step};
    struct child_hooks hooks = {.output = on_output, .arg = &printed};
    struct child_result result;
    struct ending ending;
    char program[PROGRAM_SHOWN];
    log_command(step->log, argv);
    struct container_use use;
    const struct lane *lane = s->lanes.count > 0 ? &s->lanes.lane[0] : NULL;
    const struct container_command command = {.name = "step", .cwd = step->cwd, .env = env, .argv = argv->v};
    if (container_begin(&use, s, variant, lane, &command, err) != 0 ||
        test_group_open_step(&group, s, err) != 0)
        return -1;
    if (use.on) {
        spec.argv = use.argv.v;
        limits.linger_s = engine_linger_s;
    }
    int rc = child_run(&s->loop, &spec, &limits, &hooks, &result, err);
    contain_group_close(&group);
    bool gone = container_end_run(&use, &(struct container_end_in){.loop = &s->loop});
    if (rc != 0)
        return -1;
    if (!gone)
        return err_set(
            err, ERR_NODE,
            "the container of %s cannot be removed: it would run alongside the tests; see \"%s ps\"",
            argv->v[0], engine_name(use.engine));
    secrets_printable(&s->secrets, argv->v[0], strlen(argv->v[0]), program, sizeof program);
    child_ending(&result, &limits, program, &ending);
    *out = assess_ending(&ending);
    add_last_line(s, &printed.last, out);
    if (wall_s)
        *wall_s = result.wall_s;
    return 0;
}

int step_run(struct suite *s, size_t variant, const struct step *step, struct assessment *out, double *wall_s,
             struct err *err)
{
    struct step own = *step;
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    /* A build fills no caches of tests: it is used again without running its commands. */
    const char *caches = step->values->text[SUBST_OUT] ? suite_caches(s, variant, false) : NULL;
    if (command_argv(step->command, step->values, &argv, err) == 0 &&
        command_environment(&s->job, &s->job.variant[variant], step->values, caches, &env, err) == 0) {
        if (s->lanes.count > 0) /* so that it does not use a GPU that another run may have */
            lane_environment(&s->lanes.lane[0], &env);
        return run_logged(s, variant, &own, &argv, &env, out, wall_s, err);
    }
    if (err->kind != ERR_INPUT)
        return -1;
    *out = (struct assessment){.status = STATUS_FAIL};
    reason_set(out->reason, "%.500s", err->msg);
    *err = (struct err){.kind = ERR_NONE};
    return 0;
}
