#include "common/contract/scheduler.h"

#include "common/base/text.h"
#include "common/contract/proto.h"
#include "common/contract/settings.h"

#include <stdlib.h>
#include <string.h>

enum { GPUS_A_JOB_MAX = 64 };

static const char *const kinds[] = {"slurm", NULL};
static const char *const granularities[] = {"variant", "test", NULL};
static const char *const builds[] = {"compute", "login", NULL};

/* Slurm interprets the word; here it only has to be printable and harmless in a shell or a log. */
static bool is_word(const char *s)
{
    for (; *s; s++)
        if (*s <= ' ' || *s > '~' || strchr("\"'`\\$;<>", *s))
            return false;
    return true;
}

#define WORD_KEY(member)                                                                                     \
    {                                                                                                        \
        KEY_AT(struct scheduler, member), .kind = KEY_TEXT, .in = IN_BOTH, .least = 1, .most = 256,          \
                                          .text = "", .accepts = is_word, .expected = word_expected          \
    }
static const char word_expected[] =
    "a word as Slurm takes it, of 1 to 256 characters without spaces, quotes or shell signs";

const struct key scheduler_keys[] = {
    {KEY_AT(struct scheduler, kind), .kind = KEY_WORD, .in = IN_BOTH, .required = true, .words = kinds},
    WORD_KEY(partition),
    WORD_KEY(account),
    WORD_KEY(qos),
    WORD_KEY(gres),
    WORD_KEY(constraint),
    WORD_KEY(mem),
    {KEY_AT(struct scheduler, node_class), .kind = KEY_NAME, .in = IN_BOTH, .most = LIMIT_NAME},
    {KEY_AT(struct scheduler, exclusive), .kind = KEY_FLAG, .in = IN_BOTH},
    {KEY_AT(struct scheduler, granularity), .kind = KEY_CHOICE, .in = IN_BOTH, .words = granularities},
    {KEY_AT(struct scheduler, build), .kind = KEY_CHOICE, .in = IN_BOTH, .words = builds},
    {KEY_AT(struct scheduler, cpus), .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 4096},
    {KEY_AT(struct scheduler, max_parallel), .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 100000},
    {KEY_AT(struct scheduler, array_max), .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 100000,
     .usual = 1000},
    {KEY_AT(struct scheduler, slack_s), .kind = KEY_NUMBER, .in = IN_BOTH, .least = 60, .most = DAY_S,
     .usual = 120},
    {KEY_AT(struct scheduler, start_patience_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = WEEK_S},
    {KEY_AT(struct scheduler, patience_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = WEEK_S, .usual = -1},
    {KEY_AT(struct scheduler, poll_s), .kind = KEY_NUMBER, .in = IN_BOTH, .least = 0.5, .most = 600,
     .usual = 5},
    {.name = "comment", .kind = KEY_PART, .in = IN_BOTH},
    {.name = NULL},
};

static const char *gpu_entry(const char *gres)
{
    for (const char *at = gres; *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL)) {
        if (strncmp(at, "gres/", 5) == 0)
            at += 5;
        if (strncmp(at, "gpu", 3) == 0 && strchr(":,=", at[3]))
            return at;
    }
    return NULL;
}

size_t scheduler_gpus(const struct scheduler *s)
{
    const char *entry = s->on ? gpu_entry(s->gres) : NULL, *number = entry;
    for (size_t i = 0, len = entry ? strcspn(entry, ",") : 0; i < len; i++)
        if (entry[i] == ':' || entry[i] == '=')
            number = entry + i + 1;
    size_t count = number ? (size_t)strtoul(number, NULL, 10) : 0;
    return !entry ? 0 : count > 0 && count <= GPUS_A_JOB_MAX ? count : 1;
}

/* All nodes that the plan does not distinguish form one class. */
static const char *default_class(const struct scheduler *s)
{
    if (text_is_name(s->constraint))
        return s->constraint;
    return text_is_name(s->partition) ? s->partition : s->kind;
}

int scheduler_load(struct scheduler *s, const struct json_at *at, double patience_s, struct err *err)
{
    const struct key_table table = {scheduler_keys, s};
    *s = (struct scheduler){.partition = ""};
    if (!at->value || json_is_null(at->value))
        return 0;
    if (keys_read(at, IN_BOTH, &table, 1, err) != 0)
        return -1;
    if (!s->node_class)
        s->node_class = default_class(s);
    if (s->patience_s < 0)
        s->patience_s = patience_s;
    s->on = true;
    return 0;
}
