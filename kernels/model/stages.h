// Measures a forward pass by stage with events on its stream: nothing waits until the result is requested.
#pragma once

#include "base/hip_check.h"

#include <vector>

enum stage { STAGE_GEMM, STAGE_ATTENTION, STAGE_OTHER };
constexpr int stage_count = 3;

struct stage_seconds {
    double of[stage_count] = {};
    double total() const
    {
        return of[STAGE_GEMM] + of[STAGE_ATTENTION] + of[STAGE_OTHER];
    }
};

class stage_clock
{
  public:
    stage_clock() = default;
    ~stage_clock()
    {
        for (const mark &m : marks_)
            (void)hipEventDestroy(m.event);
    }
    stage_clock(const stage_clock &) = delete;
    stage_clock &operator=(const stage_clock &) = delete;

    // Work enqueued from here on belongs to `next`.
    void enter(stage next)
    {
        if (marks_.empty() || marks_.back().begins != next)
            record(next);
    }
    // Ends the last stage and waits for it; errors of the work surface here.
    stage_seconds seconds(const char *what)
    {
        stage_seconds sums;
        record(STAGE_OTHER);
        hip_check(hipEventSynchronize(marks_.back().event), std::string(what) + " failed");
        for (size_t i = 1; i < marks_.size(); i++) {
            float milliseconds = 0;
            hip_check(hipEventElapsedTime(&milliseconds, marks_[i - 1].event, marks_[i].event),
                      "cannot time");
            sums.of[marks_[i - 1].begins] += milliseconds * 1e-3;
        }
        return sums;
    }

  private:
    struct mark {
        stage begins;
        hipEvent_t event;
    };

    void record(stage begins)
    {
        hipEvent_t event;
        hip_check(hipEventCreate(&event), "cannot create an event");
        marks_.push_back({begins, event});
        hip_check(hipEventRecord(event, nullptr), "cannot record an event");
    }

    std::vector<mark> marks_;
};
