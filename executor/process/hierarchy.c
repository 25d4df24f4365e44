#include "executor/process/hierarchy.h"

#include "common/base/alloc.h"
#include "executor/workdir/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192, FILE_MAX_BYTES = 4096 };

/* Whether the list "a,b,c" of `len` bytes has the word. */
static bool has_word(const char *list, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list, *end = list + len; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t own = (size_t)((comma ? comma : end) - p);
        if (own == n && memcmp(p, word, n) == 0)
            return true;
        p += own + 1;
    }
    return false;
}

/* Finds the path of this process in a hierarchy: its line in /proc/self/cgroup has the controller among its
 * own; version 2's ("") has none. */
static bool own_path(const struct layout *l, const char *controller, char *out)
{
    AUTO_FCLOSE FILE *f = sysfile_open(l->proc, "self/cgroup");
    char line[LINE_MAX_BYTES];
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        const char *list = strchr(line, ':'), *place = list ? strchr(list + 1, ':') : NULL;
        if (!place)
            continue;
        size_t len = (size_t)(place - list - 1);
        found = *controller ? has_word(list + 1, len, controller) : strncmp(line, "0::", 3) == 0;
        if (found)
            found = snprintf(out, FS_PATH_MAX, "%s", place + 1) < FS_PATH_MAX;
    }
    return found;
}

/* One line of /proc/self/mountinfo, cut in place. */
struct mount {
    const char *root, *point, *type, *options;
};

static bool cut_mount(char *line, struct mount *m)
{
    char *save = NULL, *field[10] = {NULL};
    size_t n = 0;
    char *rest = strstr(line, " - ");
    if (!rest)
        return false;
    *rest = '\0';
    for (char *p = strtok_r(line, " ", &save); p && n < 6; p = strtok_r(NULL, " ", &save))
        field[n++] = p;
    char *type = strtok_r(rest + 3, " \n", &save), *source = strtok_r(NULL, " \n", &save);
    char *options = source ? strtok_r(NULL, " \n", &save) : NULL;
    *m = (struct mount){.root = field[3], .point = field[4], .type = type, .options = options};
    return n == 6 && options && !strchr(m->point, '\\');
}

static bool is_wanted(const struct mount *m, const char *controller)
{
    if (!*controller)
        return strcmp(m->type, "cgroup2") == 0;
    return strcmp(m->type, "cgroup") == 0 && has_word(m->options, strlen(m->options), controller);
}

/* The mount may show only a part of the hierarchy, which begins at `root`. */
static bool folder_below(const struct mount *m, const char *path, char *out)
{
    size_t skip = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    if (strncmp(path, m->root, skip) != 0 || strstr(path, "/.."))
        return false;
    int n = snprintf(out, FS_PATH_MAX, "%s%s", m->point, strcmp(path + skip, "/") == 0 ? "" : path + skip);
    return n > 0 && n < FS_PATH_MAX && fs_is_dir(out);
}

static void find_own(const struct layout *l, const char *controller, char *out)
{
    char line[LINE_MAX_BYTES], own[FS_PATH_MAX], found[FS_PATH_MAX];
    struct mount m;
    *out = '\0';
    if (!own_path(l, controller, own))
        return;
    AUTO_FCLOSE FILE *f = sysfile_open(l->proc, "self/mountinfo");
    while (f && !*out && fgets(line, sizeof line, f)) {
        if (cut_mount(line, &m) && is_wanted(&m, controller) && folder_below(&m, own, found))
            memcpy(out, found, sizeof found);
    }
}

void hierarchy_read(struct hierarchy *h, const struct layout *l)
{
    find_own(l, "", h->own);
    find_own(l, "memory", h->v1_memory);
    find_own(l, "pids", h->v1_pids);
}

bool hierarchy_is_ours(const char *folder)
{
    char path[FS_PATH_MAX];
    return *folder && access(folder, W_OK) == 0 && fs_join(path, NULL, folder, "cgroup.procs") == 0 &&
           access(path, W_OK) == 0;
}

bool hierarchy_lists(const char *folder, const char *file, const char *word)
{
    char text[FILE_MAX_BYTES], *save = NULL;
    if (!*folder || !sysfile_read(folder, file, text, sizeof text))
        return false;
    for (char *p = strtok_r(text, " \n", &save); p; p = strtok_r(NULL, " \n", &save)) {
        if (strcmp(p, word) == 0)
            return true;
    }
    return false;
}

const char *hierarchy_name(const struct hierarchy *h)
{
    bool v1 = *h->v1_memory || *h->v1_pids;
    if (*h->own)
        return v1 ? "hybrid" : "v2";
    return v1 ? "v1" : "none";
}

int hierarchy_write(const char *folder, const char *file, const char *text)
{
    char path[FS_PATH_MAX];
    AUTO_CLOSE int fd = fs_join(path, NULL, folder, file) == 0 ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    return fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
}

int64_t hierarchy_number(const char *folder, const char *file, const char *word)
{
    char text[FILE_MAX_BYTES], *save = NULL;
    size_t len = strlen(word);
    if (!*folder || !sysfile_read(folder, file, text, sizeof text))
        return -1;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, word, len) == 0 && (len == 0 || line[len] == ' '))
            return strtoll(line + len, NULL, 10);
    }
    return -1;
}

int hierarchy_make(char *out, const char *folder, const char *name, struct err *err)
{
    if (fs_join(out, err, folder, name) != 0)
        return -1;
    if (mkdir(out, 0755) != 0 && errno != EEXIST)
        return err_set_errno(err, ERR_NODE, errno, "cannot make the control group %s", out);
    return 0;
}
