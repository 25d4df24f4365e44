// v5 behind a grid that writes its inputs late. v5's blocks start while that grid still runs, and prefetch
// their first keys and queries into the L2 cache, which by then are the old ones. The output must be that of
// the new ones. A load in the place of the prefetch must find the old ones: else the grids did not overlap,
// and nothing was tested.
#include "tests/tap.h"

#if defined(KS_WGMMA)
#include "attention/v5_hopper_launch.h"
#include "runner/tensors.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace
{
constexpr uint64_t late_ns = 300000; // until the grid in front writes: many times what a launch takes
constexpr int repetitions = 5;

__device__ uint64_t clock_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

struct late_copy {
    void *to;
    const void *from;
    size_t bytes; // a multiple of 16
};

struct late_copies {
    late_copy of[3];
};

// One block, so that the next grid's blocks find free SMs. They may start at once.
__global__ void write_late(late_copies copies)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    hopper::grid_dependents_launch();
    for (const uint64_t start = clock_ns(); clock_ns() - start < late_ns;)
        ;
    for (const late_copy &copy : copies.of)
        for (size_t i = threadIdx.x; i < copy.bytes / sizeof(uint4); i += blockDim.x)
            static_cast<uint4 *>(copy.to)[i] = static_cast<const uint4 *>(copy.from)[i];
#endif
}

// The grid in front, behind a memset that replaces all that the L2 cache holds, so that what a prefetch
// brings there are the old values.
class front
{
  public:
    void enqueue(const late_copies &copies) const
    {
        hip_check(cudaMemsetAsync(other_.get(), 0, size, nullptr), "cannot fill the L2 cache");
        hipLaunchKernelGGL(write_late, dim3(1), dim3(1024), 0, nullptr, copies);
        hip_check(hipGetLastError(), "cannot launch the grid in front");
    }

  private:
    static constexpr size_t size = 256u << 20; // larger than that cache
    device_memory other_{size};
};

// ---- whether the grids overlap, and a prefetch without v5 around it ----
constexpr int boxes = 64, box_rows = 64, box_bytes = box_rows * 128;
constexpr size_t boxes_bytes = static_cast<size_t>(boxes) * box_bytes;

// Each block loads a box: with PREFETCH as v5 does, else before it waits for the grid in front, which is the
// mistake that would give old values.
template <bool PREFETCH>
__global__ void load_ahead(const __grid_constant__ CUtensorMap map, unsigned char *to)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(1024) unsigned char box[box_bytes];
    __shared__ uint64_t full;
    const hopper::box from = {0, 0, static_cast<int>(blockIdx.x) * box_rows, 0};
    const uint32_t barrier = ptx::smem_address(&full);
    if (threadIdx.x == 0) {
        hopper::mbarrier_init(barrier, 1);
        hopper::fence_mbarrier_init();
        if (PREFETCH) {
            hopper::tma_prefetch(&map, from);
            hopper::grid_dependency_wait();
        }
        hopper::mbarrier_arrive_expect_tx(barrier, box_bytes);
        hopper::tma_load(ptx::smem_address(box), &map, from, barrier);
    }
    __syncthreads();
    hopper::mbarrier_wait(barrier, 0);
    hopper::grid_dependency_wait();
    for (int i = static_cast<int>(threadIdx.x); i < box_bytes; i += static_cast<int>(blockDim.x))
        to[static_cast<size_t>(blockIdx.x) * box_bytes + i] = box[i];
#endif
}

// How many of the bytes that load_ahead() finds are the new ones.
template <bool PREFETCH> size_t new_bytes(const front &grid)
{
    constexpr unsigned char was = 1, is = 2;
    const device_memory memory(boxes_bytes), late(boxes_bytes), found(boxes_bytes);
    CUtensorMap map;
    if (!hopper::describe(&map, {memory.get(), format::bf16, 1, boxes * box_rows, 1, 64}, box_rows))
        throw failure{EXIT_FAILED, "cannot describe a tensor"};
    std::vector<unsigned char> host(boxes_bytes);
    for (int run = 0; run < 2; run++) { // the first one loads the kernels
        hip_check(cudaMemset(memory.get(), was, boxes_bytes), "memset");
        hip_check(cudaMemset(late.get(), is, boxes_bytes), "memset");
        grid.enqueue({{{memory.get(), late.get(), boxes_bytes}}});
        hip_check(hopper::launch_dependent(load_ahead<PREFETCH>, {boxes, 128}, nullptr, map,
                                           static_cast<unsigned char *>(found.get())),
                  "load_ahead");
        hip_check(hipMemcpy(host.data(), found.get(), boxes_bytes, hipMemcpyDeviceToHost), "load_ahead");
    }
    return static_cast<size_t>(std::count(host.begin(), host.end(), is));
}

// compute-sanitizer may keep grids apart.
bool under_a_sanitizer()
{
    std::ifstream maps("/proc/self/maps");
    const std::string all{std::istreambuf_iterator<char>(maps), {}};
    return all.find("sanitizer") != std::string::npos;
}

void test_overlap(tap &t, const front &grid)
{
    const std::string title = "a load before the wait gets the old values";
    const size_t early = new_bytes<false>(grid);
    if (early != 0 && under_a_sanitizer())
        t.skip(title, "compute-sanitizer keeps the grids apart");
    else
        t.check(early == 0, title,
                std::to_string(early) + " of " + std::to_string(boxes_bytes) +
                    " bytes are new: the grids did not overlap, so the other checks show nothing");
    t.check(new_bytes<true>(grid) == boxes_bytes,
            "a prefetch before the wait, a load behind it: the new values");
}

// ---- v5 ----
using bytes = std::vector<unsigned char>;

void enqueue(const attn_variant &v5, const tensors &memory)
{
    hip_check(v5.launch(memory.args(), nullptr), "v5");
}

bytes output_alone(const attn_variant &v5, tensors &memory)
{
    memory.poison();
    hip_check(hipDeviceSynchronize(), "v5");
    enqueue(v5, memory);
    return memory.copy().o;
}

bytes output_behind(const front &grid, const attn_variant &v5, tensors &memory, const tensors &late)
{
    const attn_args to = memory.args(), from = late.args();
    const size_t query_bytes = query_elements(to.shape) * dtype_bytes(to.shape.dtype);
    const size_t key_bytes = key_elements(to.shape) * dtype_bytes(to.shape.dtype);
    memory.poison();
    grid.enqueue({{{const_cast<void *>(to.q), from.q, query_bytes},
                   {const_cast<void *>(to.k), from.k, key_bytes},
                   {const_cast<void *>(to.v), from.v, key_bytes}}});
    enqueue(v5, memory);
    return memory.copy().o;
}

// Only a launch with a counter writes the first word of scratch.
bool has_counter(const attn_variant &v5, const tensors &memory)
{
    constexpr uint32_t unused = 0xffffffff;
    uint32_t word = unused;
    hip_check(hipMemcpy(memory.args().scratch, &word, sizeof word, hipMemcpyHostToDevice), "scratch");
    enqueue(v5, memory);
    hip_check(hipMemcpy(&word, memory.args().scratch, sizeof word, hipMemcpyDeviceToHost), "scratch");
    return word != unused;
}

std::string form_of(const attn_shape &s)
{
    if (v5::pipeline_split(s).parts > 1)
        return "split";
    if (v5::takes_three(s))
        return "three consumers";
    if (v5::takes_pairs(s))
        return s.causal || s.seq > v5::longest_ping_pong ? "clusters without ping-pong" : "clusters";
    return s.head_dim == 128 && s.seq > v5::longest_ping_pong ? "no ping-pong" : "two consumers";
}

// Returns the form that was launched.
std::string test_shape(tap &t, const front &grid, const attn_variant &v5, const attn_shape &s)
{
    tensors memory(s, v5), late(s, v5);
    late.fill(2);
    memory.fill(1);
    const bytes expected = output_alone(v5, late), of_old = output_alone(v5, memory);
    const std::string form = form_of(s) + (has_counter(v5, memory) ? ", counted" : ", in turn");
    int right = 0;
    for (int run = 0; run < repetitions; run++) {
        memory.fill(1);
        right += output_behind(grid, v5, memory, late) == expected;
    }
    char name[160];
    std::snprintf(name, sizeof name, "B=%d S=%d H=%d/%d D=%d %s, %s: the output of the new values", s.batch,
                  s.seq, s.q_heads, s.kv_heads, s.head_dim, s.causal ? "causal" : "full", form.c_str());
    t.check(expected != of_old && right == repetitions, name,
            std::to_string(right) + " of " + std::to_string(repetitions) + " are");
    return form;
}

void test_forms(tap &t, const front &grid, const attn_variant &v5)
{
    constexpr attn_shape shapes[] = {
        {1, 2048, 16, 4, 128, true, ATTN_BF16}, {4, 640, 32, 8, 128, true, ATTN_BF16},
        {1, 4096, 1, 1, 128, true, ATTN_BF16},  {1, 4096, 1, 1, 128, false, ATTN_BF16},
        {4, 512, 32, 8, 128, false, ATTN_BF16}, {4, 384, 16, 4, 128, false, ATTN_BF16},
        {8, 384, 32, 8, 128, false, ATTN_F16},  {1, 2048, 16, 4, 64, true, ATTN_BF16},
        {16, 256, 16, 4, 64, true, ATTN_BF16},  {1, 4096, 32, 8, 64, true, ATTN_BF16},
        {1, 1536, 24, 6, 64, false, ATTN_BF16}, {1, 4096, 2, 1, 64, true, ATTN_F16},
        {1, 4096, 2, 1, 64, false, ATTN_BF16},  {1, 20608, 2, 1, 128, true, ATTN_BF16},
        {1, 6144, 8, 2, 128, false, ATTN_BF16}, {1, 12500, 6, 2, 128, true, ATTN_BF16},
        {16, 512, 16, 4, 128, false, ATTN_F16}, {1, 8448, 12, 3, 128, false, ATTN_BF16},
        {1, 8320, 12, 3, 128, true, ATTN_BF16}, {1, 8320, 12, 3, 128, false, ATTN_F16},
    };
    std::set<std::string> launched;
    for (const attn_shape &s : shapes)
        launched.insert(test_shape(t, grid, v5, s));
    for (const char *form : {"split, in turn", "clusters, in turn", "clusters, counted",
                             "two consumers, in turn", "two consumers, counted", "three consumers, in turn",
                             "three consumers, counted", "no ping-pong, in turn", "no ping-pong, counted",
                             "clusters without ping-pong, in turn", "clusters without ping-pong, counted"})
        t.check(launched.count(form) == 1, std::string("among them ") + form);
}

void test_all(tap &t)
{
    const attn_variant *v5 = attn_find("v5");
    if (!hopper::available() || !v5) {
        t.skip("every check", v5 ? "the device is not a Hopper GPU" : "v5 is not compiled in");
        return;
    }
    const front grid;
    test_overlap(t, grid);
    test_forms(t, grid, *v5);
}
} // namespace
#else
namespace
{
void test_all(tap &t)
{
    t.skip("every check", "only Hopper's grids start ahead of the end of the one before");
}
} // namespace
#endif

int main(int argc, char **argv)
{
    return run_tests("v5 ahead", test_all, argc, argv);
}
