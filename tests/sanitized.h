#pragma once

namespace sinew::test {

/// Whether this program has sanitizers. It is slow then, and tests look for races and invalid addresses, not for
/// wrong numbers. So they use fewer inputs of each kind; the release build uses all.
#ifdef SINEW_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace sinew::test
