//! [`SplitMix64`], the one source of random numbers: of samples on which laws are judged and
//! kernels are checked.

/// Pseudo-random numbers that are the same every time (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number
/// Generators*, OOPSLA 2014), from a seed.
///
/// ```
/// let mut random = monoscan_ir::random::SplitMix64(0);
/// assert_eq!([random.next(), random.next()], [0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4]);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number: any 64 bits.
    #[allow(clippy::should_implement_trait, reason = "there is always a next number")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}
