#include "executor/prepare/named_files.h"

#include "common/base/fs.h"
#include "executor/process/ending.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void add_stat(struct sha256 *h, const struct stat *st)
{
    const int64_t fields[] = {(int64_t)st->st_dev,          (int64_t)st->st_ino,
                              (int64_t)st->st_size,         (int64_t)st->st_mtim.tv_sec,
                              (int64_t)st->st_mtim.tv_nsec, (int64_t)st->st_ctim.tv_sec,
                              (int64_t)st->st_ctim.tv_nsec, (int64_t)st->st_mode};
    sha256_add(h, fields, sizeof fields);
}

bool named_files_stat(struct sha256 *h, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    sha256_add_text(h, path);
    add_stat(h, &st);
    return true;
}

/* What a link to a folder leads to would have to be walked as well, and may lead back. */
static int add_entry(const struct fs_entry *entry, void *arg, struct err *err)
{
    struct named_files *f = arg;
    struct stat st;
    if (++f->count > NAMED_FILES_MAX)
        return err_set(err, ERR_INPUT, "more than %d files", NAMED_FILES_MAX);
    sha256_add_text(f->hash, entry->relpath);
    if (stat(entry->fullpath, &st) != 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "a link to a folder, %.200s", entry->relpath);
    add_stat(f->hash, &st);
    return 0;
}

static void on_skipped(const char *relpath, const char *why, void *arg)
{
    struct named_files *f = arg;
    reason_set(f->why, "%.200s cannot be read: %.100s", relpath, why);
}

static void add_folder(struct named_files *f, const char *path)
{
    struct err why = {.kind = ERR_NONE};
    sha256_add_text(f->hash, path);
    if (fs_walk_entries(path, add_entry, on_skipped, f, &why) != 0)
        reason_set(f->why, "the folder %.200s, which it names, has %.300s", path, why.msg);
}

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    return len > 0 && strncmp(path, folder, len) == 0 && (!path[len] || path[len] == '/');
}

static void add_path(struct named_files *f, const char *name)
{
    char path[FS_PATH_MAX];
    struct stat st;
    if (!*name || (*name != '/' && (!*f->cwd || fs_join(path, NULL, f->cwd, name) != 0)))
        return;
    if (*name == '/')
        snprintf(path, sizeof path, "%s", name);
    if (is_below(path, f->known) || stat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode))
        add_folder(f, path);
    else
        named_files_stat(f->hash, path);
}

/* The whole text, and what stands between the signs that separate paths. */
void named_files_add(struct named_files *f, const char *text)
{
    static const char separators[] = "=,:; \t\n\"'";
    char part[FS_PATH_MAX];
    if (!text || strlen(text) >= sizeof part)
        return;
    add_path(f, text);
    if (!text[strcspn(text, separators)])
        return;
    while (*text) {
        size_t len = strcspn(text, separators);
        snprintf(part, sizeof part, "%.*s", (int)len, text);
        add_path(f, part);
        text += len + (text[len] != '\0');
    }
}
