// v5_tiles (v5_tile_loop): v5's portable tile loop, even where v5 would choose Hopper's pipeline or
// CDNA's ping-pong form.
#include "attention/v5_launch.h"

namespace
{
hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return v5::choose(args, [&](auto type, auto head_dim) {
        return v5::launch_tiles<type, head_dim>(args, v5::tiles_split(args.shape), stream);
    });
}
} // namespace

attn_variant attn_v5_tiles()
{
    attn_variant v{};
    v.name = "v5_tiles";
    v.attn_impl = "v5_tile_loop";
    v.idea = "v5's portable loop over tiles, on any matrix core";
    v.dtypes = 1u << ATTN_F16 | 1u << ATTN_BF16;
    v.deterministic = true;
    v.geometry = v5::tiles_geometry;
    v.scratch_bytes = v5::tiles_scratch;
    v.launch = launch;
    return v;
}
