#include "base/failure.h"
#include "base/hip_check.h"
#include "model/fused.h"

#if !defined(KS_PLATFORM_NVIDIA)
namespace
{
const failure no_kernel = {EXIT_FAILED, "there are no fused products for this device"};
}

int row_parts(int)
{
    return 0;
}

bool fuses_gate_up(attn_dtype, int, int, int)
{
    return false;
}

void fused_gate_up(void *, const void *, const row_norms &, const void *, attn_dtype, int, int, int)
{
    throw no_kernel;
}

bool fuses_qkv(const rope_args &, int)
{
    return false;
}

void fused_qkv(const rope_args &, const void *, const row_norms &, const void *, int)
{
    throw no_kernel;
}

bool fuses_sum(attn_dtype, int, int, int)
{
    return false;
}

void fused_sum(const sum_args &, const void *, const void *, int)
{
    throw no_kernel;
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

bool takes(attn_dtype type)
{
    return type != ATTN_F32 && hopper::available();
}

// TMA requires rows of a multiple of 16 bytes.
bool fits(int columns)
{
    return columns % 8 == 0;
}

void describe(CUtensorMap *map, const void *data, format type, int rows, int columns, int box_rows)
{
    if (!hopper::describe(map, {data, type, 1, rows, 1, columns}, box_rows))
        throw failure{EXIT_FAILED, "cannot describe a matrix of " + std::to_string(rows) + " x " +
                                       std::to_string(columns) + " to the GPU"};
}

products::row_norms divisors(const row_norms &n)
{
    return {n.squares, row_parts(n.width), n.rows, 1.0f / static_cast<float>(n.width), n.eps};
}

template <class P>
void launch(const products::shape &s, const products::tensor_maps &maps, const row_norms &norms,
            const typename P::parameters &to)
{
    const unsigned blocks = static_cast<unsigned>(clusters() * P::cluster);
    hip_check(hopper::launch_dependent(products::multiply<P>,
                                       {blocks, P::threads, P::shared_bytes, P::cluster}, nullptr, s, maps,
                                       divisors(norms), to),
              "cannot launch a fused product");
}

// `width`: rows of W that a work tile takes.
products::shape shape_of(int rows, int out, int in, int width)
{
    using P = products::pipeline<format::bf16>;
    return {parts(in, P::step), parts(rows, P::cluster * P::tile_rows), parts(out, width), section};
}

products::shape gate_up_shape(int rows, int ffn, int in)
{
    return shape_of(rows, ffn, in, products::pipeline<format::bf16>::half); // of G, and as many of U
}

products::shape qkv_shape(const rope_args &a, int in)
{
    const int columns = (a.q_heads + 2 * a.kv_heads) * a.head_dim;
    return shape_of(a.rows, columns, in, 2 * products::pipeline<format::bf16>::half);
}

products::shape sum_shape(int rows, int width, int in)
{
    return shape_of(rows, width, in, products::summed::columns);
}

template <format FORMAT>
void gate_up(void *y, const void *x, const row_norms &norms, const void *w, int rows, int ffn, int in)
{
    using P = products::gated<FORMAT>;
    products::tensor_maps maps{};
    describe(&maps.x, x, FORMAT, rows, in, P::tile_rows);
    describe(&maps.w, w, FORMAT, 2 * ffn, in, P::half);
    describe(&maps.y[0], y, FORMAT, rows, ffn, P::F::queries);
    launch<P>(gate_up_shape(rows, ffn, in), maps, norms, {ffn});
}

template <format FORMAT>
void qkv(const rope_args &a, const void *x, const row_norms &norms, const void *w, int in)
{
    using P = products::turned<FORMAT>;
    const int q = a.q_heads * a.head_dim, kv = a.kv_heads * a.head_dim;
    products::tensor_maps maps{};
    describe(&maps.x, x, FORMAT, a.rows, in, P::tile_rows);
    describe(&maps.w, w, FORMAT, q + 2 * kv, in, P::half);
    describe(&maps.y[0], a.q, FORMAT, a.rows, q, P::F::queries);
    describe(&maps.y[1], a.k, FORMAT, a.rows, kv, P::F::queries);
    describe(&maps.y[2], a.v, FORMAT, a.rows, kv, P::F::queries);
    launch<P>(qkv_shape(a, in), maps, norms, {a.turns, a.rows, q, kv, a.head_dim, a.rope_dims});
}
} // namespace

int row_parts(int width)
{
    return width / products::summed::columns;
}

bool fuses_gate_up(attn_dtype type, int rows, int ffn, int in)
{
    return takes(type) && fits(in) && fits(ffn) && fills(gate_up_shape(rows, ffn, in));
}

void fused_gate_up(void *y, const void *x, const row_norms &norms, const void *w, attn_dtype type, int rows,
                   int ffn, int in)
{
    if (type == ATTN_F16)
        gate_up<format::f16>(y, x, norms, w, rows, ffn, in);
    else
        gate_up<format::bf16>(y, x, norms, w, rows, ffn, in);
}

bool fuses_qkv(const rope_args &a, int in)
{
    constexpr int half = products::pipeline<format::bf16>::half;
    return takes(a.type) && a.type == a.to_type && fits(in) && a.q_heads * a.head_dim % half == 0 &&
           a.kv_heads * a.head_dim % half == 0 && fills(qkv_shape(a, in));
}

void fused_qkv(const rope_args &a, const void *x, const row_norms &norms, const void *w, int in)
{
    if (a.type == ATTN_F16)
        qkv<format::f16>(a, x, norms, w, in);
    else
        qkv<format::bf16>(a, x, norms, w, in);
}

bool fuses_sum(attn_dtype type, int rows, int width, int in)
{
    return type == ATTN_BF16 && takes(type) && fits(in) && width % products::summed::columns == 0 &&
           fills(sum_shape(rows, width, in));
}

void fused_sum(const sum_args &a, const void *x, const void *w, int in)
{
    using P = products::summed;
    products::tensor_maps maps{};
    describe(&maps.x, x, format::bf16, a.rows, in, P::tile_rows);
    describe(&maps.w, w, format::bf16, a.width, in, P::half);
    describe(&maps.y[0], a.y, format::bf16, a.rows, a.width, P::F::queries);
    launch<P>(sum_shape(a.rows, a.width, in), maps, {},
              {static_cast<uint16_t *>(a.y), a.stream, a.weight, a.squares, a.rows, a.width});
}
#endif
