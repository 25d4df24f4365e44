#include "harness/commands/base/progress.h"

#include "common/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double between_s = 0.1;

void progress_begin(struct progress *p, FILE *out, bool quiet, const char *what)
{
    const char *term = getenv("TERM");
    bool terminal = !quiet && isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
    *p = (struct progress){.out = terminal ? out : NULL, .what = what, .shown_at = -HUGE_VAL};
}

void progress_show(struct progress *p, double done)
{
    double now = clock_mono_s();
    if (!p->out || now - p->shown_at < between_s)
        return;
    fprintf(p->out, "\r\033[K%s: %.0f %%", p->what, 100 * fmin(fmax(done, 0), 1));
    fflush(p->out);
    p->shown_at = now;
    p->line_open = true;
}

void progress_end(struct progress *p)
{
    if (p->line_open)
        fputs("\r\033[K", p->out);
    if (p->out)
        fflush(p->out);
    p->line_open = false;
}
