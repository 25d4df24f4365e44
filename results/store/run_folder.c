#include "results/store/run_folder.h"

#include "common/base/fs.h"
#include "common/base/json.h"

#include <stdio.h>
#include <string.h>

enum { DOCUMENT_BYTES_MAX = 64 << 20, OWNER_MAX = 256 };

/* The run that the document names; "" for none. */
static void read_owner(const char *dir, const char *document, char out[OWNER_MAX])
{
    char path[FS_PATH_MAX];
    *out = '\0';
    if (!*dir || fs_join(path, NULL, dir, document) != 0)
        return;
    json_auto_t *root = json_load(path, DOCUMENT_BYTES_MAX, NULL);
    snprintf(out, OWNER_MAX, "%s", json_text(root, "run_id"));
}

/* A run that never ended has no manifest, but a job. */
static void find_owner(const char *dir, char out[OWNER_MAX])
{
    read_owner(dir, "manifest.json", out);
    if (!*out)
        read_owner(dir, "job.json", out);
}

bool run_folder_is_of(const char *dir, const char *run_id)
{
    char owner[OWNER_MAX];
    read_owner(dir, "manifest.json", owner);
    return *owner && strcmp(owner, run_id) == 0;
}

bool run_folder_may_be_of(const char *dir, const char *run_id)
{
    return *dir && fs_is_dir(dir) && !run_folder_was_reused(dir, run_id);
}

bool run_folder_was_reused(const char *dir, const char *run_id)
{
    char owner[OWNER_MAX];
    find_owner(dir, owner);
    return *owner && strcmp(owner, run_id) != 0;
}
