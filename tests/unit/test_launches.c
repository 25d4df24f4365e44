/* launches: which kernel is said to work one head after the other, and which is not. */
#include "tests/unit/support.h"

#include "results/judge/launches.h"

#include <math.h>

#define UNKNOWN ((double)NAN)

/* At S=512, D=64, on 132 units. */
static struct launch at(const char *kernel, double batch, double heads, double ms, double blocks)
{
    return (struct launch){.kernel = kernel,
                           .ms = ms,
                           .batch = batch,
                           .heads = heads,
                           .seq = 512,
                           .head_dim = 64,
                           .blocks = blocks,
                           .block_threads = 32,
                           .query_threads = 32,
                           .units = 132};
}

TEST(a_grid_that_does_not_grow_is_flagged)
{
    const struct launch all[] = {at("serial", 1, 1, 3.0, 16), at("serial", 4, 4, 43.6, 16)};
    struct launch_growth least = launch_growth(all, 2, 0), most = launch_growth(all, 2, 1);
    assert_true(least.has_peer && !least.largest && !least.serialised);
    assert_true(most.has_peer && most.largest && most.grid_known && most.serialised);
    assert_true(most.work == 16 && most.expected == 1 && most.blocks == 16);
    assert_float_equal(most.actual, 43.6 / 3.0, 1e-9);
}

TEST(a_device_that_fills_up_is_not)
{
    const struct launch all[] = {at("base", 1, 8, 0.5, 128), at("base", 8, 16, 7.9, 2048)};
    struct launch_growth g = launch_growth(all, 2, 1);
    assert_true(g.expected == 16 && !g.serialised);
}

/* A library's kernel: its time alone says it. */
TEST(without_a_grid_time_against_room_decides)
{
    const struct launch flat[] = {at("sdpa", 1, 1, 0.060, UNKNOWN), at("sdpa", 4, 4, 0.066, UNKNOWN)};
    const struct launch serial[] = {at("sdpa", 1, 1, 0.060, UNKNOWN), at("sdpa", 4, 4, 0.960, UNKNOWN)};
    const struct launch full[] = {at("sdpa", 1, 8, 0.06, UNKNOWN), at("sdpa", 8, 16, 0.96, UNKNOWN)};
    struct launch_growth g = launch_growth(flat, 2, 1);
    assert_true(!g.grid_known && g.blocks == 128 && g.expected == 1 && !g.serialised);
    assert_true(launch_growth(serial, 2, 1).serialised);
    assert_false(launch_growth(full, 2, 1).serialised); /* 1024 blocks on 132 units take their time */
}

TEST(only_the_same_kernel_and_shape_is_a_fellow)
{
    struct launch all[] = {at("a", 1, 1, 1, 16), at("b", 1, 4, 4, 16), at("a", 1, 4, 4, 16),
                           at("a", 1, 4, 4, 16)};
    all[2].seq = 128;
    all[3].head_dim = 128;
    for (size_t i = 0; i < 4; i++)
        assert_false(launch_growth(all, 4, i).has_peer);
    all[2].seq = 512;
    assert_true(launch_growth(all, 4, 0).has_peer && launch_growth(all, 4, 2).serialised);
}

/* 16 times the batch x heads: what another kernel does with it says more than any device's description. */
TEST(a_kernel_that_grows_like_its_work_has_one_that_does_not)
{
    struct launch all[] = {at("v3", 1, 8, 6.8, UNKNOWN),       at("v3", 4, 16, 45.3, UNKNOWN),
                           at("v3", 8, 16, 117.2, UNKNOWN),    at("sdpa", 1, 8, 0.0154, UNKNOWN),
                           at("sdpa", 8, 16, 0.1235, UNKNOWN), at("ours", 1, 8, 1, UNKNOWN),
                           at("ours", 8, 16, 9, UNKNOWN)};
    for (size_t i = 0; i < 7; i++)
        all[i].units = UNKNOWN;
    assert_int_equal(launch_outgrown_by(all, 7, 2), 4);
    assert_int_equal(launch_outgrown_by(all, 7, 1), 7); /* not its largest */
    assert_int_equal(launch_outgrown_by(all, 7, 4), 7); /* grows half as much as its work */
    all[3].heads = 4;
    assert_int_equal(launch_outgrown_by(all, 7, 2), 7); /* over other work */
}

TEST(a_device_that_nobody_described_flags_nothing)
{
    struct launch all[] = {at("a", 1, 1, 1, 16), at("a", 1, 4, 4, 16), at("a", UNKNOWN, 4, 4, 16)};
    all[0].units = all[1].units = UNKNOWN;
    struct launch_growth g = launch_growth(all, 3, 1);
    assert_true(g.expected == 4 && !g.serialised);
    assert_false(launch_growth(all, 3, 2).has_peer);
}
