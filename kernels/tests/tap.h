// A minimal Test Anything Protocol: one line per check, titled "SUBJECT: TITLE", and the plan at the end.
// TESTS_ONLY in the environment selects the checks whose whole title contains it.
#pragma once

#include "base/failure.h"

#include <cstdlib>
#include <string>
#include <type_traits>

class tap
{
  public:
    explicit tap(const char *subject) : subject_(subject)
    {
        const char *only = std::getenv("TESTS_ONLY");
        only_ = only ? only : "";
    }
    // Whether a check with this title is selected. Ask before work that only this check needs.
    bool wants(const std::string &title) const
    {
        return (subject_ + ": " + title).find(only_) != std::string::npos;
    }
    bool check(bool passed, const std::string &title, const std::string &why = "")
    {
        if (!wants(title))
            return passed;
        std::printf("%sok %d - %s: %s\n", passed ? "" : "not ", ++run_, subject_.c_str(), title.c_str());
        if (!passed && !why.empty())
            std::printf("# %s\n", why.c_str());
        std::fflush(stdout); // so that the output of a test that hangs or crashes is complete up to there
        failed_ += !passed;
        return passed;
    }
    void skip(const std::string &title, const std::string &why)
    {
        if (wants(title))
            std::printf("ok %d - %s: %s # SKIP %s\n", ++run_, subject_.c_str(), title.c_str(), why.c_str());
    }
    int finish() const
    {
        std::printf("1..%d\n# %d passed, %d failed\n", run_, run_ - failed_, failed_);
        return failed_ ? 1 : 0;
    }

  private:
    std::string subject_, only_;
    int run_ = 0, failed_ = 0;
};

// The body of a test program's main. `tests`: void(tap &) or void(tap &, int argc, char **argv).
template <class TESTS> int run_tests(const char *subject, TESTS tests, int argc, char **argv)
{
    const auto body = [&](int count, char **words) {
        tap t(subject);
        if constexpr (std::is_invocable<TESTS, tap &>::value)
            tests(t), (void)count, (void)words;
        else
            tests(t, count, words);
        return t.finish();
    };
    return run_program(subject, body, argc, argv);
}
