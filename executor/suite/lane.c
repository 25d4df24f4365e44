#include "executor/suite/lane.h"

#include "common/base/environment.h"

#include <stdlib.h>

void lanes_close(struct lanes *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct lane *lane = &l->lane[i];
        telemetry_close(&lane->telemetry);
        oom_close(&lane->oom);
        json_decref(lane->ids);
        json_decref(lane->facts);
    }
    free(l->lane);
    *l = (struct lanes){.lane = NULL};
}

void lanes_note_beside(struct lanes *l, struct lane *begun)
{
    size_t running = 0;
    for (size_t i = 0; i < l->count; i++)
        running += l->lane[i].running != NULL;
    begun->beside = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct lane *lane = &l->lane[i];
        if (lane->running && lane->beside + 1 < running)
            lane->beside = running - 1;
    }
}

void lane_environment(const struct lane *lane, struct strvec *env)
{
    for (size_t i = 0; i < lane->variable_count; i++)
        environment_set(env, lane->variable[i].name, lane->variable[i].value);
}
