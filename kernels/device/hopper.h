// Hopper's own instructions, one function each: mbarriers, TMA, WGMMA, named barriers and setmaxnreg.
// Device code for sm_90a only. Shared memory is addressed by 32-bit offsets (ptx::smem_address).
#pragma once

#include "device/fragment_ptx.h"

#include <cuda.h>

namespace hopper
{
// ---- mbarriers: a phase completes after `arrivals` arrivals and once all expected bytes have landed ----
__device__ __forceinline__ void mbarrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised mbarriers visible to TMA.
__device__ __forceinline__ void fence_mbarrier_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

// Waits until the phase with this parity is complete.
__device__ __forceinline__ void mbarrier_wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@over bra done;\n"
                 "bra again;\n"
                 "done:\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// Position in a ring of stages, which are handed over by mbarriers. Whoever fills them and whoever uses them
// advance it identically, so no index is shared.
template <int STAGES> struct ring_position {
    int stage = 0;
    uint32_t phase = 0;
    __device__ void advance()
    {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        phase ^= stage == 0;
    }
};

// ---- TMA: boxes of a tensor [batch][seq][heads][dims] ----
struct box {
    int dim, head, row, batch;
};

__device__ __forceinline__ void tma_load(uint32_t smem, const CUtensorMap *map, box from, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(smem),
                 "l"(map), "r"(from.dim), "r"(from.head), "r"(from.row), "r"(from.batch), "r"(barrier)
                 : "memory");
}

// Into the L2 cache only. A load behind a later write of the box gets what was written
// (tests/test_v5_ahead.cpp).
__device__ __forceinline__ void tma_prefetch(const CUtensorMap *map, box from)
{
    asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global [%0, {%1, %2, %3, %4}];" ::"l"(map),
                 "r"(from.dim), "r"(from.head), "r"(from.row), "r"(from.batch)
                 : "memory");
}

// Into the same place of every block of the cluster that `blocks` has a bit for, and with the same barrier
// there.
__device__ __forceinline__ void tma_load_multicast(uint32_t smem, const CUtensorMap *map, box from,
                                                   uint32_t barrier, uint16_t blocks)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(smem),
                 "l"(map), "r"(from.dim), "r"(from.head), "r"(from.row), "r"(from.batch), "r"(barrier),
                 "h"(blocks)
                 : "memory");
}

// Rows beyond the tensor are not written.
__device__ __forceinline__ void tma_store(const CUtensorMap *map, box to, uint32_t smem)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
        "r"(to.dim), "r"(to.head), "r"(to.row), "r"(to.batch), "r"(smem)
        : "memory");
}

__device__ __forceinline__ void tma_store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until the committed stores, but for the last PENDING, have read their source in shared memory.
template <int PENDING = 0> __device__ __forceinline__ void tma_store_wait()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// Until all committed stores have been written.
__device__ __forceinline__ void tma_store_end()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Orders ordinary stores to shared memory before accesses by TMA and WGMMA (the async proxy).
__device__ __forceinline__ void fence_async_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void stmatrix(uint32_t smem, const uint32_t (&from)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(smem), "r"(from[0]),
                 "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

__device__ __forceinline__ float tanh_fast(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// ---- clusters of blocks ----
__device__ __forceinline__ uint32_t cluster_rank()
{
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Every thread of the cluster that has not ended.
__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

// At the block with this rank, on the barrier that is at the same place there.
__device__ __forceinline__ void mbarrier_arrive_at(uint32_t barrier, uint32_t rank)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

// A word into the shared memory of the block with this rank, and its bytes onto a barrier there. Both are at
// the same places there.
__device__ __forceinline__ void store_at(uint32_t smem, uint32_t value, uint32_t barrier, uint32_t rank)
{
    asm volatile("{\n"
                 ".reg .b32 there, over;\n"
                 "mapa.shared::cluster.u32 there, %0, %3;\n"
                 "mapa.shared::cluster.u32 over, %2, %3;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %1, [over];\n"
                 "}" ::"r"(smem),
                 "r"(value), "r"(barrier), "r"(rank)
                 : "memory");
}

// ---- named barriers ----
__device__ __forceinline__ void named_barrier_sync(int name, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

__device__ __forceinline__ void named_barrier_arrive(int name, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

// ---- programmatic dependent launch: grids that start while the one before them in the stream ends ----
// Waits until the grid before this one has ended and its writes are visible. Before it, only what does not
// depend on any other grid may be done, and prefetches into the L2 cache.
__device__ __forceinline__ void grid_dependency_wait()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Once every block of this grid has called it, the next grid may take the place of blocks that end. Behind
// grid_dependency_wait(), so that no more than two grids are under way.
__device__ __forceinline__ void grid_dependents_launch()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// ---- register reallocation between warpgroups ----
template <int COUNT> __device__ __forceinline__ void setmaxnreg_dec()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT> __device__ __forceinline__ void setmaxnreg_inc()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// ---- WGMMA: c (64 x N, fp32) = a b [+ c], K = 16 ----
// Operands in shared memory are rows of 128 bytes in TMA's 128-byte swizzle, which repeats every eight rows.
constexpr uint32_t swizzled_row = 128;
constexpr uint32_t swizzled_group = 8 * swizzled_row;

// An operand in shared memory. `across`: bytes from one 128-byte panel of a row to the next (the leading byte
// offset), used where the operand is read by columns.
class operand
{
  public:
    __device__ __forceinline__ operand(uint32_t smem, uint32_t across)
        : smem_(smem), across_(across), low_(encode(smem, across))
    {
    }
    // The matrix descriptor of the part that begins `bytes` behind the start. Addresses in units of 16 bytes
    // have 14 bits and never carry into the next field.
    __device__ __forceinline__ uint64_t at(uint32_t bytes) const
    {
        return descriptor(low_ + (bytes >> 4));
    }
    // The same from the address.
    __device__ __forceinline__ uint64_t recomputed(uint32_t bytes) const
    {
        return descriptor(encode(smem_ + bytes, across_));
    }

  private:
    static __device__ __forceinline__ uint32_t encode(uint32_t smem, uint32_t across)
    {
        return (smem >> 4 & 0x3fffu) | across >> 4 << 16;
    }
    static __device__ __forceinline__ uint64_t descriptor(uint32_t low)
    {
        constexpr uint32_t high = swizzled_group >> 4 | 1u << 30;
        return static_cast<uint64_t>(high) << 32 | low;
    }

    uint32_t smem_, across_, low_;
};

__device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until at most PENDING committed groups are still running.
template <int PENDING> __device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

#define KS_C4(c, j) "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
#define KS_C16(c, j) KS_C4(c, j), KS_C4(c, j + 1), KS_C4(c, j + 2), KS_C4(c, j + 3)
#define KS_R32                                                                                               \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"    \
    "%27,%28,%29,%30,%31}"
#define KS_R64                                                                                               \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"    \
    "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,"   \
    "%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
#define KS_R128                                                                                              \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,"        \
    "%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,"           \
    "%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,"           \
    "%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,"           \
    "%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,"        \
    "%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}"
#define KS_ADD(flag) "{.reg .pred add; setp.ne.b32 add, " flag ", 0; "

// a and b from shared memory, both K-major (b's rows are c's columns).
#define KS_ROWS_PRODUCT(type)                                                                                \
    asm volatile(KS_ADD("%66") "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " " KS_R64       \
                               ", %64, %65, add, 1, 1, 0, 0;}"                                               \
                 : KS_C16(c, 0), KS_C16(c, 4), KS_C16(c, 8), KS_C16(c, 12)                                   \
                 : "l"(a), "l"(b), "r"(add))

template <format FORMAT>
__device__ __forceinline__ void wgmma(float (&c)[16][4], uint64_t a, uint64_t b, int add)
{
    if constexpr (FORMAT == format::bf16)
        KS_ROWS_PRODUCT("bf16");
    else
        KS_ROWS_PRODUCT("f16");
}

#define KS_ROWS_PRODUCT_256(type)                                                                            \
    asm volatile(KS_ADD("%130") "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " " KS_R128     \
                                ", %128, %129, add, 1, 1, 0, 0;}"                                            \
                 : KS_C16(c, 0), KS_C16(c, 4), KS_C16(c, 8), KS_C16(c, 12), KS_C16(c, 16), KS_C16(c, 20),    \
                   KS_C16(c, 24), KS_C16(c, 28)                                                              \
                 : "l"(a), "l"(b), "r"(add))

template <format FORMAT>
__device__ __forceinline__ void wgmma(float (&c)[32][4], uint64_t a, uint64_t b, int add)
{
    if constexpr (FORMAT == format::bf16)
        KS_ROWS_PRODUCT_256("bf16");
    else
        KS_ROWS_PRODUCT_256("f16");
}

// a from registers, b from shared memory, MN-major (its rows run along c's columns).
#define KS_COLUMNS_PRODUCT_128(type)                                                                         \
    asm volatile(KS_ADD("%69") "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " " KS_R64       \
                               ", {%64,%65,%66,%67}, %68, add, 1, 1, 1;}"                                    \
                 : KS_C16(c, 0), KS_C16(c, 4), KS_C16(c, 8), KS_C16(c, 12)                                   \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))
#define KS_COLUMNS_PRODUCT_64(type)                                                                          \
    asm volatile(KS_ADD("%37") "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " KS_R32        \
                               ", {%32,%33,%34,%35}, %36, add, 1, 1, 1;}"                                    \
                 : KS_C16(c, 0), KS_C16(c, 4)                                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))

template <format FORMAT>
__device__ __forceinline__ void wgmma(float (&c)[16][4], const uint32_t (&a)[4], uint64_t b, int add)
{
    if constexpr (FORMAT == format::bf16)
        KS_COLUMNS_PRODUCT_128("bf16");
    else
        KS_COLUMNS_PRODUCT_128("f16");
}

template <format FORMAT>
__device__ __forceinline__ void wgmma(float (&c)[8][4], const uint32_t (&a)[4], uint64_t b, int add)
{
    if constexpr (FORMAT == format::bf16)
        KS_COLUMNS_PRODUCT_64("bf16");
    else
        KS_COLUMNS_PRODUCT_64("f16");
}

#undef KS_COLUMNS_PRODUCT_64
#undef KS_COLUMNS_PRODUCT_128
#undef KS_ROWS_PRODUCT_256
#undef KS_ROWS_PRODUCT
#undef KS_ADD
#undef KS_R128
#undef KS_R64
#undef KS_R32
#undef KS_C16
#undef KS_C4
} // namespace hopper
