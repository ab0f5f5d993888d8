//! A cache of cubins on disk, if one is asked for: what the driver once linked, the next
//! process loads.
//!
//! A cubin is code that will run, so the directory must be one that only this user can write, and
//! every file carries a hash of its name and its content. Files appear under their names whole, by
//! a rename, so that processes may share a directory. A file that is damaged, or was put in the
//! place of another one, counts as none, and is written anew.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::architecture::Architecture;
use super::error::CudaError;
use super::refused::DirectoryError;

/// The first bytes of a file; a hash and the image follow.
const MAGIC: &[u8; 16] = b"monoscan cubin 2";

/// The bytes of a hash.
const HASH: usize = 32;

/// A directory of cubins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CubinCache {
    directory: PathBuf,
}

impl CubinCache {
    /// The cache in this directory, which is made if it is not there. Nobody but the user may have any access to it.
    ///
    /// # Errors
    /// The directory cannot be made or written, or is open to others.
    pub fn open(directory: impl Into<PathBuf>) -> Result<CubinCache, CudaError> {
        let directory = directory.into();
        let checked =
            create_private(&directory).map_err(DirectoryError::from).and_then(|()| expect_private(&directory));
        match checked {
            Ok(()) => Ok(CubinCache { directory }),
            Err(why) => Err(CudaError::CacheDirectory { path: directory, why }),
        }
    }

    /// The place of what some PTX becomes for such a device with such a driver. The key is the PTX, or what decides it.
    pub(crate) fn entry(&self, key: &[u8], architecture: Architecture, driver_version: u32) -> CubinEntry {
        let mut hash = Sha256::new();
        hash.update(format!("{architecture} {driver_version}\n"));
        hash.update(key);
        let key: [u8; HASH] = hash.finalize().into();
        let mut name = String::with_capacity(2 * HASH + 6);
        for byte in key {
            write!(name, "{byte:02x}").expect("a string takes all text");
        }
        name.push_str(".cubin");
        CubinEntry { path: self.directory.join(name), directory: self.directory.clone(), key }
    }
}

/// The place of one cubin.
pub(crate) struct CubinEntry {
    path: PathBuf,
    directory: PathBuf,
    key: [u8; HASH],
}

impl CubinEntry {
    /// The image, if it is there and whole.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let mut file = fs::read(&self.path).ok()?;
        let (magic, rest) = file.split_at_checked(MAGIC.len())?;
        let (hash, image) = rest.split_at_checked(HASH)?;
        let whole = magic == MAGIC && hash == self.hash(image);
        whole.then(|| file.split_off(MAGIC.len() + HASH))
    }

    /// Keeps this image, in the place of any other.
    pub(crate) fn write(&self, image: &[u8]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.hash(image))?;
        file.write_all(image)?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// The hash that this image's file carries, and no other file does.
    fn hash(&self, image: &[u8]) -> [u8; HASH] {
        Sha256::new().chain_update(self.key).chain_update(image).finalize().into()
    }
}

/// Makes a directory that nobody but the user has access to. One that is there is left as it is.
fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Refuses a directory to which others have access, or which is not the user's own.
#[cfg(unix)]
fn expect_private(directory: &Path) -> Result<(), DirectoryError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(directory)?;
    let rights = metadata.mode() & 0o777;
    if rights & 0o077 != 0 {
        return Err(DirectoryError::Mode { mode: rights });
    }
    // A new file belongs to the user of this process.
    let user = tempfile::NamedTempFile::new_in(directory)?.as_file().metadata()?.uid();
    let owner = metadata.uid();
    if owner == user { Ok(()) } else { Err(DirectoryError::Owner { owner, user }) }
}

/// Elsewhere, directories of a user are private by where they are.
#[cfg(not(unix))]
fn expect_private(directory: &Path) -> Result<(), DirectoryError> {
    tempfile::NamedTempFile::new_in(directory)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SM_90: Architecture = Architecture { major: 9, minor: 0 };

    fn cache(within: &tempfile::TempDir) -> CubinCache {
        CubinCache::open(within.path().join("some/cubins")).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let entry = cache(&directory).entry(b"ptx", SM_90, 12080);
        assert_eq!(entry.read(), None);
        entry.write(b"the image").unwrap();
        assert_eq!(entry.read().unwrap(), b"the image");
        entry.write(b"").unwrap();
        assert_eq!(entry.read().unwrap(), b"");
        // Another process with the same directory.
        assert_eq!(cache(&directory).entry(b"ptx", SM_90, 12080).read().unwrap(), b"");
    }

    #[test]
    fn text_architecture_and_driver_tell_entries_apart() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        cache.entry(b"ptx", SM_90, 12080).write(b"image").unwrap();
        assert_eq!(cache.entry(b"ptx ", SM_90, 12080).read(), None);
        assert_eq!(cache.entry(b"ptx", Architecture::new(10, 0), 12080).read(), None);
        assert_eq!(cache.entry(b"ptx", SM_90, 13000).read(), None);
    }

    #[test]
    fn damaged_files_count_as_none_and_are_written_anew() {
        let directory = tempfile::tempdir().unwrap();
        let entry = cache(&directory).entry(b"ptx", SM_90, 12080);
        entry.write(b"the image").unwrap();
        let whole = fs::read(&entry.path).unwrap();
        for length in 0..whole.len() {
            fs::write(&entry.path, &whole[..length]).unwrap();
            assert_eq!(entry.read(), None, "cut to {length} bytes");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            fs::write(&entry.path, damaged).unwrap();
            assert_eq!(entry.read(), None, "damaged at byte {place}");
        }
        entry.write(b"the image").unwrap();
        assert_eq!(entry.read().unwrap(), b"the image");
    }

    #[test]
    fn a_file_in_the_place_of_another_counts_as_none() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = [&b"ptx"[..], b"other"].map(|key| cache(&directory).entry(key, SM_90, 12080));
        one.write(b"the image").unwrap();
        fs::copy(&one.path, &other.path).unwrap();
        assert_eq!(other.read(), None);
    }

    #[test]
    fn nothing_but_the_entry_is_left_in_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        cache.entry(b"ptx", SM_90, 12080).write(b"image").unwrap();
        cache.entry(b"ptx", SM_90, 12080).write(b"again").unwrap();
        assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = CubinCache::open(file.join("cubins")).unwrap_err();
        assert!(matches!(error, CudaError::CacheDirectory { .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn directories_are_private_and_open_ones_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(&directory);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.directory), 0o700);
        cache.entry(b"ptx", SM_90, 12080).write(b"image").unwrap();
        assert_eq!(mode(&cache.entry(b"ptx", SM_90, 12080).path) & 0o077, 0);
        fs::set_permissions(&cache.directory, fs::Permissions::from_mode(0o750)).unwrap();
        let error = CubinCache::open(&cache.directory).unwrap_err();
        assert!(error.to_string().ends_with("its mode is 750, expected 700: nobody else may have access"), "{error}");
    }
}
