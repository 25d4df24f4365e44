#include "harness/session/confirm.h"

int confirm_measure(const struct confirm_request *r, const struct suspect_list *suspects, struct store *s,
                    struct turns_made *out, struct err *err)
{
    struct turns_request turns = {.plan = r->plan,
                                  .base.sha256 = *r->base_source ? r->base_source : NULL,
                                  .now.sha256 = *r->now_source ? r->now_source : NULL,
                                  .opt = r->opt};
    turns.opt.purpose = PURPOSE_CONFIRM;
    if (!*r->base_source != !*r->now_source)
        return err_set(err, ERR_NODE,
                       "one of the two runs had no source tree: there are no two builds to compare");
    return turns_measure(&turns, suspects, s, out, err);
}
