#include "executor/bundle/manifest.h"

#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "executor/bundle/bundle.h"
#include "executor/workdir/layout.h"

#include <string.h>

static int add_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    size_t size;
    if (strcmp(relpath, RUN_MANIFEST) == 0)
        return 0;
    if (sha256_of_file(fullpath, BUNDLE_FILE_MAX, hex, &size, err) != 0)
        return -1;
    json_t *entry = json_pack("{s:s, s:I, s:s}", "path", relpath, "size", (json_int_t)size, "sha256", hex);
    if (!entry || json_array_append_new(arg, entry) != 0)
        return err_set(err, ERR_INTERNAL, "%s: cannot be named in the manifest", fullpath);
    return 0;
}

int manifest_write(const char *dir, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *files = json_array();
    int rc = files ? bundle_walk(dir, add_file, files, err) : err_set(err, ERR_INTERNAL, "no memory");
    json_t *manifest =
        json_pack("{s:s, s:s, s:o}", "schema", PROTO_SCHEMA_MANIFEST, "run_id", run_id, "files", files);
    if (rc == 0)
        rc = fs_join(path, err, dir, RUN_MANIFEST) != 0 || fs_sync_filesystem(dir, err) != 0
                 ? -1
                 : json_save(path, manifest, err);
    json_decref(manifest);
    return rc;
}
