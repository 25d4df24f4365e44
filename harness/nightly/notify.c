#include "harness/nightly/notify.h"

#include "common/base/alloc.h"
#include "common/base/environment.h"
#include "common/base/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void notify_news_text(unsigned news, char *out)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{NEWS_REGRESSION, "regression"},     {NEWS_FAILURE, "failure"},
                 {NEWS_BLOCKED, "blocked"},           {NEWS_RECOVERED, "recovered"},
                 {NEWS_INCONCLUSIVE, "inconclusive"}, {NEWS_SUSPECTED, "suspected"}};
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (news & names[i].bit)
            n += (size_t)snprintf(out + n, 64 - n, "%s%s", n ? "," : "", names[i].name);
    if (n == 0)
        snprintf(out, 64, "quiet");
}

/* Names the command but not its arguments, which may contain a password. */
static int check_result(const char *name, const struct run_result *res, struct err *err)
{
    if (res->stop == RUN_DEADLINE)
        return err_set(err, ERR_STORAGE, "notify: %s took more than %d s and was stopped", name,
                       NOTIFY_DEADLINE_S);
    if (res->stop != RUN_NOT_STOPPED)
        return err_wrap(err, "notify: %s", name);
    if (!res->exited)
        return err_set(err, ERR_STORAGE, "notify: %s was killed by signal %s", name, res->signal);
    if (res->exit_code == SPAWN_NOT_FOUND || res->exit_code == SPAWN_NOT_EXECUTABLE)
        return err_set(err, ERR_STORAGE, "notify: cannot run %s", name);
    return res->exit_code == 0
               ? 0
               : err_set(err, ERR_STORAGE, "notify: %s failed (exit code %d)", name, res->exit_code);
}

static int run_command(const struct strvec *argv, const struct strvec *env, const char *input,
                       struct err *err)
{
    struct run_result res;
    if (argv->n == 0)
        return err_set(err, ERR_INTERNAL, "notify: no command");
    const struct run run = {.argv = strvec_argv(argv),
                            .env = strvec_argv(env),
                            .input = input,
                            .input_len = strlen(input),
                            .output_to_stderr = true,
                            .end_group = true,
                            .secret_argv = true,
                            .deadline_s = NOTIFY_DEADLINE_S,
                            .grace_s = 1};
    fflush(NULL); /* so that our output precedes that of the command */
    run_program(&run, &res, err);
    return check_result(run.argv[0], &res, err);
}

static int notify_one(const json_t *words, const char *summary, const char *news, const char *report,
                      struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    AUTO(strvec_release) struct strvec env = {0};
    size_t i;
    const json_t *word;
    json_array_foreach(words, i, word) strvec_push(&argv, json_string_value(word));
    environment_copy(&env);
    environment_set(&env, "KERNSWEEP_NEWS", news);
    AUTO_FREE char *absolute = realpath(report, NULL); /* NULL for a night without one: "" stays */
    environment_set(&env, "KERNSWEEP_REPORT", absolute ? absolute : report);
    return run_command(&argv, &env, summary, err);
}

int notify_all(const json_t *entries, unsigned news, const json_t *summary, const char *report,
               struct err *err)
{
    char text[64];
    int failed = 0;
    size_t i;
    const json_t *entry;
    AUTO_FREE char *input = json_dumps(summary, JSON_INDENT(2) | JSON_SORT_KEYS);
    notify_news_text(news, text);
    json_array_foreach(entries, i, entry)
    {
        struct err one = {0};
        if (!(plan_nightly_wants(entry) & (news | NEWS_ALWAYS)))
            continue;
        if (notify_one(json_object_get(entry, "run"), input ? input : "", text, report, &one) != 0 &&
            failed++ == 0)
            *err = one;
    }
    return failed;
}
