#include "reports/sections/bundle.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <stdio.h>
#include <string.h>

const char *bundle_name(const struct run_info *info)
{
    const char *cut = NULL;
    for (const char *p = info->bundle; (p = strstr(p, "artifacts_remote/")); p++)
        cut = p;
    return cut ? cut : info->bundle;
}

/* The relative path between two absolute folders. */
static void relative_path(struct buf *out, const char *from, const char *to)
{
    size_t same = 0; /* bytes of the common leading components */
    for (size_t i = 0;; i++) {
        bool from_ends = !from[i] || from[i] == '/', to_ends = !to[i] || to[i] == '/';
        if (from_ends && to_ends)
            same = i;
        if (from[i] != to[i] || !from[i])
            break;
    }
    for (const char *p = from + same; *p; p++)
        if (*p == '/' && p[1])
            buf_puts(out, "../");
    buf_puts(out, to + same + (to[same] == '/'));
}

void bundle_link(const struct md *w, const struct run_info *info, const char *file, char *out, size_t size)
{
    const char *from = w->place ? w->place->folder : NULL;
    AUTO(buf_release) struct buf folder = {.max = (size_t)4 * FS_PATH_MAX};
    if (from && *from == '/' && *info->bundle == '/')
        relative_path(&folder, from, info->bundle);
    else
        buf_puts(&folder, bundle_name(info));
    snprintf(out, size, "%s%s%s", buf_str(&folder), folder.len ? "/" : "", file);
}
