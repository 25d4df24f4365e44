// How programs end early: a one-line message and an exit code, thrown anywhere and printed only by main.
#pragma once

#include <cstdio>
#include <new>
#include <string>

enum exit_code { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2 };

struct failure {
    exit_code code;
    std::string message;
};

[[noreturn]] inline void bad_input(const std::string &message)
{
    throw failure{EXIT_BAD_INPUT, message};
}

// The body of main: runs `body` and turns an exception into one line on stderr and the exit code.
template <class BODY> int run_program(const char *name, BODY body, int argc, char **argv)
{
    try {
        return body(argc, argv);
    } catch (const failure &f) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", name, f.message.c_str());
        return f.code;
    } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "%s: not enough memory on the host: lower --context or --heads\n", name);
        return EXIT_BAD_INPUT;
    }
}
