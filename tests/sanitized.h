#pragma once

namespace sinew::test {

/// Whether this is a sanitized program. There everything takes long, and is run to find races and bad addresses,
/// not numbers: fewer inputs of one kind will do. The release build has them all.
#ifdef SINEW_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace sinew::test
