// Addition of long integers by GMP, whose functions the crate rug calls. rug itself is not used: by default it builds GMP from source.
#include <cstddef>
#include <gmp.h>

static_assert(sizeof(mp_limb_t) == 8, "digits have 64 bits");

extern "C" void add(const mp_limb_t* a, const mp_limb_t* b, mp_limb_t* y, std::size_t n) {
  mpn_add_n(y, a, b, static_cast<mp_size_t>(n));
}
