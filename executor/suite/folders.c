#include "executor/suite/folders.h"

#include <string.h>

static int tell(struct suite *s, const char *name, enum held_state state, struct err *err)
{
    char text[REASON_MAX];
    reason_set(text, "the folder %.64s was replaced while tests ran: %s", name,
               state == HELD_PUT_BACK ? "it is back, and what stood in its place is removed"
                                      : "what was in it is lost, and what stood in its place is removed");
    return suite_note(s, text, err);
}

int folders_look(struct suite *s, struct err *err)
{
    for (size_t i = 0; i < s->job.variant_count; i++) {
        enum held_state state;
        if (held_look(&s->variant[i].folder, &state, err) != 0)
            return -1;
        s->variant[i].replaced += state != HELD_IN_PLACE;
        if (state != HELD_IN_PLACE && tell(s, s->job.variant[i].name, state, err) != 0)
            return -1;
    }
    return 0;
}
