//! Separators and newlines of a text that stand outside of quotes, 64 bytes at a time.
//!
//! Each byte is a bit of a word: whether it is a quote, a separator, a newline. The bits inside of
//! quotes are the parity of the quotes so far, a scan of a word by six shifts. So no byte has a
//! branch, and one loop is over the bits that are left.

/// Bytes of a word of bits.
const GROUP: usize = 64;

const LOW: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = LOW << 7;

/// The fields and rows that end in a part of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// The places that end fields.
    pub(super) fields: Vec<u32>,
    /// How many fields end in the part up to the end of each row.
    pub(super) rows: Vec<u32>,
}

/// The ends in a part of a text, where `is_open` says whether a quote is open before it. Its first byte has the place `first`.
pub(super) fn ends(part: &[u8], first: u32, is_open: bool, separator: u8) -> Ends {
    let mut ends = Ends::default();
    // All bits if a quote is open.
    let mut open = if is_open { u64::MAX } else { 0 };
    let (groups, rest) = part.as_chunks::<GROUP>();
    let mut last = [0; GROUP];
    last[..rest.len()].copy_from_slice(rest);
    let in_part = (1 << rest.len()) - 1;
    let groups = groups.iter().map(|group| (group, u64::MAX)).chain([(&last, in_part)]);
    for ((bytes, in_part), place) in groups.zip((first..).step_by(GROUP)) {
        let [quotes, separators, newlines] = bits(bytes, separator);
        let inside = parities(quotes) ^ open;
        open = (inside as i64 >> 63) as u64;
        let outside = !inside & in_part;
        let (fields, before) = ((separators | newlines) & outside, ends.fields.len() as u32);
        ends.fields.extend(places(fields).map(|bit| place + bit));
        ends.rows.extend(places(newlines & outside).map(|bit| before + (fields << (63 - bit)).count_ones()));
    }
    ends
}

/// The places of the bits that are set, from the lowest on.
#[inline(always)]
fn places(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(place)
    })
}

/// Which bytes are quotes, separators and newlines.
#[inline(always)]
fn bits(bytes: &[u8; GROUP], separator: u8) -> [u64; 3] {
    let (words, _) = bytes.as_chunks::<8>();
    let mut all = [0; 3];
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        for (all, byte) in all.iter_mut().zip([b'"', separator, b'\n']) {
            *all |= gathered(equal(word, byte)) << (8 * number);
        }
    }
    all
}

/// The high bit of each byte of a word that is this one.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let differs = word ^ (LOW * u64::from(byte));
    // No sum of two bytes below 128 carries into the next one.
    !(((differs & !HIGH) + !HIGH) | differs) & HIGH
}

/// The high bits of the eight bytes of a word, side by side.
#[inline(always)]
fn gathered(high: u64) -> u64 {
    // The product has bit i of the sum in bit 56 + i, and no two of its terms fall together.
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Of each bit the parity of the bits up to it.
#[inline(always)]
fn parities(bits: u64) -> u64 {
    (0..6).fold(bits, |bits, step| bits ^ (bits << (1 << step)))
}

#[cfg(test)]
mod tests {
    use scan_kit::Random;

    use super::*;

    #[test]
    fn ends_are_those_of_a_loop_over_the_bytes() {
        let mut random = Random(5);
        for round in 0..3000 {
            let separator = [b',', b';', 0, 255, b'!'][random.below(5)];
            // Bytes that differ from those looked for by a bit, and by the high bit.
            let some = [separator, b'"', b'\n', separator ^ 1, b'"' ^ 128, b'\n' | 128, b'a', b'"' + 1];
            let text: Vec<u8> = (0..random.below(300)).map(|_| some[random.below(some.len())]).collect();
            let (first, is_open) = (random.below(1000) as u32, round % 2 == 0);
            let (mut inside, mut expected) = (is_open, Ends::default());
            for (place, &byte) in (first..).zip(&text) {
                inside ^= byte == b'"';
                if !inside && (byte == separator || byte == b'\n') {
                    expected.fields.push(place);
                    if byte == b'\n' {
                        expected.rows.push(expected.fields.len() as u32);
                    }
                }
            }
            assert_eq!(ends(&text, first, is_open, separator), expected, "{}", text.escape_ascii());
        }
    }
}
