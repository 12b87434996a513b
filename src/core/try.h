// Errors that a function hands on to its caller.
#pragma once

#include <utility>

/// Evaluates a Status and returns its error, if it has one, from the enclosing function. May stand within a lambda
/// that another one evaluates.
#define SINEW_TRY(...) SINEW_TRY_AT(__COUNTER__, __VA_ARGS__)
#define SINEW_TRY_AT(number, ...) SINEW_TRY_NAMED(number, __VA_ARGS__)
#define SINEW_TRY_NAMED(number, ...)                                                                   \
    do {                                                                                               \
        if (auto outcome_##number = (__VA_ARGS__); !outcome_##number) return outcome_##number.error(); \
    } while (false)

/// Declares a variable with the value of a Result, or returns its error from the enclosing function:
/// SINEW_TRY_LET(const Scene scene, io::load(path)).
#define SINEW_TRY_LET(declaration, ...) SINEW_TRY_LET_AT(__LINE__, declaration, __VA_ARGS__)
#define SINEW_TRY_LET_AT(line, declaration, ...) SINEW_TRY_LET_NAMED(line, declaration, __VA_ARGS__)
#define SINEW_TRY_LET_NAMED(line, declaration, ...)           \
    auto outcome_at_##line = (__VA_ARGS__);                   \
    if (!outcome_at_##line) return outcome_at_##line.error(); \
    declaration = std::move(*outcome_at_##line)
