// Runs a grid on the CPU. A worker takes one block at a time and runs its threads as fibers, in order, each
// until it ends, reaches a barrier, or waits for its wave in a shuffle; then it switches to the next thread
// itself, since one more switch, by way of the scheduler, would take as long as what many kernels do in
// between. Scheduling is cooperative and a fiber never changes its worker, so results are deterministic, and
// divergence at a barrier is detected (no thread can continue) instead of hanging.
#include "device/cpu.h"
#include "device/cpu_internal.h"
#include "device/cpu_stack.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>

__thread ks_cpu_context ks_cpu;

namespace
{
namespace context = boost::context;

constexpr unsigned max_block_threads = 1024;
constexpr size_t lds_alignment = 128;

enum class state { ready, at_barrier, in_wave, in_wide_wave, done };

struct site {
    const char *file = "";
    int line = 0;
    bool operator==(const site &other) const
    {
        return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
    }
};

// Boost requires a stack allocator; the stacks remain owned by the worker.
struct borrowed_stack {
    context::stack_context allocate()
    {
        return {};
    }
    void deallocate(context::stack_context &)
    {
    }
};

// A thread of the block, or the scheduler.
struct execution {
    context::fiber fiber;   // while suspended
    void *frames = nullptr; // AddressSanitizer's, while suspended
    ks_stack_bounds stack;
};

struct thread_slot : execution {
    dim3 index;
    state now = state::done;
    site where;
    uint32_t offer[2] = {0, 0}; // operands of this and of the previous shuffle
    unsigned shuffles = 0;
};

bool environment_is(const char *variable, const char *value)
{
    const char *text = std::getenv(variable);
    return text && std::strcmp(text, value) == 0;
}

std::string text(dim3 i)
{
    return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
}

// Runs blocks on one core.
class worker
{
  public:
    worker(dim3 grid, dim3 block, size_t lds_bytes, const std::function<void()> &thread)
        : grid_(grid), block_(block), threads_(block.x * block.y * block.z), thread_(thread),
          slots_(threads_), lds_(lds_bytes + lds_alignment), stacks_(cpu_stacks().take(threads_))
    {
    }
    ~worker()
    {
        cpu_stacks().give_back(std::move(stacks_));
    }
    worker(const worker &) = delete;
    worker &operator=(const worker &) = delete;

    // Empty when every thread ran to completion, else a description of the divergence.
    std::string run_block(dim3 index);
    void wait(state why, site where);
    uint32_t shuffle(uint32_t value, unsigned source_lane, site where);

  private:
    void start(unsigned thread);
    context::fiber thread_main(thread_slot &slot);
    execution &next();
    void switch_to(execution &to, execution &self);
    void unwind(thread_slot &slot);
    void run_pass(unsigned first, unsigned last);
    void run_wave(unsigned first, unsigned last);
    void run_wide_wave(unsigned first);
    void run_waves();
    bool release(unsigned first, unsigned last, state why);
    std::string stuck(dim3 index) const;

    dim3 grid_, block_;
    unsigned threads_;
    bool reverse_ = environment_is("KERNSWEEP_CPU_ORDER", "reverse");
    const std::function<void()> &thread_;
    std::vector<thread_slot> slots_;
    std::vector<unsigned char> lds_;
    std::vector<std::unique_ptr<cpu_stack>> stacks_;
    execution scheduler_;
    thread_slot *running_ = nullptr;
    execution *left_ = nullptr; // what the last switch left
    struct {
        unsigned first, last, passed;
    } pass_;
};

thread_local worker *this_worker;

void worker::start(unsigned thread)
{
    thread_slot &slot = slots_[thread];
    slot.index = dim3(thread % block_.x, thread / block_.x % block_.y, thread / (block_.x * block_.y));
    slot.now = state::ready;
    slot.shuffles = 0;
    slot.stack = stacks_[thread]->bounds();
    ks_stack_is_clean(slot.stack);
    const context::preallocated place(stacks_[thread]->top(), cpu_stack_bytes, {});
    slot.fiber =
        context::fiber(std::allocator_arg, place, borrowed_stack(), [this, &slot](context::fiber &&left) {
            left_->fiber = std::move(left);
            ks_switch_ended(nullptr, &left_->stack);
            return thread_main(slot);
        });
}

// Returns the fiber that runs when this one has ended.
context::fiber worker::thread_main(thread_slot &slot)
{
    struct leaving {
        execution *to;
        ~leaving()
        {
            ks_switch_begins(nullptr, to->stack);
        }
    };
    leaving at_the_end{&scheduler_}; // where a fiber that is unwound goes
    thread_();
    slot.now = state::done;
    slot.where = {};
    left_ = &slot;
    at_the_end.to = &next();
    return std::move(at_the_end.to->fiber);
}

// Runs `to`. Returns when `self`, the caller, is switched to again.
void worker::switch_to(execution &to, execution &self)
{
    struct returning {
        execution &self;
        ~returning()
        {
            ks_switch_ended(self.frames, nullptr);
        }
    };
    const returning after{self}; // also when it is resumed to be unwound
    left_ = &self;
    ks_switch_begins(&self.frames, to.stack);
    context::fiber left = std::move(to.fiber).resume();
    left_->fiber = std::move(left); // whichever that was: not `to`, as a rule
}

// The next thread of the pass, which becomes the running one, or the scheduler at the end.
execution &worker::next()
{
    while (pass_.passed < pass_.last - pass_.first) {
        const unsigned n = pass_.passed++;
        thread_slot &slot = slots_[reverse_ ? pass_.last - 1 - n : pass_.first + n];
        if (slot.now != state::ready)
            continue;
        running_ = &slot;
        ks_cpu.thread_idx = slot.index;
        return slot;
    }
    return scheduler_;
}

// Destroys the fiber of a thread that still waits.
void worker::unwind(thread_slot &slot)
{
    if (!slot.fiber)
        return;
    ks_switch_begins(&scheduler_.frames, slot.stack);
    slot.fiber = {};
    ks_switch_ended(scheduler_.frames, nullptr);
}

void worker::wait(state why, site where)
{
    thread_slot &slot = *running_;
    slot.now = why;
    slot.where = where;
    switch_to(next(), slot);
}

// A thread can be one shuffle ahead of its neighbours, so the previous operand stays readable.
uint32_t worker::shuffle(uint32_t value, unsigned source_lane, site where)
{
    thread_slot &slot = *running_;
    const unsigned turn = slot.shuffles++ % 2;
    slot.offer[turn] = value;
    wait(state::in_wave, where);
    const size_t thread = static_cast<size_t>(&slot - slots_.data());
    const size_t source = thread / KS_CPU_WAVE * KS_CPU_WAVE + source_lane;
    return source < threads_ ? slots_[source].offer[turn] : value;
}

// Runs the threads that are ready, each until it waits or ends. A GPU may run them in either order; a kernel
// with a missing barrier is often correct in only one of them.
void worker::run_pass(unsigned first, unsigned last)
{
    pass_ = {first, last, 0};
    execution &to = next();
    if (&to != &scheduler_)
        switch_to(to, scheduler_);
}

// Runs a wave until all its threads wait at a block barrier or are done, or until it is stuck.
void worker::run_wave(unsigned first, unsigned last)
{
    do
        run_pass(first, last);
    while (release(first, last, state::in_wave));
}

// Two waves, until both are at a block barrier, done, or stuck.
void worker::run_wide_wave(unsigned first)
{
    const unsigned last = std::min(first + KS_CPU_WIDE_WAVE, threads_);
    do {
        for (unsigned wave = first; wave < last; wave += KS_CPU_WAVE)
            run_wave(wave, std::min(wave + KS_CPU_WAVE, last));
    } while (release(first, last, state::in_wide_wave));
}

// A wave runs as far as it gets before the next one starts: first to last, or last to first, so that what one
// wave does between two barriers is seen to come before, and behind, what another does.
void worker::run_waves()
{
    const unsigned count = (threads_ + KS_CPU_WIDE_WAVE - 1) / KS_CPU_WIDE_WAVE;
    for (unsigned n = 0; n < count; n++)
        run_wide_wave((reverse_ ? count - 1 - n : n) * KS_CPU_WIDE_WAVE);
}

// Resumes the threads if all of them wait for the same reason at the same source line.
bool worker::release(unsigned first, unsigned last, state why)
{
    for (unsigned i = first; i < last; i++) {
        if (slots_[i].now != why || !(slots_[i].where == slots_[first].where))
            return false;
    }
    for (unsigned i = first; i < last; i++)
        slots_[i].now = state::ready;
    return true;
}

std::string worker::run_block(dim3 index)
{
    const auto address = reinterpret_cast<uintptr_t>(lds_.data());
    ks_cpu.block_idx = index;
    ks_cpu.block_dim = block_;
    ks_cpu.grid_dim = grid_;
    ks_cpu.dynamic_lds = lds_.data() + (lds_alignment - address % lds_alignment);
    std::memset(lds_.data(), 0xff, lds_.size());
    this_worker = this;
    for (unsigned i = 0; i < threads_; i++)
        start(i);
    do
        run_waves();
    while (release(0, threads_, state::at_barrier));

    const bool done = std::all_of(slots_.begin(), slots_.end(),
                                  [](const thread_slot &slot) { return slot.now == state::done; });
    const std::string report = done ? "" : stuck(index);
    for (thread_slot &slot : slots_)
        unwind(slot);
    return report;
}

// "block (0,1,0) diverged: threads 0-23 wait at v3.hip:57, threads 24-31 returned"
std::string worker::stuck(dim3 index) const
{
    std::string report = "block " + text(index) + " diverged: ";
    for (unsigned first = 0, last; first < threads_; first = last) {
        const thread_slot &slot = slots_[first];
        for (last = first + 1; last < threads_; last++) {
            if (slots_[last].now != slot.now || !(slots_[last].where == slot.where))
                break;
        }
        report +=
            (first ? ", threads " : "threads ") + std::to_string(first) + "-" + std::to_string(last - 1);
        if (slot.now == state::done)
            report += " returned";
        else
            report += std::string(slot.now == state::at_barrier     ? " wait at the barrier at "
                                  : slot.now == state::in_wide_wave ? " wait for their wave at "
                                                                    : " shuffle at ") +
                      slot.where.file + ":" + std::to_string(slot.where.line);
    }
    return report;
}

bool launchable(const char *kernel, dim3 grid, dim3 block, size_t lds_bytes)
{
    const uint64_t threads = uint64_t(block.x) * block.y * block.z;
    const char *wrong = nullptr;
    if (threads == 0 || threads > max_block_threads)
        wrong = "a block has 1 to 1024 threads";
    else if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535)
        wrong = "a grid has at least one block, and at most 65535 in y and z";
    else if (lds_bytes > KS_CPU_LDS_BYTES)
        wrong = "a block has at most 65536 bytes of shared memory";
    if (wrong)
        ks_cpu_launch_failed(std::string("kernel ") + kernel + ": grid " + text(grid) + ", block " +
                             text(block) + ", " + std::to_string(lds_bytes) + " bytes: " + wrong);
    return wrong == nullptr;
}
} // namespace

unsigned ks_cpu_worker_count()
{
    const char *wanted = std::getenv("KERNSWEEP_CPU_WORKERS");
    const long count = wanted ? std::strtol(wanted, nullptr, 10) : 0;
    if (count > 0 && count <= 256)
        return static_cast<unsigned>(count);
    return std::max(1u, std::thread::hardware_concurrency());
}

void ks_cpu_barrier(const char *file, int line)
{
    this_worker->wait(state::at_barrier, {file, line});
}

void ks_cpu_wide_wave(const char *file, int line)
{
    this_worker->wait(state::in_wide_wave, {file, line});
}

uint32_t ks_cpu_shuffle(uint32_t value, unsigned source_lane, const char *file, int line)
{
    return this_worker->shuffle(value, source_lane, {file, line});
}

void ks_cpu_launch(const char *kernel, dim3 grid, dim3 block, size_t lds_bytes,
                   const std::function<void()> &thread)
{
    if (!launchable(kernel, grid, block, lds_bytes))
        return;
    const uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
    std::atomic<uint64_t> next{0};
    auto work = [&] {
        worker mine(grid, block, lds_bytes, thread);
        for (uint64_t i = next++; i < blocks; i = next++) {
            const dim3 index(unsigned(i % grid.x), unsigned(i / grid.x % grid.y),
                             unsigned(i / grid.x / grid.y));
            const std::string wrong = mine.run_block(index);
            if (wrong.empty())
                continue;
            ks_cpu_launch_failed(std::string("kernel ") + kernel + ": " + wrong +
                                 ": every thread of a block must reach the same barrier");
            next = blocks;
        }
    };
    const auto helpers = unsigned(std::min<uint64_t>(ks_cpu_worker_count(), blocks)) - 1;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < helpers; i++)
        threads.emplace_back(work);
    work();
    for (std::thread &helper : threads)
        helper.join();
}
