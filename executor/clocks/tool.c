#include "executor/clocks/tool.h"

#include "common/base/run.h"
#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double limit_s = 30; /* amd-smi takes up to 9 s */

static bool is_program(const char *dir, const char *name, char *path)
{
    return fs_join(path, NULL, dir, name) == 0 && access(path, X_OK) == 0;
}

bool tool_find(const char *name, char *path)
{
    char dir[FS_PATH_MAX], unused[FS_PATH_MAX];
    const char *list = getenv("PATH");
    path = path ? path : unused;
    for (const char *p = list ? list : ""; *p;) {
        size_t len = strcspn(p, ":");
        snprintf(dir, sizeof dir, "%.*s", (int)(len < sizeof dir ? len : 0), p);
        if (dir[0] == '/' && is_program(dir, name, path))
            return true;
        p += len + (p[len] == ':');
    }
    return is_program("/opt/rocm/bin", name, path);
}

static void quote_end(const struct run_result *res, char *out, size_t size)
{
    text_printable_fixed(out, size, res->stderr_text, res->stderr_len);
    for (size_t len = strlen(out); len > 0 && out[len - 1] == ' '; len--)
        out[len - 1] = '\0';
}

enum control_result tool_run(const char *name, const struct tool_words *words, struct err *err)
{
    char path[FS_PATH_MAX], said[200];
    const char *argv[TOOL_WORDS_MAX + 4];
    size_t n = 0;
    struct run_result res;
    if (!tool_find(name, path)) {
        err_set(err, ERR_NODE, "the program %s is not installed", name);
        return CONTROL_FAILED;
    }
    if (geteuid() != 0) {
        argv[n++] = "sudo";
        argv[n++] = "-n";
    }
    argv[n++] = path;
    for (size_t i = 0; i < TOOL_WORDS_MAX && words->word[i][0]; i++)
        argv[n++] = words->word[i];
    argv[n] = NULL;
    struct run run = {.argv = argv, .deadline_s = limit_s, .end_group = true, .grace_s = 1};
    if (run_program(&run, &res, err) != 0)
        return CONTROL_FAILED;
    if (res.exited && res.exit_code == 0)
        return CONTROL_DONE;
    quote_end(&res, said, sizeof said);
    err_set(err, ERR_NODE, "'%s%s' ended with exit code %d%s%s", geteuid() != 0 ? "sudo -n " : "", path,
            res.exited ? res.exit_code : -1, *said ? ": " : "", said);
    return geteuid() != 0 ? CONTROL_DENIED : CONTROL_FAILED;
}
