#include "executor/node/gpu_choice.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 8 << 10, WORDS_MAX = 4 << 10 };

/* Marks of the node's GPUs, by place in the array. */
struct marks {
    size_t count;
    bool on[GPU_USE_MAX];
};

static size_t count_marks(const struct marks *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->on[i];
    return n;
}

/* A GPU whose device files this user may not open is not there for the tests. */
static bool is_usable(const json_t *gpu)
{
    return !json_is_false(json_object_get(gpu, "usable"));
}

static bool find_word(const char *word, const json_t *gpus, size_t count, size_t *place)
{
    for (*place = 0; *place < count; ++*place)
        if (gpu_word_names(word, json_array_get(gpus, *place)))
            return true;
    return false;
}

/* Returns false when a word of the list names no GPU: then it is not known which GPUs were granted. */
static bool mark_granted(const char *granted, const json_t *gpus, struct marks *m)
{
    char words[WORDS_MAX], *at = words, *word;
    size_t place;
    if (strlen(granted) >= sizeof words)
        return false;
    memset(m->on, 0, sizeof m->on);
    snprintf(words, sizeof words, "%s", granted);
    while ((word = strsep(&at, ",")) != NULL) {
        if (!find_word(word, gpus, m->count, &place))
            return false;
        m->on[place] = true;
    }
    return true;
}

/* Returns false if the list cannot be understood. */
static bool mark_available(const char *granted, const json_t *gpus, struct marks *m)
{
    *m = (struct marks){.count = json_array_size(gpus) < GPU_USE_MAX ? json_array_size(gpus) : GPU_USE_MAX};
    for (size_t i = 0; i < m->count; i++)
        m->on[i] = is_usable(json_array_get(gpus, i));
    return !granted || mark_granted(granted, gpus, m);
}

static void list_available(const json_t *gpus, const struct marks *m, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < m->count && used < size; i++) {
        char id[GPU_WORD_MAX + 1];
        if (!m->on[i])
            continue;
        gpu_id(json_array_get(gpus, i), id);
        used += (size_t)snprintf(out + used, size - used, "%s%zu (%s)", used ? ", " : "", i, id);
    }
}

static int fail_unknown(const char *word, const json_t *gpus, const struct marks *available, struct err *err)
{
    char list[LIST_MAX];
    list_available(gpus, available, list, sizeof list);
    return err_set(err, ERR_NODE, "the plan's \"gpus\" has \"%s\", which this run cannot use; it can use %s",
                   word, *list ? list : "none");
}

static int keep_listed(const struct gpu_wish *wish, const json_t *gpus, struct marks *m, struct err *err)
{
    const struct marks available = *m;
    size_t place;
    memset(m->on, 0, sizeof m->on);
    for (size_t i = 0; i < wish->count; i++) {
        if (!find_word(wish->word[i], gpus, m->count, &place) || !available.on[place])
            return fail_unknown(wish->word[i], gpus, &available, err);
        if (m->on[place])
            return err_set(err, ERR_NODE,
                           "the plan's \"gpus\" has the GPU %zu twice, the second time as \"%s\"", place,
                           wish->word[i]);
        m->on[place] = true;
    }
    return 0;
}

/* Groups are neighbours by index and keep their places, so that they are the same every night. */
static int make_groups(struct gpu_choice *c, size_t per_test, const json_t *gpus, const struct marks *m,
                       struct err *err)
{
    size_t wanted = count_marks(m), seen = 0;
    c->group = xcalloc(wanted / per_test + 1, sizeof *c->group);
    for (size_t i = 0; i < m->count && seen / per_test < wanted / per_test; i++) {
        if (!m->on[i])
            continue;
        c->count = seen++ / per_test + 1;
        gpu_use_add(&c->group[c->count - 1], json_array_get(gpus, i), i);
    }
    if (wanted > 0 && c->count == 0)
        return err_set(err, ERR_NODE,
                       "each test wants %zu GPUs and this run can use %zu: lower \"gpus_per_test\"", per_test,
                       wanted);
    return 0;
}

/* Counts the tests that have that GPU as their home. */
static size_t count_at_home(const struct job *job, const json_t *gpus, const char *name)
{
    size_t n = 0, place;
    for (size_t i = 0; i < job->test_count; i++)
        n += job->test[i].home && find_word(job->test[i].home, gpus, json_array_size(gpus), &place) &&
             gpu_use_is(name, json_array_get(gpus, place), place);
    return n;
}

static void put_home_first(struct gpu_choice *c, const struct job *job, const json_t *gpus)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t n = count_at_home(job, gpus, c->group[i].name[0]);
        best = n > most ? i : best;
        most = n > most ? n : most;
    }
    const struct gpu_use home = c->count > 0 ? c->group[best] : (struct gpu_use){.count = 0};
    memmove(c->group + 1, c->group, best * sizeof *c->group);
    if (c->count > 0)
        c->group[0] = home;
}

/* There is one lane, with the GPUs that the environment of the tests lets them see. */
static void leave_to_environment(struct gpu_choice *c, const struct job *job, const json_t *gpus)
{
    c->group = xcalloc(1, sizeof *c->group);
    gpu_use_visible(&c->group[0], job, gpus);
    c->count = c->group[0].count > 0;
}

/* A scheduler gave the GPUs to the tests, which then see all of them, as those without "gpus" expect. */
static void leave_to_scheduler(struct gpu_choice *c, const json_t *gpus, const struct marks *m, bool known)
{
    c->group = xcalloc(1, sizeof *c->group);
    for (size_t i = 0; known && i < m->count; i++)
        if (m->on[i])
            gpu_use_add(&c->group[0], json_array_get(gpus, i), i);
    c->count = c->group[0].count > 0;
    c->choose = c->granted > 0;
}

/* A job that has its node for itself gets all GPUs there, whatever it asked for. */
static void keep_asked(struct gpu_choice *c, const struct job *job, struct marks *m)
{
    size_t asked = scheduler_gpus(&job->scheduler), granted = count_marks(m), kept = 0;
    if (asked == 0 || granted <= asked)
        return;
    c->granted = granted;
    for (size_t i = 0; i < m->count; i++)
        m->on[i] = m->on[i] && kept++ < asked;
}

static int fail_granted(const char *list, struct err *err)
{
    return err_set(
        err, ERR_NODE,
        "this run was given the GPUs \"%.200s\", which are not among those that the node shows: remove "
        "\"gpus\" from the plan, or have them named by index or unique id",
        list);
}

/* Chooses the GPUs that the plan's "gpus" asks for. */
static int choose(struct gpu_choice *c, const struct job *job, const json_t *gpus, struct marks *m,
                  struct err *err)
{
    static const enum gpu_rule rules[] = {
        [GPUS_ONE] = GPU_RULE_FIRST, [GPUS_ALL] = GPU_RULE_SOME, [GPUS_LISTED] = GPU_RULE_EVERY};
    if (job->gpus.amount == GPUS_LISTED && keep_listed(&job->gpus, gpus, m, err) != 0)
        return -1;
    c->rule = rules[job->gpus.amount];
    c->choose = true;
    if (make_groups(c, job->gpus.per_test, gpus, m, err) != 0)
        return -1;
    if (c->rule == GPU_RULE_FIRST)
        put_home_first(c, job, gpus);
    return 0;
}

int gpu_choice_make(struct gpu_choice *out, const struct job *job, const json_t *gpus,
                    const struct gpu_grant *grant, struct err *err)
{
    struct marks m;
    bool known = mark_available(grant->list, gpus, &m);
    *out = (struct gpu_choice){.rule = GPU_RULE_EVERY};
    if (grant->by_scheduler && grant->list && known)
        keep_asked(out, job, &m);
    if (job->gpus.given)
        return known ? choose(out, job, gpus, &m, err) : fail_granted(grant->list, err);
    if (!grant->by_scheduler && known && !gpu_use_chosen_by_job(job))
        return choose(out, job, gpus, &m, err);
    if (grant->by_scheduler)
        leave_to_scheduler(out, gpus, &m, known && grant->list);
    else
        leave_to_environment(out, job, gpus);
    return 0;
}

void gpu_choice_drop(struct gpu_choice *c, size_t group)
{
    c->count--;
    memmove(c->group + group, c->group + group + 1, (c->count - group) * sizeof *c->group);
}

void gpu_choice_release(struct gpu_choice *c)
{
    free(c->group);
    *c = (struct gpu_choice){.count = 0};
}
