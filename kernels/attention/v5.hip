// v5 (v5_mma): attention on the matrix cores; 16-bit inputs, fp32 accumulation (docs/kernels/v5.md). This
// file chooses the form for the device: the warp-specialised pipeline on Hopper, ping-pong on CDNA (and its
// emulation on the CPU), the tile loop elsewhere.
#include "attention/v5_launch.h"

#if defined(KS_PLATFORM_NVIDIA)
#include "attention/v5_hopper_launch.h"

namespace
{
hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return v5::choose(args, [&](auto type, auto head_dim) {
        return hopper::available()
                   ? v5::launch_pipelined<type, head_dim>(args, v5::pipeline_split(args.shape), stream)
                   : v5::launch_tiles<type, head_dim>(args, v5::tiles_split(args.shape), stream);
    });
}

size_t scratch_bytes(const attn_shape &s)
{
    return hopper::available() ? v5::pipeline_scratch(s) : v5::tiles_scratch(s);
}

attn_geometry geometry(const attn_shape &s)
{
    return hopper::available() ? v5::pipeline_geometry(s) : v5::tiles_geometry(s);
}
} // namespace
#else
#include "attention/v5_cdna_launch.h"

namespace
{
hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return v5::choose(args, [&](auto type, auto head_dim) {
        return v5::launch_cdna<type, head_dim>(args, v5::cdna_split(args.shape), stream);
    });
}

constexpr auto scratch_bytes = v5::cdna_scratch;
constexpr auto geometry = v5::cdna_geometry;
} // namespace
#endif

attn_variant attn_v5()
{
    attn_variant v{};
    v.name = "v5";
    v.attn_impl = "v5_mma";
    v.idea = "matrix cores: 16-bit inputs, fp32 sums, the best form for the device";
    v.dtypes = 1u << ATTN_F16 | 1u << ATTN_BF16;
    v.deterministic = true;
    v.geometry = geometry;
    v.scratch_bytes = scratch_bytes;
    v.launch = launch;
    return v;
}
