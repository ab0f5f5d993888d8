//! Which code a device runs: its compute capability, and the one that the `.target` of PTX demands.

use std::fmt;

use super::{CudaError, Target};

/// A compute capability, such as 9.0, written `sm_90`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// The generation.
    pub major: u32,
    /// The variant within it.
    pub minor: u32,
}

impl Architecture {
    /// The architecture of this compute capability.
    pub fn new(major: u32, minor: u32) -> Architecture {
        Architecture { major, minor }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.major, self.minor)
    }
}

/// Refuses PTX whose `.target` this device does not run. PTX without one is left to the driver, whose log says it better.
pub(crate) fn check_target(ptx: &str, device: Architecture) -> Result<(), CudaError> {
    match target(ptx) {
        Some(needs) if !needs.includes(device) => Err(CudaError::WrongArchitecture { needs, device }),
        _ => Ok(()),
    }
}

/// The devices that a PTX text is for.
fn target(ptx: &str) -> Option<Target> {
    let directive = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    let names = directive.split([',', ' ', '\t']).map(str::trim);
    let name = names.into_iter().find_map(|name| name.strip_prefix("sm_"))?;
    let (digits, target): (_, fn(_) -> Target) = match name.chars().last()? {
        'a' => (&name[..name.len() - 1], Target::Same),
        'f' => (&name[..name.len() - 1], Target::Family),
        _ => (name, Target::Later),
    };
    let number: u32 = digits.parse().ok()?;
    Some(target(Architecture::new(number / 10, number % 10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(target: &str, major: u32, minor: u32) -> bool {
        let ptx =
            format!("// .target sm_20\n.version 8.0\n  .target\t{target}, texmode_independent\n.address_size 64\n");
        check_target(&ptx, Architecture::new(major, minor)).is_ok()
    }

    #[test]
    fn plain_targets_run_on_the_same_and_later_devices() {
        assert!(runs("sm_80", 8, 0));
        assert!(runs("sm_80", 12, 0));
        assert!(runs("sm_100", 10, 3));
        assert!(!runs("sm_90", 8, 9));
        assert!(!runs("sm_120", 10, 3));
    }

    #[test]
    fn specific_targets_run_on_their_own_devices() {
        assert!(runs("sm_90a", 9, 0));
        assert!(!runs("sm_90a", 10, 0));
        assert!(runs("sm_100f", 10, 3));
        assert!(!runs("sm_100f", 12, 0));
        assert!(!runs("sm_103f", 10, 0));
    }

    #[test]
    fn the_error_names_both() {
        let error = check_target(".target sm_90a\n", Architecture::new(8, 6)).unwrap_err();
        assert_eq!(error.to_string(), "the module needs sm_90 and no other, but the device is sm_86");
    }

    #[test]
    fn text_without_a_target_is_left_to_the_driver() {
        assert_eq!(check_target("no ptx at all", Architecture::new(8, 0)), Ok(()));
        assert_eq!(check_target(".target sm_ninety", Architecture::new(8, 0)), Ok(()));
    }
}
