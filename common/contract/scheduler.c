#include "common/contract/scheduler.h"

#include "common/base/text.h"

#include <string.h>

enum { WORD_MAX = 256, CLASS_MAX = 64 };

static const double day_s = 86400, week_s = 7 * 86400;

static const char *const known[] = {"kind",         "partition", "account",     "qos",
                                    "gres",         "mem",       "constraint",  "node_class",
                                    "exclusive",    "cpus",      "granularity", "build",
                                    "max_parallel", "array_max", "slack_s",     "start_patience_s",
                                    "patience_s",   "poll_s",    "comment",     NULL};

/* One word that Slurm's own parsers take apart: printable, and nothing that a shell or a log would trip over.
 */
static int get_word(const struct json_at *at, const char *key, const char **out, struct err *err)
{
    *out = "";
    if (json_get_str_def(at, key, out, err) != 0)
        return -1;
    size_t len = strlen(*out);
    bool good = len > 0 && len <= WORD_MAX;
    for (size_t i = 0; i < len; i++)
        good &= (*out)[i] > ' ' && (*out)[i] <= '~' && !strchr("\"'`\\$;<>", (*out)[i]);
    if (good)
        return 0;
    struct json_at value = json_member(at, key);
    return value.value ? json_fail(&value, err,
                                   "expected a word as Slurm takes it, of 1 to %d characters "
                                   "without spaces, quotes or shell signs",
                                   WORD_MAX)
                       : 0;
}

static int get_words(struct scheduler *s, const struct json_at *at, struct err *err)
{
    return get_word(at, "partition", &s->partition, err) != 0 ||
                   get_word(at, "account", &s->account, err) != 0 || get_word(at, "qos", &s->qos, err) != 0 ||
                   get_word(at, "gres", &s->gres, err) != 0 ||
                   get_word(at, "constraint", &s->constraint, err) != 0 ||
                   get_word(at, "mem", &s->mem, err) != 0
               ? -1
               : 0;
}

/* *second is set when the key has the second of two words. */
static int get_choice(const struct json_at *at, const char *key, const char *first, const char *other,
                      bool *second, struct err *err)
{
    const char *word = first;
    struct json_at value = json_member(at, key);
    if (json_get_str_def(at, key, &word, err) != 0)
        return -1;
    *second = strcmp(word, other) == 0;
    if (*second || strcmp(word, first) == 0)
        return 0;
    return json_fail(&value, err, "expected \"%s\" or \"%s\", found \"%.80s\"", first, other, word);
}

static int get_choices(struct scheduler *s, const struct json_at *at, struct err *err)
{
    bool test, login;
    if (get_choice(at, "granularity", "variant", "test", &test, err) != 0 ||
        get_choice(at, "build", "compute", "login", &login, err) != 0)
        return -1;
    s->granularity = test ? GRANULARITY_TEST : GRANULARITY_VARIANT;
    s->build = login ? BUILD_LOGIN : BUILD_COMPUTE;
    return json_get_bool_def(at, "exclusive", &s->exclusive, err);
}

static int get_numbers(struct scheduler *s, const struct json_at *at, double patience_s, struct err *err)
{
    s->array_max = 1000;
    s->slack_s = 120;
    s->patience_s = patience_s;
    s->poll_s = 5;
    return json_get_int_def(at, "cpus", 1, 4096, &s->cpus, err) != 0 ||
                   json_get_int_def(at, "max_parallel", 1, 100000, &s->max_parallel, err) != 0 ||
                   json_get_int_def(at, "array_max", 1, 100000, &s->array_max, err) != 0 ||
                   json_get_num_def(at, "slack_s", 60, day_s, &s->slack_s, err) != 0 ||
                   json_get_num_def(at, "start_patience_s", 0, week_s, &s->start_patience_s, err) != 0 ||
                   json_get_num_def(at, "patience_s", 0, week_s, &s->patience_s, err) != 0 ||
                   json_get_num_def(at, "poll_s", 0.5, 600, &s->poll_s, err) != 0
               ? -1
               : 0;
}

/* Nodes that a plan does not tell apart count as equal. */
static int get_class(struct scheduler *s, const struct json_at *at, struct err *err)
{
    s->node_class = text_is_name(s->constraint)  ? s->constraint
                    : text_is_name(s->partition) ? s->partition
                                                 : "slurm";
    if (json_get_str_def(at, "node_class", &s->node_class, err) != 0)
        return -1;
    struct json_at value = json_member(at, "node_class");
    return text_is_name(s->node_class)
               ? 0
               : json_fail(&value, err, "expected a name of letters, digits, '.', '_' and '-', at most %d",
                           CLASS_MAX);
}

int scheduler_load(struct scheduler *s, const struct json_at *at, double patience_s, struct err *err)
{
    const char *kind;
    *s = (struct scheduler){.partition = ""};
    if (!at->value || json_is_null(at->value))
        return 0;
    struct json_at kind_at = json_member(at, "kind");
    if (json_keys(at, known, err) != 0 || json_get_str(at, "kind", &kind, err) != 0)
        return -1;
    if (strcmp(kind, "slurm") != 0)
        return json_fail(&kind_at, err, "expected \"slurm\", found \"%.80s\"", kind);
    if (get_words(s, at, err) != 0 || get_choices(s, at, err) != 0 ||
        get_numbers(s, at, patience_s, err) != 0 || get_class(s, at, err) != 0)
        return -1;
    s->kind = kind;
    s->on = true;
    return 0;
}
