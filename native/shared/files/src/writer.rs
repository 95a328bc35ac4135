//! Writes a file set into a docroot, with a manifest beside it.
//!
//! Every folder and file is opened relative to its parent folder and never through a symbolic link. A file
//! is created anew and never overwritten in place. So nothing outside the docroot is changed, whatever links
//! the docroot contains.

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::content;
use crate::manifest::{Begun, Manifest, hexadecimal};
use crate::set::{File, FileSet};
use crate::spec::Spec;

const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The set is incomplete in its docroot. Written files stay, and the next call continues after them.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The caller's progress function stopped the writing.
    #[error("writing {path} was cancelled with {missing} bytes missing; run it again to continue",
        path = .path.display())]
    Cancelled { path: PathBuf, missing: u64 },
    #[error("the disk is full: {path} could not be written, and {missing} bytes of its file set are missing; \
        free some space and run it again to continue", path = .path.display())]
    DiskFull { path: PathBuf, missing: u64 },
    #[error("another program is writing {path}; wait for it, or name another folder", path = .0.display())]
    InUse(PathBuf),
    #[error("{path} is of another file set ({difference}); remove it with the folder beside it, or name \
        another folder", path = .path.display())]
    OtherSet { path: PathBuf, difference: String },
    #[error("{path} is no manifest of a file set, or one of a later version; remove it, or name another \
        folder", path = .0.display())]
    NotManifest(PathBuf),
    /// There is a folder with the set's name, but no manifest. The files in the folder may be the user's.
    #[error("{path} is there without its manifest, so it may hold other files; remove it, or name another \
        folder", path = .0.display())]
    NoManifest(PathBuf),
    /// A symbolic link, which may lead out of the docroot, or an entry of another type.
    #[error("{path} is in the way: it is a symbolic link, or not a {wanted}; remove it, or name another folder",
        path = .path.display())]
    InTheWay { path: PathBuf, wanted: &'static str },
    #[error("cannot write {path}: {source}; name a folder that you may write, with enough room",
        path = .path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Writes a set, or its missing files, into a docroot, and its manifest `<docroot>/<set>.manifest`.
///
/// `progress` is called about ten times a second, and at the end, with the number of bytes written so far; a
/// break from `progress` stops the writing. Even after a kill the next call continues: a file with a line in
/// the manifest is complete, and only its size is checked. Like `cp`, this function syncs nothing: after a
/// crash of the machine, verify the set.
pub fn write(
    set: &FileSet,
    docroot: &Path,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), WriteError> {
    Writer::open(set, docroot, progress)?.write()
}

struct Writer<'a> {
    set: &'a FileSet,
    docroot: &'a Path,
    top: OwnedFd,
    manifest: Manifest,
    /// The folder of the file that was written last, with its class and number.
    folder: Option<(String, u64, OwnedFd)>,
    progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    report_at: Instant,
    /// The bytes of complete files.
    done: u64,
}

impl<'a> Writer<'a> {
    fn open(
        set: &'a FileSet,
        docroot: &'a Path,
        progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, WriteError> {
        let name = set.spec().name.as_str();
        let refused = |path: PathBuf| |source| failed(path, set.bytes(), source);
        fs::create_dir_all(docroot).map_err(refused(docroot.to_owned()))?;
        let root = rustix::fs::open(docroot, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| refused(docroot.to_owned())(error.into()))?;
        let (mut manifest, path) = (lock_manifest(&root, docroot, set)?, docroot.join(manifest_name(name)));
        match manifest.begun(set).map_err(refused(path.clone()))? {
            Begun::Same => (),
            Begun::Other(other) => {
                return Err(WriteError::OtherSet { path, difference: difference(&other, set.spec()) });
            }
            Begun::Unknown => return Err(WriteError::NotManifest(path)),
            Begun::Nothing => {
                if rustix::fs::statat(&root, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    let _ = rustix::fs::unlinkat(&root, manifest_name(name), AtFlags::empty());
                    return Err(WriteError::NoManifest(docroot.join(name)));
                }
                manifest.begin(set).map_err(refused(path))?;
            }
        }
        let top = folder(&root, name).map_err(|error| at_folder(docroot.join(name), set.bytes(), error))?;
        Ok(Self { set, docroot, top, manifest, folder: None, progress, report_at: Instant::now(), done: 0 })
    }

    fn write(mut self) -> Result<(), WriteError> {
        let written = self.write_files();
        // The lines are written after an error, too, so that the next call does not write their files again.
        let flushed = self.manifest.flush().map_err(|source| self.at_manifest(source));
        written.and(flushed)?;
        self.report()
    }

    fn write_files(&mut self) -> Result<(), WriteError> {
        let Some(first) = self.first_missing()? else { return Ok(()) };
        self.manifest.cut().map_err(|source| self.at_manifest(source))?;
        for i in first..self.set.count() {
            let Some(file) = self.set.file(i) else { break };
            let digest = self.write_file(&file)?;
            self.done += file.size();
            self.manifest.add(&file, &digest).map_err(|source| self.at_manifest(source))?;
        }
        self.manifest.end(self.set).map_err(|source| self.at_manifest(source))
    }

    /// Checks the files listed in the manifest, and writes missing files again. Returns the number of the first
    /// file that is not in the manifest, or None if the manifest is complete.
    fn first_missing(&mut self) -> Result<Option<u64>, WriteError> {
        for i in 0..self.set.count() {
            let Some(file) = self.set.file(i) else { break };
            let digest = self.manifest.digest_of(&file).map_err(|source| self.at_manifest(source))?;
            let right = match digest {
                None => false,
                Some(digest) => self.is_there(&file)? || self.write_file(&file)? == digest,
            };
            if !right {
                return Ok(Some(i));
            }
            self.manifest.keep();
            self.done += file.size();
            self.report_in_time(0)?;
        }
        let ended = self.manifest.ended(self.set).map_err(|source| self.at_manifest(source))?;
        Ok((!ended).then_some(self.set.count()))
    }

    fn is_there(&mut self, file: &File<'_>) -> Result<bool, WriteError> {
        let found = rustix::fs::statat(self.folder_of(file)?, file.name(), AtFlags::SYMLINK_NOFOLLOW);
        Ok(found.is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
                && u64::try_from(found.st_size) == Ok(file.size())
        }))
    }

    /// Writes a file and returns its digest.
    fn write_file(&mut self, file: &File<'_>) -> Result<String, WriteError> {
        let name = file.name();
        let made = create(self.folder_of(file)?, &name);
        let mut out = made.map_err(|error| match error {
            Errno::ISDIR => WriteError::InTheWay { path: self.path_of(file), wanted: "file" },
            _ => self.at_file(file, error.into()),
        })?;
        let mut written = 0;
        let digest = content::digest(file.key(), file.size(), |piece| {
            out.write_all(piece).map_err(|source| self.at_file(file, source))?;
            written += piece.len() as u64;
            self.report_in_time(written)
        });
        match digest {
            Ok(digest) => Ok(hexadecimal(digest)),
            Err(error) => {
                // The file is incomplete, and on a full disk the manifest needs the space.
                let _ = rustix::fs::unlinkat(self.folder_of(file)?, &name, AtFlags::empty());
                Err(error)
            }
        }
    }

    fn folder_of(&mut self, file: &File<'_>) -> Result<&OwnedFd, WriteError> {
        let wanted =
            |(class, number, _): &(String, u64, OwnedFd)| class == file.class() && *number == file.folder();
        let open = match self.folder.take() {
            Some(open) if wanted(&open) => open,
            _ => {
                let (class, number) = (file.class(), file.folder());
                let at = |path: PathBuf| {
                    let missing = self.set.bytes() - self.done;
                    move |error| at_folder(path, missing, error)
                };
                let path = self.docroot.join(&self.set.spec().name).join(class);
                let above = folder(&self.top, class).map_err(at(path.clone()))?;
                let number_text = number.to_string();
                let opened = folder(&above, &number_text).map_err(at(path.join(&number_text)))?;
                (class.to_owned(), number, opened)
            }
        };
        Ok(&self.folder.insert(open).2)
    }

    fn report_in_time(&mut self, of_this_file: u64) -> Result<(), WriteError> {
        let now = Instant::now();
        if now < self.report_at {
            return Ok(());
        }
        // With this flush, a kill loses at most the files that are written between two reports.
        self.manifest.flush().map_err(|source| self.at_manifest(source))?;
        let done = self.done + of_this_file;
        if (self.progress)(done).is_break() {
            return Err(self.cancelled());
        }
        self.report_at = now + REPORT_EVERY;
        Ok(())
    }

    fn report(&mut self) -> Result<(), WriteError> {
        match (self.progress)(self.done) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(self.cancelled()),
        }
    }

    fn cancelled(&self) -> WriteError {
        let path = self.docroot.join(&self.set.spec().name);
        WriteError::Cancelled { path, missing: self.set.bytes() - self.done }
    }

    fn path_of(&self, file: &File<'_>) -> PathBuf {
        self.docroot.join(&file.path()[1..])
    }

    fn at_file(&self, file: &File<'_>, source: io::Error) -> WriteError {
        failed(self.path_of(file), self.set.bytes() - self.done, source)
    }

    fn at_manifest(&self, source: io::Error) -> WriteError {
        let path = self.docroot.join(manifest_name(&self.set.spec().name));
        failed(path, self.set.bytes() - self.done, source)
    }
}

fn manifest_name(set: &str) -> String {
    format!("{set}.manifest")
}

/// Opens or creates the manifest, and locks it against other writers.
fn lock_manifest(root: &OwnedFd, docroot: &Path, set: &FileSet) -> Result<Manifest, WriteError> {
    let name = manifest_name(&set.spec().name);
    let path = docroot.join(&name);
    let in_the_way = |path| WriteError::InTheWay { path, wanted: "file" };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat(root, name, flags, Mode::from_raw_mode(0o666)) {
        Err(Errno::LOOP | Errno::ISDIR) => return Err(in_the_way(path)),
        opened => opened.map(fs::File::from),
    };
    let kind = opened.and_then(|file| Ok((rustix::fs::fstat(&file)?, file)));
    let (found, file) = kind.map_err(|error| failed(path.clone(), set.bytes(), error.into()))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(in_the_way(path));
    }
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Manifest::new(file)),
        Err(Errno::WOULDBLOCK) => Err(WriteError::InUse(path)),
        Err(error) => Err(failed(path, set.bytes(), error.into())),
    }
}

/// Opens a subfolder. Creates it if it does not exist.
fn folder(above: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let open = || {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(above, name, flags, Mode::empty())
    };
    match open() {
        Err(Errno::NOENT) => {
            rustix::fs::mkdirat(above, name, Mode::from_raw_mode(0o777))?;
            open()
        }
        opened => opened,
    }
}

/// Creates a file. Replaces an existing file.
fn create(folder: &OwnedFd, name: &str) -> Result<fs::File, Errno> {
    let create = || {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666)).map(fs::File::from)
    };
    match create() {
        Err(Errno::EXIST) => {
            rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
            create()
        }
        created => created,
    }
}

fn at_folder(path: PathBuf, missing: u64, error: Errno) -> WriteError {
    match error {
        Errno::LOOP | Errno::NOTDIR => WriteError::InTheWay { path, wanted: "folder" },
        _ => failed(path, missing, error.into()),
    }
}

fn failed(path: PathBuf, missing: u64, source: io::Error) -> WriteError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => WriteError::DiskFull { path, missing },
        _ => WriteError::File { path, source },
    }
}

/// The first difference between the spec of a manifest and the expected spec.
fn difference(found: &Spec, wanted: &Spec) -> String {
    if found.seed != wanted.seed {
        return format!("seed {} instead of {}", found.seed, wanted.seed);
    }
    if found.files_per_class != wanted.files_per_class {
        return format!("{} files per class instead of {}", found.files_per_class, wanted.files_per_class);
    }
    let differs = |(found, wanted)| (found != wanted).then_some(wanted);
    match found.classes.iter().zip(&wanted.classes).find_map(differs) {
        Some(class) => format!("class {:?} has other files", class.name),
        None => format!("{} classes instead of {}", found.classes.len(), wanted.classes.len()),
    }
}
