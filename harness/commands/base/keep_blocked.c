#include "harness/commands/base/keep_blocked.h"

#include "common/base/text.h"
#include "harness/session/blocked.h"
#include "results/ingest/ingest.h"

void pending_command(const struct cmd_env *env, struct buf *out)
{
    for (size_t i = 0; env->argv[i]; i++) {
        buf_puts(out, i ? " " : "");
        text_shell_word(out, env->argv[i]);
    }
}

void keep_blocked(const struct cmd_env *env, const struct session *s, const struct plan *p,
                  const struct err *why)
{
    AUTO(store_close) struct store store = {0};
    AUTO(buf_release) struct buf pending = {.max = 1 << 20};
    struct ingest_result stored;
    struct err err = {0};
    char dir[FS_PATH_MAX];
    if (why->kind != ERR_NODE || s->offered || s->rec.purpose != PURPOSE_SWEEP || session_is_left(s, why))
        return;
    pending_command(env, &pending);
    if (blocked_bundle(s, p, why->msg, buf_str(&pending), dir, &err) != 0 ||
        cmd_store_open(env, &store, STORE_WRITE, &err) != 0 ||
        ingest_bundle(&store, dir, NULL, &stored, &err) != 0) {
        err_wrap(&err, "the blocked run is not in the store");
        cmd_fail(&err);
        return;
    }
    fprintf(env->notes, "kept as BLOCKED: run %s\n", stored.run_id);
}
