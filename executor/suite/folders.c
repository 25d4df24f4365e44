#include "executor/suite/folders.h"

#include <string.h>

static int tell(struct suite *s, const char *name, enum held_state state, const char *rest, struct err *err)
{
    char text[REASON_MAX];
    reason_set(text, "the folder %.128s was replaced while tests ran: %s, %s", name,
               state == HELD_PUT_BACK ? "it is back" : "what was in it is lost", rest);
    return suite_note(s, text, err);
}

/* What cannot be removed is in nobody's way. */
static bool clear(struct held *h, char *rest)
{
    struct err why = {.kind = ERR_NONE};
    bool cleared = held_clear(h, &why) == 0;
    reason_set(rest, "and what stood in its place is removed");
    if (!cleared)
        reason_set(rest, "but what stood in its place is still there: %.300s; remove it by hand", why.msg);
    return cleared;
}

static int clear_and_tell(struct suite *s, size_t variant, enum held_state state, struct err *err)
{
    char rest[REASON_MAX];
    clear(&s->variant[variant].folder, rest);
    return tell(s, s->job.variant[variant].name, state, rest, err);
}

/* Nothing is removed before all are back: one may be in what stands in the place of another. */
int folders_look(struct suite *s, struct err *err)
{
    enum held_state state[LIMIT_VARIANTS];
    for (size_t i = 0; i < s->job.variant_count; i++) {
        if (held_look(&s->variant[i].folder, &state[i], err) != 0)
            return -1;
        s->variant[i].replaced += state[i] != HELD_IN_PLACE;
    }
    for (size_t i = 0; i < s->job.variant_count; i++)
        if (state[i] != HELD_IN_PLACE && clear_and_tell(s, i, state[i], err) != 0)
            return -1;
    return 0;
}

int folders_look_at(struct suite *s, struct held *h, const char *name, enum held_state *out, struct err *err)
{
    char rest[REASON_MAX];
    if (held_look(h, out, err) != 0)
        return -1;
    return clear(h, rest) ? 0 : tell(s, name, *out, rest, err);
}

int folders_make(struct suite *s, struct held *h, const char *name, struct err *err)
{
    struct err why = {.kind = ERR_NONE};
    char path[FS_PATH_MAX], text[REASON_MAX];
    if (fs_join(path, err, s->dir, name) != 0 || held_make(h, path, err) != 0)
        return -1;
    if (held_clear(h, &why) == 0)
        return 0;
    reason_set(text, "in the place of %.128s stood what cannot be removed: %.300s; remove it by hand", name,
               why.msg);
    return suite_note(s, text, err);
}
