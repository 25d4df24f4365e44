#include "reports/words/range.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <string.h>

struct short_commit commit_short(const char *id, bool dirty)
{
    struct short_commit out;
    snprintf(out.s, sizeof out.s, "%.*s%s", COMMIT_SHORT, id, *id && dirty ? "+" : "");
    return out;
}

static enum msg count_message(const struct commit_range *r)
{
    if (r->count == 0)
        return MSG_RANGE_UNKNOWN;
    if (r->exact)
        return r->count == 1 ? MSG_RANGE_ONE : MSG_RANGE_COUNT;
    return r->kind == RANGE_ON ? MSG_RANGE_LEAST : MSG_RANGE_MORE;
}

static enum msg message_of(const struct commit_range *r)
{
    switch (r->kind) {
    case RANGE_SAME:
        return MSG_RANGE_SAME;
    case RANGE_BACK:
        return MSG_RANGE_BACK;
    case RANGE_ON:
    case RANGE_APART:
    case RANGE_OPEN:
        return count_message(r);
    case RANGE_NONE:
    case RANGE_KIND_COUNT:
        break;
    }
    return MSG_COUNT;
}

void range_phrase(const struct commit_range *r, enum report_lang lang, struct buf *out)
{
    struct short_commit from = commit_short(r->from.commit, false), to = commit_short(r->to.commit, false),
                        base = commit_short(r->base, false);
    if (message_of(r) == MSG_COUNT)
        return;
    message_plain(out, lang, message_of(r), from.s, to.s, num_int((int64_t)r->count).s);
    if (r->kind == RANGE_APART)
        message_plain(out, lang, MSG_RANGE_APART, from.s);
    if (r->kind == RANGE_APART && *r->base)
        message_plain(out, lang, MSG_RANGE_BASE, base.s);
    if (r->to.dirty)
        message_plain(out, lang, MSG_RANGE_DIRTY);
    if (r->from.dirty)
        message_plain(out, lang, MSG_RANGE_WAS_DIRTY);
}

/* A single commit is the answer by itself, unless there were local changes beside it. */
static bool began_with_one(const struct commit_range *r)
{
    return r->kind == RANGE_ON && r->exact && r->count == 1 && !r->from.dirty && !r->to.dirty;
}

static enum msg opening_message(const struct opening *o)
{
    bool one = strcmp(o->found, o->found_last) == 0;
    if (*o->found)
        return !one ? MSG_OPENED_FOUND_RANGE : *o->subject ? MSG_OPENED_FOUND : MSG_OPENED_FOUND_BARE;
    if (o->commits.kind == RANGE_NONE)
        return MSG_OPENED;
    if (o->commits.kind == RANGE_SAME && !o->commits.to.dirty)
        return MSG_OPENED_SAME;
    return began_with_one(&o->commits) && *o->subject ? MSG_OPENED_BY_ONE : MSG_OPENED_BY;
}

void opening_words(const struct opening *o, enum report_lang lang, struct opening_words *out)
{
    AUTO(buf_release) struct buf range = {.max = RANGE_PHRASE_MAX};
    *out = (struct opening_words){.message = opening_message(o),
                                  .date = num_date(o->since),
                                  .commit = commit_short(*o->found ? o->found : o->commits.to.commit, false),
                                  .subject = o->subject};
    if (*o->found)
        buf_printf(&range, "%s..%s", commit_short(o->found, false).s, commit_short(o->found_last, false).s);
    else
        range_phrase(&o->commits, lang, &range);
    snprintf(out->range, sizeof out->range, "%s", buf_str(&range));
}

void opening_phrase(const struct opening *o, enum report_lang lang, struct buf *out)
{
    struct opening_words words;
    opening_words(o, lang, &words);
    message_plain(out, lang, words.message, words.date.s, words.commit.s, words.subject, words.range);
}

void dirty_phrase(const struct run_revision *r, char *out, size_t size)
{
    size_t used = 0;
    for (const char *p = r->dirty_files; *p && used + 3 < size; p++) {
        out[used++] = *p == '\n' ? ',' : *p;
        if (*p == '\n')
            out[used++] = ' ';
    }
    out[used] = '\0';
}
