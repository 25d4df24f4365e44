#include "reports/tables/commits_list.h"

#include "reports/words/number.h"

void commits_list(struct md *w, const struct commit_range *r)
{
    for (size_t i = 0; i < r->n_listed; i++)
        md_item(w, MSG_COMMIT_ITEM, commit_short(r->listed[i].id, false).s, r->listed[i].subject);
    if (r->count > r->n_listed)
        md_item(w, MSG_COMMITS_MORE, num_int((int64_t)(r->count - r->n_listed)).s);
    if (r->n_listed)
        md_end(w);
}
