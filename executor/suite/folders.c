#include "executor/suite/folders.h"

#include "executor/workdir/held.h"

#include <unistd.h>

int folders_make(struct suite *s, const char *name, int *fd, struct err *err)
{
    struct err left;
    char path[FS_PATH_MAX];
    if (fs_join(path, err, s->dir, name) != 0 || (*fd = held_make(path, &left, err)) < 0)
        return -1;
    if (left.kind == ERR_NONE)
        return 0;
    return suite_note(s, err,
                      "what stood in the place of %.128s cannot be removed: %.300s; remove it by hand", name,
                      left.msg);
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
    if (!s->partial[0])
        reason_set(s->partial, "%s", text);
    return suite_note(s, err, "%s", text);
}

static int make_anew(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *v = &s->variant[variant];
    struct err why = {.kind = ERR_NONE};
    v->replaced++;
    close(v->folder);
    v->folder = -1;
    if (folders_make(s, s->job.variant[variant].name, &v->folder, &why) != 0)
        return give_up(s, variant, &why, err);
    return suite_note(
        s, err,
        "the folder %.64s was replaced while tests ran: what was in it is lost; tests may write to "
        "{out} only",
        s->job.variant[variant].name);
}

int folders_look(struct suite *s, struct err *err)
{
    const char *const above[] = {s->layout->workdir, s->layout->runs, s->dir};
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        held_open_up(above[i]);
    for (size_t i = 0; i < s->job.variant_count; i++) {
        const struct variant_state *v = &s->variant[i];
        held_open_up(v->dir);
        if (!v->stuck[0] && !held_is_at(v->folder, v->dir) && make_anew(s, i, err) != 0)
            return -1;
    }
    return 0;
}
