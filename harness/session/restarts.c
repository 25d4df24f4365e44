#include "harness/session/restarts.h"

void restarts_progress(struct restarts *r)
{
    r->idle = 0;
}

bool restarts_allow(struct restarts *r, double now_s)
{
    double *oldest = &r->at_s[r->count % RESTARTS_WINDOW_MAX];
    bool often = r->count >= RESTARTS_WINDOW_MAX && now_s - *oldest < RESTARTS_WINDOW_S;
    if (r->idle >= RESTARTS_IDLE_MAX || often)
        return false;
    *oldest = now_s;
    r->idle++;
    r->count++;
    return true;
}
