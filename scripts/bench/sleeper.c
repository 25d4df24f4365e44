/* The workload of the benchmarks: sleeps MS milliseconds and reports how long it took by its own clock.
 * Linked statically, so that almost nothing happens before its clock starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    double start = now_s();
    long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&nap, NULL);
    double slept = now_s() - start;
    printf("[PERF_TIMING] {\"model_load_s\": 0, \"tokenize_s\": 0, \"prefill_s\": %.6f, \"decode_s\": 0, "
           "\"attn_impl\": \"sleep\", \"own_wall_s\": %.6f}\n",
           slept, now_s() - start);
    return 0;
}
