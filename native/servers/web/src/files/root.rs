//! A folder that no name can leave.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::{Errno, Result};

/// Flags for opening files. The opening does not wait for the writer of a FIFO, and a terminal does not
/// become the controlling terminal.
const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Flags for opening the folders of a path.
const PASSING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The most tries to open a file. The kernel asks for another try if a folder of the path is moved at the
/// same moment (openat2(2)).
const TRIES: usize = 8;

/// A folder, and the method for opening files below it.
#[derive(Debug)]
pub(crate) struct Root {
    folder: OwnedFd,
    /// Whether the kernel keeps names below the folder (Linux 5.6; some sandboxes forbid the call).
    kernel_resolves: bool,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let folder = open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let kernel_resolves = openat2(&folder, ".", flags, Mode::empty(), ResolveFlags::BENEATH).is_ok();
        Ok(Self { folder, kernel_resolves })
    }

    /// Opens a file. If the kernel keeps names below the folder, links are followed, and a link that leads
    /// out is an error (`EXDEV`). Otherwise every link is an error (`ELOOP`, `ENOTDIR`).
    pub(crate) fn file(&self, name: &[u8]) -> Result<File> {
        if !self.kernel_resolves {
            return self.walk(name).map(File::from);
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..TRIES {
            match openat2(&self.folder, name, READING, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return opened.map(File::from),
            }
        }
        Err(Errno::AGAIN)
    }

    /// Opens one folder after the other, without following links.
    fn walk(&self, name: &[u8]) -> Result<OwnedFd> {
        let mut segments = name.split(|&byte| byte == b'/').filter(|segment| !segment.is_empty()).peekable();
        let mut folder: Option<OwnedFd> = None;
        while let Some(segment) = segments.next() {
            if matches!(segment, b"." | b"..") {
                return Err(Errno::XDEV);
            }
            let at = folder.as_ref().unwrap_or(&self.folder);
            if segments.peek().is_none() {
                return openat(at, segment, READING | OFlags::NOFOLLOW, Mode::empty());
            }
            folder = Some(openat(at, segment, PASSING, Mode::empty())?);
        }
        Err(Errno::ISDIR)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_name_leads_out_of_the_root_with_or_without_openat2() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("root");
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        fs::write(folder.join("a/b/c"), "inside").unwrap();
        symlink("../secret", folder.join("file-link")).unwrap();
        symlink("..", folder.join("folder-link")).unwrap();
        symlink("/etc", folder.join("absolute-link")).unwrap();
        symlink("a/b", folder.join("inner-link")).unwrap();
        for kernel_resolves in [true, false] {
            let root = Root { kernel_resolves, ..Root::open(&folder).unwrap() };
            let mut text = String::new();
            root.file(b"a/b/c").unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "inside");
            assert_eq!(root.file(b"inner-link/c").is_ok(), kernel_resolves, "a link that stays inside");
            for name in [
                "../secret",
                "a/../../secret",
                "file-link",
                "folder-link/secret",
                "absolute-link/passwd",
                "a/b/../../../secret",
            ] {
                assert!(root.file(name.as_bytes()).is_err(), "{name}, {kernel_resolves}");
            }
            assert_eq!(root.file(b"a/nothing").unwrap_err(), Errno::NOENT);
        }
    }
}
