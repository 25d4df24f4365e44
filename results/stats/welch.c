#include "results/stats/stats.h"

#include <math.h>

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return f;
}

/* The logarithm of 1 / B(a, b). */
static double log_norm(double a, double b)
{
    return lgamma(a + b) - lgamma(a) - lgamma(b);
}

/* Regularised: I_x(a, b). norm: log_norm(a, b). */
static double incomplete_beta(double a, double b, double x, double norm)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(norm + a * log(x) + b * log(1 - x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double t_tails(double t, double df, double norm)
{
    return isinf(t) ? 0 : incomplete_beta(df / 2, 0.5, df / (df + t * t), norm);
}

double stats_t_p(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    return t_tails(t, df, log_norm(df / 2, 0.5));
}

/* Student's density. norm: lgamma((df + 1) / 2) - lgamma(df / 2). */
static double t_density(double t, double df, double norm)
{
    return exp(norm - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * M_PI);
}

/* Newton's method for log p as a function of log t: that is concave, so after one step it nears the limit
 * from one side. A step at most doubles t, so p does not become 0. */
double stats_t_limit(double p, double df)
{
    double t = 1;
    if (!(p > 0 && p < 1) || !(df > 0))
        return NAN;
    double of_tails = log_norm(df / 2, 0.5), of_density = lgamma((df + 1) / 2) - lgamma(df / 2);
    for (int i = 0; i < 100; i++) {
        double at = t_tails(t, df, of_tails), slope = -2 * t_density(t, df, of_density) * t / at;
        double step = fmin(log(p / at) / slope, M_LN2);
        t *= exp(step);
        if (fabs(step) < 1e-10)
            break;
    }
    return t;
}

double stats_welch(const double *x, size_t n, const double *y, size_t m)
{
    if (n < 2 || m < 2)
        return NAN;
    double a = pow(stats_sd(x, n), 2) / (double)n, b = pow(stats_sd(y, m), 2) / (double)m;
    double apart = stats_mean(y, m) - stats_mean(x, n);
    if (!(a + b > 0))
        return apart == 0 ? 1 : 0;
    double df = (a + b) * (a + b) / (a * a / (double)(n - 1) + b * b / (double)(m - 1));
    return stats_t_p(apart / sqrt(a + b), df);
}
