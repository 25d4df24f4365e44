#include "executor/suite/folders.h"

#include <string.h>

static int tell(struct suite *s, const char *name, enum held_state state, const struct err *left,
                struct err *err)
{
    char text[REASON_MAX];
    const char *fate = state == HELD_PUT_BACK ? "it is back" : "what was in it is lost";
    if (left->kind == ERR_NONE)
        reason_set(
            text,
            "the folder %.128s was replaced while tests ran: %s, and what stood in its place was removed",
            name, fate);
    else
        reason_set(text,
                   "the folder %.128s was replaced while tests ran: %s, but what stood in its place is still "
                   "there: %.300s; remove it by hand",
                   name, fate, left->msg);
    return suite_note(s, text, err);
}

/* What cannot be removed is in nobody's way. */
static int clear(struct suite *s, size_t variant, enum held_state state, struct err *err)
{
    struct err left = {.kind = ERR_NONE};
    (void)held_clear(&s->variant[variant].folder, &left);
    return tell(s, s->job.variant[variant].name, state, &left, err);
}

static int give_up(struct suite *s, size_t variant, const struct err *why, struct err *err)
{
    struct variant_state *v = &s->variant[variant];
    char text[REASON_MAX];
    reason_set(v->stuck, "the folder of its results was replaced and cannot be put back: %.300s", why->msg);
    reason_set(text,
               "%.64s takes no more tests: its folder was replaced and cannot be put back: %.300s; remove it "
               "by hand",
               s->job.variant[variant].name, why->msg);
    v->replaced++;
    if (!s->partial[0])
        reason_set(s->partial, "%s", text);
    return suite_note(s, text, err);
}

/* Nothing is removed before all are back: one may be in what stands in the place of another. */
int folders_look(struct suite *s, struct err *err)
{
    enum held_state state[LIMIT_VARIANTS];
    for (size_t i = 0; i < s->job.variant_count; i++) {
        struct err why = {.kind = ERR_NONE};
        state[i] = HELD_IN_PLACE;
        if (s->variant[i].stuck[0])
            continue;
        if (held_look(&s->variant[i].folder, &state[i], &why) != 0) {
            state[i] = HELD_IN_PLACE;
            if (give_up(s, i, &why, err) != 0)
                return -1;
        }
        s->variant[i].replaced += state[i] != HELD_IN_PLACE;
    }
    for (size_t i = 0; i < s->job.variant_count; i++)
        if (state[i] != HELD_IN_PLACE && clear(s, i, state[i], err) != 0)
            return -1;
    return 0;
}

int folders_look_at(struct suite *s, struct held *h, const char *name, enum held_state *out, struct err *err)
{
    struct err left = {.kind = ERR_NONE};
    if (held_look(h, out, err) != 0)
        return -1;
    return held_clear(h, &left) == 0 ? 0 : tell(s, name, *out, &left, err);
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
