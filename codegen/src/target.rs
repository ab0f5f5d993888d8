//! Targets: what plans need to know about a machine. Plain data, so that tests can plan for
//! machines that are not there.

use std::fs;

/// A CPU, as far as plans care.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CpuTarget {
    /// Bytes of first-level data cache of a core.
    pub l1_bytes: usize,
    /// Bytes of second-level cache of a core.
    pub l2_bytes: usize,
}

impl CpuTarget {
    /// The machine this runs on. Cache sizes come from Linux's `/sys`; elsewhere, or where they cannot be read, they are
    /// 32 KiB and 512 KiB, which every current core has.
    pub fn host() -> CpuTarget {
        let mut host = CpuTarget { l1_bytes: 32 << 10, l2_bytes: 512 << 10 };
        for index in 0..4 {
            let read = |name| {
                fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}"))
                    .unwrap_or_default()
            };
            match (read("level").trim(), read("type").trim(), parse_size(read("size").trim())) {
                ("1", "Data" | "Unified", Some(bytes)) => host.l1_bytes = bytes,
                ("2", "Data" | "Unified", Some(bytes)) => host.l2_bytes = bytes,
                _ => {}
            }
        }
        host
    }
}

/// `48K`, `2M` or plain bytes; none if it is none of these or too small to be a cache.
fn parse_size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    (bytes >= 4 << 10).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_sizes_are_read_with_their_unit() {
        assert_eq!(parse_size("48K"), Some(48 << 10));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("65536"), Some(65536));
        for nonsense in ["", "K", "12Q", "-1K", "0K", "99999999999999999999M"] {
            assert_eq!(parse_size(nonsense), None, "{nonsense:?}");
        }
    }

    #[test]
    fn the_host_has_caches() {
        let host = CpuTarget::host();
        assert!(host.l1_bytes >= 4 << 10 && host.l2_bytes >= host.l1_bytes);
    }
}
