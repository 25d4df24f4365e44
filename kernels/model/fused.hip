#include "base/hip_check.h"
#include "model/fused.h"

#if !defined(KS_PLATFORM_NVIDIA)
bool fused_gate_up(void *, const void *, const void *, attn_dtype, int, int, int)
{
    return false;
}

bool fused_qkv(const rope_args &, const void *, const void *, int)
{
    return false;
}
#else
#include "device/cores.h"
#include "device/hopper_launch.h"
#include "model/products_hopper.h"

namespace
{
constexpr int section = 8; // row pairs: 2,048 rows

int clusters()
{
    return device_cores() / 2;
}

int parts(int count, int of)
{
    return (count + of - 1) / of;
}

// Whether at most a sixteenth of the SMs' time is lost because the last round of work tiles does not need all
// of them. A library has kernels with smaller tiles for that case.
bool fills(const products::shape &s)
{
    const int tiles = s.row_pairs * s.columns, at_once = clusters();
    return at_once > 0 && tiles * 16 >= parts(tiles, at_once) * at_once * 15;
}

hopper::tensor matrix(const void *data, format type, int rows, int columns)
{
    return {data, type, 1, rows, 1, columns};
}

template <class P>
void launch(const products::shape &s, const products::tensor_maps &maps, const typename P::parameters &to)
{
    const unsigned blocks = static_cast<unsigned>(clusters() * P::cluster);
    hip_check(hopper::launch_dependent(products::multiply<P>,
                                       {blocks, P::threads, P::shared_bytes, P::cluster}, nullptr, s, maps,
                                       to),
              "cannot launch a fused product");
}

template <format FORMAT> bool gate_up(void *y, const void *x, const void *w, int rows, int ffn, int in)
{
    using P = products::gated<FORMAT>;
    const products::shape s{parts(in, P::step), parts(rows, P::cluster * P::tile_rows), parts(ffn, P::half),
                            section};
    products::tensor_maps maps{};
    if (!fills(s) || !hopper::describe(&maps.x, matrix(x, FORMAT, rows, in), P::tile_rows) ||
        !hopper::describe(&maps.w, matrix(w, FORMAT, 2 * ffn, in), P::half) ||
        !hopper::describe(&maps.y[0], matrix(y, FORMAT, rows, ffn), P::F::queries))
        return false;
    launch<P>(s, maps, {ffn});
    return true;
}

template <format FORMAT> bool qkv(const rope_args &a, const void *x, const void *w, int in)
{
    using P = products::turned<FORMAT>;
    const int q = a.q_heads * a.head_dim, kv = a.kv_heads * a.head_dim;
    const products::shape s{parts(in, P::step), parts(a.rows, P::cluster * P::tile_rows),
                            parts(q + 2 * kv, 2 * P::half), section};
    products::tensor_maps maps{};
    if (!fills(s) || q % P::half != 0 || kv % P::half != 0 ||
        !hopper::describe(&maps.x, matrix(x, FORMAT, a.rows, in), P::tile_rows) ||
        !hopper::describe(&maps.w, matrix(w, FORMAT, q + 2 * kv, in), P::half) ||
        !hopper::describe(&maps.y[0], matrix(a.q, FORMAT, a.rows, q), P::F::queries) ||
        !hopper::describe(&maps.y[1], matrix(a.k, FORMAT, a.rows, kv), P::F::queries) ||
        !hopper::describe(&maps.y[2], matrix(a.v, FORMAT, a.rows, kv), P::F::queries))
        return false;
    launch<P>(s, maps, {a.turns, a.rows, q, kv, a.head_dim, a.rope_dims});
    return true;
}
} // namespace

bool fused_gate_up(void *y, const void *x, const void *w, attn_dtype type, int rows, int ffn, int in)
{
    if (type == ATTN_F32 || !hopper::available())
        return false;
    return type == ATTN_F16 ? gate_up<format::f16>(y, x, w, rows, ffn, in)
                            : gate_up<format::bf16>(y, x, w, rows, ffn, in);
}

bool fused_qkv(const rope_args &a, const void *x, const void *w, int in)
{
    if (a.type == ATTN_F32 || a.type != a.to_type || !hopper::available())
        return false;
    return a.type == ATTN_F16 ? qkv<format::f16>(a, x, w, in) : qkv<format::bf16>(a, x, w, in);
}
#endif
