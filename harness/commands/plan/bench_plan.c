#include "harness/commands/plan/bench_plan.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/regex.h"
#include "common/base/text.h"
#include "common/contract/own_metric.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/words.h"
#include "harness/commands/plan/bench_parameters.h"
#include "harness/propose/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_MAX = 1 << 20, LOCK_WAIT_S = 60 };

static const double setup_limit_s = 600;

/* On this machine, a command runs in the current folder, as it would by hand; elsewhere in the home folder,
 * rather than in the test's own folder. */
static int find_folder(bool local, char out[FS_PATH_MAX], struct err *err)
{
    snprintf(out, FS_PATH_MAX, ".");
    return !local || getcwd(out, FS_PATH_MAX) ? 0
                                              : err_set_errno(err, ERR_STORAGE, errno, "the current folder");
}

static int push_command(const struct bench_request *b, const char *command, struct strvec *argv,
                        struct err *err)
{
    AUTO(strvec_release) struct strvec words = {0};
    if (b->shell) {
        strvec_pushl(argv, "sh", "-c", NULL);
        words_push_literal(argv, command, false);
        return 0;
    }
    if (words_need_shell(command))
        return err_set(err, ERR_INPUT, "%.100s: has shell characters: quote them, or give --shell", command);
    if (words_split(command, &words, err) != 0)
        return -1;
    for (size_t i = 0; i < words.n; i++)
        words_push_literal(argv, words.v[i], false);
    return 0;
}

/* A command beside those that are measured runs in the same folder, in a shell. */
static json_t *encode_beside(const char *folder, const char *text, const json_t *parameters)
{
    static const char script[] = "cd && cd \"$1\" && eval \"$2\"";
    AUTO(strvec_release) struct strvec words = {0};
    AUTO_FREE char *command = bench_parameters_apply(text, parameters);
    json_t *run = json_array();
    strvec_pushl(&words, "sh", "-c", script, "sh", NULL);
    words_push_literal(&words, folder, false);
    words_push_literal(&words, command, false);
    for (size_t i = 0; i < words.n; i++)
        json_array_append_new(run, json_string(words.v[i]));
    return run;
}

static void add_beside(const struct bench_request *b, size_t i, const char *folder, json_t *variant)
{
    const json_t *values = json_array_get(b->parameters, i);
    if (b->setup)
        json_object_set_new(variant, "gates",
                            json_pack("[{s:s, s:s, s:o, s:f}]", "kind", "command", "name", "setup", "run",
                                      encode_beside(folder, b->setup, values), "timeout_s", setup_limit_s));
    if (b->prepare)
        json_object_set_new(variant, "prepare", encode_beside(folder, b->prepare, values));
    if (b->cleanup)
        json_object_set_new(variant, "cleanup", encode_beside(folder, b->cleanup, values));
    if (b->ignore_failure)
        json_object_set_new(variant, "ignore_failure", json_true());
}

static json_t *encode_variant(const struct bench_request *b, size_t i, struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    char name[32], folder[FS_PATH_MAX];
    snprintf(name, sizeof name, "c%zu", i + 1);
    if (find_folder(strcmp(b->node, "local") == 0, folder, err) != 0 ||
        push_command(b, b->command[i], &argv, err) != 0)
        return NULL;
    json_t *run = json_array();
    for (size_t k = 0; k < argv.n; k++)
        json_array_append_new(run, json_string(argv.v[k]));
    json_t *variant =
        json_pack("{s:s, s:s, s:o}", "name", i < b->names ? b->name[i] : name, "cwd", folder, "run", run);
    if (variant)
        add_beside(b, i, folder, variant);
    return variant;
}

/* A group may be called like a timing that is built in, which needs no metric: it has its unit and direction.
 */
static bool is_built_in(const struct bench_request *b, const char *name, struct err *err)
{
    bool timing = strcmp(name, "kernel_ms") == 0 || strcmp(name, "prefill_s") == 0;
    if (!own_metric_is_reserved(name) || err->kind != ERR_NONE)
        return false;
    if (!timing || b->unit || b->better)
        err_set(err, ERR_INPUT, "--pattern: the name %s is built in%s: give the group another name", name,
                timing ? ", with a unit and a direction" : "");
    return true;
}

/* Each named group is a metric; the first one is the primary metric. */
static json_t *metrics_of_pattern(const struct bench_request *b, struct err *err)
{
    struct regex re = {.code = NULL};
    struct err why = {0};
    json_t *list = json_array();
    if (regex_compile(&re, b->pattern, &why) != 0)
        err_set(err, ERR_INPUT, "--pattern: %s", why.msg);
    else if (regex_names(&re) == 0)
        err_set(err, ERR_INPUT, "--pattern: expected a group named like (?<time>[0-9.]+), found none");
    size_t first = 0, at = SIZE_MAX, group;
    for (size_t i = 0; err->kind == ERR_NONE && i < regex_names(&re); i++) {
        if (is_built_in(b, regex_name(&re, i, &group), err))
            continue;
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s}", "name", regex_name(&re, i, &group), "unit",
                                        b->unit ? b->unit : "", "better", b->better ? b->better : "less"));
        if (group < at) {
            at = group;
            first = json_array_size(list) - 1;
        }
    }
    json_object_set_new(json_array_get(list, first), "primary", json_true());
    regex_release(&re);
    return list;
}

static int add_pattern(const struct bench_request *b, json_t *plan, struct err *err)
{
    json_t *metrics = metrics_of_pattern(b, err);
    if (err->kind != ERR_NONE) {
        json_decref(metrics);
        return -1;
    }
    json_object_set_new(plan, "timings", json_pack("{s:s, s:s}", "kind", "regex", "pattern", b->pattern));
    return json_object_set_new(plan, "metrics", metrics);
}

/* Adds what `kernsweep init` would propose for such an output. */
static int add_sample(const struct bench_request *b, json_t *plan, struct err *err)
{
    struct proposal proposal;
    AUTO(buf_release) struct buf text = {.max = SAMPLE_MAX};
    AUTO(strvec_release) struct strvec words = {0};
    if (fs_read_file(b->sample, SAMPLE_MAX, &text, err) != 0)
        return -1;
    for (size_t i = 0; i < b->count; i++)
        if (b->shell || words_split(b->command[i], &words, err) != 0)
            strvec_push(&words, b->command[i]);
    *err = (struct err){0};
    propose_from_output(&proposal, buf_str(&text), text.len, &words);
    if (proposal.kind == PROPOSE_WALL)
        return err_set(err, ERR_INPUT, "--sample: no number with a unit was recognised in %.200s", b->sample);
    const struct draft d = {.ticket = "bench", .node = "local", .proposal = &proposal};
    json_auto_t *draft = draft_encode(&d);
    json_object_set(plan, "timings", json_object_get(draft, "timings"));
    json_object_set(plan, "metrics", json_object_get(draft, "metrics"));
    return 0;
}

static int add_timings(const struct bench_request *b, json_t *plan, struct err *err)
{
    if (b->sample && b->pattern)
        return err_set(err, ERR_INPUT, "bench: give --sample or --pattern, not both");
    if (!b->pattern && (b->unit || b->better))
        return err_set(err, ERR_INPUT, "bench: --unit and --better describe what --pattern finds");
    if (b->pattern)
        return add_pattern(b, plan, err);
    if (b->sample)
        return add_sample(b, plan, err);
    return json_object_set_new(plan, "timings", json_string("wall"));
}

static int add_variants(const struct bench_request *b, json_t *plan, struct err *err)
{
    json_t *variants = json_array();
    json_object_set_new(plan, "variants", variants);
    for (size_t i = 0; i < b->count; i++) {
        json_t *one = encode_variant(b, i, err);
        if (!one)
            return -1;
        json_array_append_new(variants, one);
    }
    return 0;
}

static int check_names(const struct bench_request *b, struct err *err)
{
    if (b->names > b->count)
        return err_set(err, ERR_INPUT, "--name: %zu names for %zu commands", b->names, b->count);
    for (size_t i = 0; i < b->names; i++)
        if (!text_is_name(b->name[i]))
            return err_set(err, ERR_INPUT,
                           "--name: expected letters, digits, '.', '_' and '-', found \"%.80s\"", b->name[i]);
    return 0;
}

static const double until_least = 0.02, until_most = 100;
static const char repeat_usual[] = "10", repeat_until[] = "100";

/* The half widths of two medians add up to that of their ratio at the most. */
static int encode_repetitions(const struct bench_request *b, json_t **out, struct err *err)
{
    int64_t repeat;
    double percent;
    char *end;
    const char *text = b->repeat ? b->repeat : b->until ? repeat_until : repeat_usual;
    if (cmd_number("--repeat", text, 1, LIMIT_REPETITIONS, &repeat, err) != 0)
        return -1;
    if (!b->until) {
        *out = json_integer((json_int_t)repeat);
        return 0;
    }
    percent = strtod(b->until, &end);
    if (end == b->until || *end || !(percent >= until_least && percent <= until_most))
        return err_set(err, ERR_INPUT, "--until: expected a percentage of %g to %g, found \"%.80s\"",
                       until_least, until_most, b->until);
    *out = json_pack("{s:f, s:i, s:I}", "until", percent / 2, "least", repeat < 10 ? (int)repeat : 10, "most",
                     (json_int_t)repeat);
    return 0;
}

int bench_plan_make(const struct bench_request *b, struct plan *p, struct err *err)
{
    int64_t warmup = 0, timeout = 600;
    json_t *repetitions = NULL;
    if (check_names(b, err) != 0 || cmd_number("--warmup", b->warmup, 0, 100, &warmup, err) != 0 ||
        cmd_number("--timeout", b->timeout, 1, 604800, &timeout, err) != 0 ||
        encode_repetitions(b, &repetitions, err) != 0)
        return -1;
    json_t *plan = json_pack("{s:s, s:s, s:s, s:[i], s:o, s:I, s:{s:I}, s:i}", "schema", PROTO_SCHEMA_PLAN,
                             "ticket", b->ticket ? b->ticket : "bench", "node", b->node, "contexts", 1,
                             "repetitions", repetitions, "warmup", (json_int_t)warmup, "timeouts", "default",
                             (json_int_t)timeout, "lock_wait_s", LOCK_WAIT_S);
    if (!plan)
        return err_set(err, ERR_INPUT, "bench: --node and --ticket: expected UTF-8");
    if (b->workdir)
        json_object_set_new(plan, "workdir", json_string(b->workdir));
    if (add_timings(b, plan, err) != 0 || add_variants(b, plan, err) != 0) {
        json_decref(plan);
        return -1;
    }
    return plan_take(p, plan, "bench", err);
}
