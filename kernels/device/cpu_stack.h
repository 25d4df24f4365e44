// The stacks of the CPU device's fibers, and the pool that reuses them. For cpu_scheduler.cpp only.
#pragma once

#include "device/cpu_sanitizer.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

constexpr size_t cpu_stack_bytes = 128 << 10;

// A fiber's stack with a guard page below it.
class cpu_stack
{
  public:
    cpu_stack() : guard_(static_cast<size_t>(sysconf(_SC_PAGESIZE)))
    {
        void *memory = mmap(nullptr, guard_ + cpu_stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        base_ = static_cast<char *>(memory);
        mprotect(base_, guard_, PROT_NONE);
    }
    ~cpu_stack()
    {
        munmap(base_, guard_ + cpu_stack_bytes);
    }
    cpu_stack(const cpu_stack &) = delete;
    cpu_stack &operator=(const cpu_stack &) = delete;

    char *top() const
    {
        return base_ + guard_ + cpu_stack_bytes;
    }
    ks_stack_bounds bounds() const
    {
        return {base_ + guard_, cpu_stack_bytes};
    }

  private:
    size_t guard_;
    char *base_;
};

// Stacks are reused across launches: mapping them and touching them first costs more than running a block.
class cpu_stack_pool
{
  public:
    std::vector<std::unique_ptr<cpu_stack>> take(size_t count)
    {
        std::vector<std::unique_ptr<cpu_stack>> taken;
        std::lock_guard<std::mutex> guard(lock_);
        while (taken.size() < count && !idle_.empty()) {
            taken.push_back(std::move(idle_.back()));
            idle_.pop_back();
        }
        while (taken.size() < count)
            taken.push_back(std::make_unique<cpu_stack>());
        return taken;
    }
    void give_back(std::vector<std::unique_ptr<cpu_stack>> stacks)
    {
        std::lock_guard<std::mutex> guard(lock_);
        for (std::unique_ptr<cpu_stack> &one : stacks)
            idle_.push_back(std::move(one));
    }

  private:
    std::mutex lock_;
    std::vector<std::unique_ptr<cpu_stack>> idle_;
};

inline cpu_stack_pool &cpu_stacks()
{
    static cpu_stack_pool pool;
    return pool;
}
