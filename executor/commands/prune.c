#include "executor/commands/prune.h"

#include "executor/workdir/cache.h"

json_t *prune(const struct layout *layout, int64_t days, struct err *err)
{
    json_t *answer = NULL;
    if (days < 1)
        err_set(err, ERR_INPUT, "prune: --days N is needed");
    else
        cache_prune(layout, days, &answer, err);
    return answer;
}
