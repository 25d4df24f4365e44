#include "harness/plan/nightly.h"

#include "common/contract/command.h"

#include <string.h>

static const struct {
    const char *name;
    enum nightly_news news;
} names[] = {
    {"regression", NEWS_REGRESSION}, {"failure", NEWS_FAILURE},           {"blocked", NEWS_BLOCKED},
    {"recovered", NEWS_RECOVERED},   {"inconclusive", NEWS_INCONCLUSIVE}, {"suspected", NEWS_SUSPECTED},
    {"always", NEWS_ALWAYS}};

static unsigned news_of(const char *word)
{
    for (size_t i = 0; word && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, word) == 0)
            return names[i].news;
    return 0;
}

const struct key notification_keys[] = {
    {.name = "on", .kind = KEY_PART, .in = IN_PLAN, .required = true},
    {.name = "run", .kind = KEY_PART, .in = IN_PLAN, .required = true},
    {.name = NULL},
};

static int check_entry(const struct json_at *at, struct err *err)
{
    const struct key_table table = {notification_keys, NULL};
    struct json_at on = json_member(at, "on"), run = json_member(at, "run");
    struct command command = {0};
    if (keys_read(at, IN_PLAN, &table, 1, err) != 0)
        return -1;
    if (!json_is_array(on.value) || json_array_size(on.value) == 0)
        return json_expected(&on,
                             "an array of regression, failure, blocked, recovered, inconclusive, suspected, "
                             "always, one at least",
                             err);
    for (size_t i = 0; i < json_array_size(on.value); i++) {
        struct json_at word = json_element(&on, i);
        if (!news_of(json_string_value(word.value)))
            return json_expected(
                &word, "regression, failure, blocked, recovered, inconclusive, suspected or always", err);
    }
    int rc = command_read(&command, &run, SUBST_LITERAL, err);
    command_release(&command);
    return rc;
}

int plan_nightly_read(struct plan_nightly *n, const struct json_at *at, struct err *err)
{
    if (!at->value)
        return 0;
    if (!json_is_array(at->value) || json_array_size(at->value) > 16)
        return json_fail(at, err, "expected an array of at most 16 {\"on\": [...], \"run\": [...]}");
    int rc = 0;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at entry = json_element(at, i);
        rc |= check_entry(&entry, err);
    }
    n->notify = at->value;
    return rc;
}

int plan_languages_check(const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value), i;
    bool seen[2] = {false};
    const json_t *word;
    if (!at->value)
        return 0;
    bool good = json_is_array(at->value) && n > 0;
    json_array_foreach(at->value, i, word)
    {
        const char *name = json_string_value(word);
        bool spanish = name && strcmp(name, "es") == 0;
        good = good && name && (spanish || strcmp(name, "en") == 0) && !seen[spanish];
        seen[spanish] = true;
    }
    return good ? 0 : json_expected(at, "[\"en\"], [\"es\"], [\"en\", \"es\"] or [\"es\", \"en\"]", err);
}

unsigned plan_nightly_wants(const json_t *entry)
{
    unsigned set = 0;
    size_t i;
    const json_t *word;
    json_array_foreach(json_object_get(entry, "on"), i, word) set |= news_of(json_string_value(word));
    return set;
}
