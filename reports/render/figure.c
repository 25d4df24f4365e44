#include "reports/render/figure.h"

#include "common/base/fs.h"

#include <stdlib.h>
#include <string.h>

void figure_set_release(struct figure_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].svg);
    *set = (struct figure_set){0};
}

const struct figure *figure_find(const struct figure_set *set, const char *target)
{
    const char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i].name, name) == 0)
            return &set->items[i];
    return NULL;
}

int figure_set_save(const struct figure_set *set, const char *dir, struct err *err)
{
    char path[FS_PATH_MAX];
    if (set->count && fs_mkdir_p(dir, 0755, err))
        return -1;
    for (size_t i = 0; i < set->count; i++)
        if (fs_join(path, err, dir, set->items[i].name) ||
            fs_write_file(path, set->items[i].svg, strlen(set->items[i].svg), 0644, err))
            return -1;
    return 0;
}
