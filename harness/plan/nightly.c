#include "harness/plan/nightly.h"

#include "common/contract/proto.h"

#include <string.h>

static const struct {
    const char *name;
    enum nightly_news news;
} names[] = {{"regression", NEWS_REGRESSION},
             {"failure", NEWS_FAILURE},
             {"blocked", NEWS_BLOCKED},
             {"recovered", NEWS_RECOVERED},
             {"always", NEWS_ALWAYS}};

static unsigned news_of(const char *word)
{
    for (size_t i = 0; word && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, word) == 0)
            return names[i].news;
    return 0;
}

static int check_command(const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!json_is_array(at->value) || n == 0 || n > LIMIT_ARGV)
        return json_fail(at, err, "expected a command as an array of strings");
    for (size_t i = 0; i < n; i++) {
        struct json_at word = json_element(at, i);
        const char *s = json_string_value(word.value);
        if (!s || (i == 0 && !*s) || strlen(s) > LIMIT_ARG_BYTES)
            return json_fail(&word, err, "expected a string%s", i == 0 ? " that names a program" : "");
    }
    return 0;
}

static int check_entry(const struct json_at *at, struct err *err)
{
    static const char *const keys[] = {"on", "run", NULL};
    if (json_keys(at, keys, err) != 0)
        return -1;
    struct json_at on = json_member(at, "on"), run = json_member(at, "run");
    if (!json_is_array(on.value) || json_array_size(on.value) == 0)
        return json_fail(&on, err, "expected an array of regression, failure, blocked, recovered, always");
    for (size_t i = 0; i < json_array_size(on.value); i++) {
        struct json_at word = json_element(&on, i);
        if (!news_of(json_string_value(word.value)))
            return json_fail(&word, err, "expected regression, failure, blocked, recovered or always");
    }
    return check_command(&run, err);
}

int plan_nightly_load(struct plan_nightly *n, const struct json_at *root, struct err *err)
{
    static const char *const keys[] = {"keep_bundles", "keep_samples", "cache_days", NULL};
    struct json_at notify = json_member(root, "notify"), retention = json_member(root, "retention");
    *n = (struct plan_nightly){0};
    if (retention.value &&
        (json_keys(&retention, keys, err) != 0 ||
         json_get_int_def(&retention, "keep_bundles", 1, 100000, &n->keep_bundles, err) != 0 ||
         json_get_int_def(&retention, "keep_samples", 1, 100000, &n->keep_samples, err) != 0 ||
         json_get_int_def(&retention, "cache_days", 1, 36500, &n->cache_days, err) != 0))
        return -1;
    if (!notify.value)
        return 0;
    if (!json_is_array(notify.value) || json_array_size(notify.value) > 16)
        return json_fail(&notify, err, "expected an array of at most 16 {\"on\": [...], \"run\": [...]}");
    for (size_t i = 0; i < json_array_size(notify.value); i++) {
        struct json_at entry = json_element(&notify, i);
        if (check_entry(&entry, err) != 0)
            return -1;
    }
    n->notify = notify.value;
    return 0;
}

unsigned plan_nightly_wants(const json_t *entry)
{
    unsigned set = 0;
    size_t i;
    const json_t *word;
    json_array_foreach(json_object_get(entry, "on"), i, word) set |= news_of(json_string_value(word));
    return set;
}
