#include "reports/words/number.h"

#include "common/base/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct num none(void)
{
    return (struct num){NUM_NONE};
}

__attribute__((format(printf, 1, 2))) static struct num format(const char *fmt, ...)
{
    struct num n;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(n.s, sizeof n.s, fmt, ap);
    va_end(ap);
    return n;
}

/* From here on, a double has no decimals, and soon more digits than there is room for. */
static const double too_long = 1e15;

/* What is rounded to zero has no sign. */
static struct num fixed(double v, int decimals)
{
    struct num n = fabs(v) < too_long ? format("%.*f", decimals, v) : format("%.4g", v);
    return n.s[0] == '-' && !n.s[strspn(n.s, "-0.")] ? fixed(0, decimals) : n;
}

/* A small number, without the exponent that readers would have to decode. */
static struct num small(double v, int digits)
{
    int decimals = digits - 1 - (int)floor(log10(fabs(v)));
    return decimals <= 12 ? format("%.*f", decimals, v) : format("%.*g", digits, v);
}

struct num num_seconds(double s)
{
    if (!isfinite(s))
        return none();
    if (s == 0 || s >= 1)
        return fixed(s, 2);
    return s >= 0.001 ? format("%.4f", s) : small(s, 3);
}

struct num num_six_digits(double v)
{
    return isfinite(v) ? format("%.6g", v) : none();
}

struct num num_duration(double s)
{
    if (!isfinite(s) || s < 0)
        return none();
    if (s < 10)
        return format("%.1f s", s);
    long whole = lround(fmin(s, 1e15));
    if (whole < 60)
        return format("%ld s", whole);
    if (whole < 3600)
        return format("%ld min %02ld s", whole / 60, whole % 60);
    return format("%ld h %02ld min", whole / 3600, whole % 3600 / 60);
}

struct num num_rate(double per_s)
{
    if (!isfinite(per_s))
        return none();
    double size = fabs(per_s);
    int decimals = 2;
    if (size >= 9.95)
        decimals = 0;
    else if (size >= 0.995)
        decimals = 1;
    return fixed(per_s, decimals);
}

struct num num_plain(double v)
{
    if (!isfinite(v))
        return none();
    double size = fabs(v);
    return size >= 999.95 ? fixed(v, 0) : format("%.4g", v);
}

struct num num_milliseconds(double ms)
{
    if (ms > 0 && ms < 0.1)
        return small(ms, 3);
    if (ms < 1)
        return num_fixed(ms, 4);
    return num_fixed(ms, ms < 100 ? 3 : 2);
}

struct num num_times(double f)
{
    if (!isfinite(f))
        return none();
    if (f != 0 && f < 0.05)
        return small(f, 2);
    int decimals = 0;
    if (f < 9.995)
        decimals = 2;
    else if (f < 99.95)
        decimals = 1;
    return fixed(f, decimals);
}

struct num num_factor(double f)
{
    return isfinite(f) ? format("%.36sx", num_times(f).s) : none();
}

struct num num_factor_error(double f, double err)
{
    struct num n = num_factor(f);
    if (!isfinite(f) || !isfinite(err))
        return n;
    if (err < 1e-4 * fabs(f)) /* the program tells the same time again and again */
        return format("%s ± 0", n.s);
    return format("%.18s ± %.18s", n.s, (err >= 0.005 ? fixed(err, 2) : small(err, 1)).s);
}

struct num num_factor_below(double bound)
{
    return isfinite(bound) ? format("< %.36sx", fixed(ceil(bound * 100) / 100, 2).s) : none();
}

struct num num_growth(double f)
{
    return isfinite(f) ? format("%.38sx", fixed(f, 1).s) : none();
}

struct num num_percent(double fraction)
{
    double percent = fabs(fraction) * 100;
    if (!isfinite(fraction))
        return none();
    if (percent >= 99.95)
        return format("%.36s %%", fixed(fraction * 100, 0).s);
    if (percent > 0 && percent < 0.001)
        return format("%s", fraction > 0 ? "< 0.001 %" : "> -0.001 %");
    return percent < 0.995 ? format("%.2g %%", fraction * 100)
                           : format("%.3g %%", round(fraction * 1000) / 10);
}

static struct num signed_percent(double fraction, int decimals)
{
    double percent = fraction * 100;
    if (!isfinite(percent))
        return none();
    if (fabs(percent) < 0.5 * pow(10, -decimals))
        return format("%.*f %%", decimals, 0.0);
    return format("%s%.36s %%", percent > 0 ? "+" : "", fixed(percent, decimals).s);
}

struct num num_change(double fraction)
{
    return signed_percent(fraction, 1);
}

struct num num_change_fine(double fraction)
{
    return signed_percent(fraction, 2);
}

struct num num_bytes(double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    if (!isfinite(bytes))
        return none();
    while (fabs(bytes) >= 1024 && i + 1 < sizeof unit / sizeof *unit) {
        bytes /= 1024;
        i++;
    }
    return i == 0 ? format("%.0f B", bytes) : format("%.30s %s", fixed(bytes, 1).s, unit[i]);
}

struct num num_fixed(double v, int decimals)
{
    return isfinite(v) ? fixed(v, decimals) : none();
}

struct num num_date(int64_t ms)
{
    char time[CLOCK_ISO_LEN + 1];
    struct num n;
    clock_iso8601((double)ms / 1000, time);
    snprintf(n.s, sizeof n.s, "%.10s", time);
    return n;
}

struct num num_int(int64_t v)
{
    return format("%lld", (long long)v);
}

struct num num_p(double p)
{
    if (!isfinite(p))
        return none();
    return p < 0.0001 ? format("< 0.0001") : format("%.2g", p);
}

struct num num_money(double v, const char *currency)
{
    if (!isfinite(v))
        return none();
    return v > 0 && v < 0.01 ? format("< 0.01 %.8s", currency)
                             : format("%.30s %.8s", fixed(v, 2).s, currency);
}
