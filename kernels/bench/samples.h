// Repeated timings, in seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

class samples
{
  public:
    void add(double seconds)
    {
        values_.push_back(seconds);
    }
    double min() const
    {
        return *std::min_element(values_.begin(), values_.end());
    }
    double median() const
    {
        return median_of(values_);
    }
    // The median absolute deviation.
    double deviation() const
    {
        const double middle = median();
        std::vector<double> distances;
        for (const double value : values_)
            distances.push_back(std::fabs(value - middle));
        return median_of(distances);
    }

  private:
    static double median_of(std::vector<double> values)
    {
        std::sort(values.begin(), values.end());
        const size_t half = values.size() / 2;
        return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    }

    std::vector<double> values_;
};
