// The least of the Test Anything Protocol: one line a test, the plan and a count at the end.
#pragma once

#include <cstdio>
#include <string>

class tap
{
  public:
    bool check(bool passed, const std::string &name, const std::string &why = "")
    {
        std::printf("%sok %d - %s\n", passed ? "" : "not ", ++run_, name.c_str());
        if (!passed && !why.empty())
            std::printf("# %s\n", why.c_str());
        std::fflush(stdout); // what a test that hangs had done
        failed_ += !passed;
        return passed;
    }
    void skip(const std::string &name, const std::string &why)
    {
        std::printf("ok %d - %s # SKIP %s\n", ++run_, name.c_str(), why.c_str());
    }
    int finish() const
    {
        std::printf("1..%d\n%d passed, %d failed\n", run_, run_ - failed_, failed_);
        return failed_ ? 1 : 0;
    }

  private:
    int run_ = 0, failed_ = 0;
};
