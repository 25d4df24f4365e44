#include "executor/prepare/built.h"

#include "executor/prepare/sources.h"

#include <stdio.h>

#define COMPLETE_MARK ".complete"

static int mark_path(const struct variant_state *state, char *out, struct err *err)
{
    return fs_join(out, err, state->build, COMPLETE_MARK);
}

int built_seal(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    if (sources_close(s, variant, err) != 0)
        return -1;
    return mark_path(state, path, err) != 0 ? -1 : seal_write(state->build, path, COMPLETE_MARK, err);
}

int built_is_intact(const struct suite *s, size_t variant, char *why, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    struct err unread = {.kind = ERR_NONE};
    if (mark_path(state, path, err) != 0)
        return -1;
    int intact = seal_check(state->build, path, SEAL_LISTED, why, &unread);
    if (intact == 1)
        intact = sources_intact(s, variant, why, &unread);
    if (intact < 0) /* whatever the cause, the build is made again */
        snprintf(why, SEAL_REASON_MAX, "its seal cannot be read (%.150s)", unread.msg);
    return intact > 0;
}

int built_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    int build = 1;
    if (s->job.variant[variant].build_count > 0)
        build =
            mark_path(state, path, err) != 0 ? -1 : seal_look(state->build, path, SEAL_LISTED, fn, arg, err);
    int sources = build < 0 ? -1 : sources_look(s, variant, fn, arg, err);
    return sources < 0 ? -1 : build && sources;
}
