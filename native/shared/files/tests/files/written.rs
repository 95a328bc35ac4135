//! Sets on disk, and obstacles to writing them.

use std::fs;
use std::ops::ControlFlow::{Break, Continue};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use files::{FileSet, Spec, WriteError, write};
use tempfile::TempDir;

use crate::common::{content_of, hex, in_turn, made, small, spec};

fn wrote(set: &FileSet, docroot: &Path) -> Result<(), WriteError> {
    write(set, docroot, &mut |_| Continue(()))
}

/// The small set in a folder of its own.
fn written() -> (FileSet, TempDir) {
    let (set, folder) = (small(), tempfile::tempdir().unwrap());
    wrote(&set, folder.path()).unwrap();
    (set, folder)
}

/// Asserts that something in the way, at this path, keeps the set from being written.
#[track_caller]
fn assert_in_the_way(set: &FileSet, docroot: &Path, at: &Path) {
    let error = wrote(set, docroot).unwrap_err();
    assert!(matches!(&error, WriteError::InTheWay { path, .. } if path == at), "{error}");
}

fn manifest(docroot: &Path) -> String {
    fs::read_to_string(docroot.join("small.manifest")).unwrap()
}

fn assert_whole(set: &FileSet, docroot: &Path) {
    let mut lines = format!("{{\"format\":1,\"spec\":{}}}\n", serde_json::to_string(set.spec()).unwrap());
    for i in 0..set.count() {
        let file = set.file(i).unwrap();
        assert_eq!(fs::read(docroot.join(&file.path()[1..])).unwrap(), content_of(set, i), "{}", file.path());
        let (path, size, digest) = (file.path(), file.size(), hex(&file.digest()));
        lines += &format!("{{\"path\":\"{path}\",\"size\":{size},\"sha256\":\"{digest}\"}}\n");
    }
    lines += &format!("{{\"files\":{},\"bytes\":{}}}\n", set.count(), set.bytes());
    assert_eq!(fs::read_to_string(docroot.join(format!("{}.manifest", set.spec().name))).unwrap(), lines);
}

#[test]
fn a_set_is_written_with_its_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let docroot = folder.path().join("not/yet/there");
    let mut reports = Vec::new();
    write(&small(), &docroot, &mut |done| {
        reports.push(done);
        Continue(())
    })
    .unwrap();
    assert_whole(&small(), &docroot);
    assert_eq!(reports.last(), Some(&small().bytes()));
    assert!(reports.is_sorted());
    let many = made(spec("many", 1_001, vec![in_turn("a", &[3])]));
    wrote(&many, &docroot).unwrap();
    assert_whole(&many, &docroot);
    assert_whole(&small(), &docroot);
}

#[test]
fn writing_continues_after_a_manifest_cut_at_any_byte() {
    let (set, folder) = written();
    let whole = manifest(folder.path());
    let first_line = whole.find('\n').unwrap() + 1;
    for cut in (first_line..whole.len()).rev().step_by(7) {
        fs::write(folder.path().join("small.manifest"), &whole[..cut]).unwrap();
        // The file that the writer was writing when it was killed.
        let half = whole[..cut].lines().count().saturating_sub(1).min(17);
        let file = set.file(half as u64).unwrap();
        fs::write(folder.path().join(&file.path()[1..]), "half").unwrap();
        wrote(&set, folder.path()).unwrap();
        assert_eq!(manifest(folder.path()), whole, "cut at {cut}");
    }
    assert_whole(&set, folder.path());
    // The writer creates the first file of the set after the manifest's first line.
    for cut in 0..first_line {
        fs::remove_dir_all(folder.path().join("small")).unwrap();
        fs::write(folder.path().join("small.manifest"), &whole[..cut]).unwrap();
        wrote(&set, folder.path()).unwrap();
    }
    assert_whole(&set, folder.path());
}

#[test]
fn existing_files_are_kept_and_missing_files_are_written_again() {
    let (set, folder) = written();
    let at = |i| folder.path().join(&set.file(i).unwrap().path()[1..]);
    let before: Vec<_> = (0..set.count()).map(|i| fs::metadata(at(i)).unwrap().ino()).collect();
    fs::remove_file(at(1)).unwrap();
    fs::write(at(17), "short").unwrap();
    fs::remove_file(at(4)).unwrap();
    symlink(at(0), at(4)).unwrap();
    wrote(&set, folder.path()).unwrap();
    assert_whole(&set, folder.path());
    assert!(fs::symlink_metadata(at(4)).unwrap().is_file());
    for i in (0..set.count()).filter(|i| ![1, 4, 17].contains(i)) {
        assert_eq!(fs::metadata(at(i)).unwrap().ino(), before[i as usize], "file {i} was written again");
    }
}

#[test]
fn damaged_lines_of_a_manifest_are_replaced() {
    let (set, folder) = written();
    let whole = manifest(folder.path());
    let digest = hex(&set.file(3).unwrap().digest());
    for damaged in [
        whole.replace("/small/2k-3k/0/3.html", "/small/2k-3k/0/9.html"),
        whole.replace("\"size\":17", "\"size\":18"),
        whole.replace(&digest, &digest[1..]),
        whole.replace(&digest, &format!("{}{digest}", "0".repeat(1_000_000))),
        whole.replace("\"files\":18", "\"files\":19"),
        format!("{whole}{whole}"),
        format!("{whole}\n"),
    ] {
        fs::write(folder.path().join("small.manifest"), damaged).unwrap();
        wrote(&set, folder.path()).unwrap();
        assert_eq!(manifest(folder.path()), whole);
    }
    // A wrong digest is noticed when its file has to be written again.
    fs::remove_file(folder.path().join(&set.file(3).unwrap().path()[1..])).unwrap();
    fs::write(folder.path().join("small.manifest"), whole.replace(&digest, &"0".repeat(64))).unwrap();
    wrote(&set, folder.path()).unwrap();
    assert_whole(&set, folder.path());
}

#[test]
fn a_write_cancelled_at_any_time_is_continued() {
    let set = made(spec("many", 3, vec![in_turn("a", &[150_000, 100])]));
    let folder = tempfile::tempdir().unwrap();
    let mut missing = vec![set.bytes()];
    for reports in 1.. {
        let mut left = reports;
        let written = write(&set, folder.path(), &mut |_| {
            left -= 1;
            if left == 0 {
                return Break(());
            }
            // This pause is longer than the interval between two reports, so the next piece is reported
            // again.
            std::thread::sleep(Duration::from_millis(101));
            Continue(())
        });
        match written {
            Err(WriteError::Cancelled { missing: now, .. }) => {
                missing.push(now);
                // No file may be incomplete, because a server would serve half a file as if it were complete.
                for i in 0..set.count() {
                    let file = set.file(i).unwrap();
                    let found = fs::metadata(folder.path().join(&file.path()[1..]));
                    assert!(found.ok().is_none_or(|found| found.len() == file.size()), "file {i}");
                }
            }
            written => {
                written.unwrap();
                break;
            }
        }
    }
    assert!(missing.is_sorted_by(|a, b| a >= b), "{missing:?}");
    assert!(missing.len() > 3, "{missing:?}");
    assert_whole(&set, folder.path());
}

#[test]
fn the_refusal_of_the_manifest_of_another_set_names_a_difference() {
    let (set, folder) = written();
    let mut more = set.spec().clone();
    more.classes.push(in_turn("more", &[1]));
    let mut larger = set.spec().clone();
    larger.classes[1].files = Some(8);
    for (other, difference) in [
        (Spec { seed: 2, ..set.spec().clone() }, "seed 1997 instead of 2"),
        (Spec { files_per_class: 4, ..set.spec().clone() }, "3 files per class instead of 4"),
        (more, "3 classes instead of 4"),
        (larger, "class \"odd\" has other files"),
    ] {
        let error = wrote(&made(other), folder.path()).unwrap_err().to_string();
        let path = folder.path().join("small.manifest");
        assert!(
            error.starts_with(&format!("{} is of another file set ({difference});", path.display())),
            "{error}"
        );
    }
    assert_whole(&set, folder.path());
}

#[test]
fn files_outside_the_set_are_unchanged() {
    let set = small();
    let folder = tempfile::tempdir().unwrap();
    let (docroot, elsewhere) = (folder.path().join("docroot"), folder.path().join("elsewhere"));
    let manifest = docroot.join("small.manifest");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(&docroot).unwrap();

    for text in ["<html>", "{}\n", "{\"format\":2,\"spec\":{}}\n"] {
        fs::write(&manifest, text).unwrap();
        assert!(
            matches!(wrote(&set, &docroot).unwrap_err(), WriteError::NotManifest(path) if path == manifest)
        );
        assert_eq!(fs::read_to_string(&manifest).unwrap(), text);
    }
    fs::remove_file(&manifest).unwrap();

    fs::create_dir(docroot.join("small")).unwrap();
    let error = wrote(&set, &docroot).unwrap_err();
    assert!(matches!(error, WriteError::NoManifest(path) if path == docroot.join("small")));
    assert!(!manifest.exists());
    fs::remove_dir(docroot.join("small")).unwrap();

    fs::write(elsewhere.join("file"), "precious").unwrap();
    symlink(elsewhere.join("file"), &manifest).unwrap();
    assert_in_the_way(&set, &docroot, &manifest);
    fs::remove_file(&manifest).unwrap();
    fs::create_dir(&manifest).unwrap();
    assert_in_the_way(&set, &docroot, &manifest);
    fs::remove_dir(&manifest).unwrap();
    assert!(Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    assert_in_the_way(&set, &docroot, &manifest);
    fs::remove_file(&manifest).unwrap();

    let error = wrote(&set, &elsewhere.join("file")).unwrap_err().to_string();
    assert!(error.starts_with("cannot write "), "{error}");
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "precious");
}

/// Leaves only the first line of the manifest, so that all files are written again.
fn forget_the_files(docroot: &Path) {
    let header = manifest(docroot).lines().next().unwrap().to_owned();
    fs::write(docroot.join("small.manifest"), header + "\n").unwrap();
}

#[test]
fn no_link_leads_out_of_the_docroot() {
    let set = small();
    let folder = tempfile::tempdir().unwrap();
    let (docroot, elsewhere) = (folder.path().join("docroot"), folder.path().join("elsewhere"));
    fs::create_dir_all(&elsewhere).unwrap();
    for linked in ["small", "small/odd", "small/odd/0"] {
        wrote(&set, &docroot).unwrap();
        forget_the_files(&docroot);
        fs::remove_dir_all(docroot.join(linked)).unwrap();
        symlink(&elsewhere, docroot.join(linked)).unwrap();
        assert_in_the_way(&set, &docroot, &docroot.join(linked));
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        fs::remove_file(docroot.join(linked)).unwrap();
    }
    wrote(&set, &docroot).unwrap();

    // Links and pipes in the place of files are replaced by files.
    fs::write(elsewhere.join("file"), "precious").unwrap();
    forget_the_files(&docroot);
    let at = |i| docroot.join(&set.file(i).unwrap().path()[1..]);
    fs::remove_file(at(0)).unwrap();
    symlink(elsewhere.join("file"), at(0)).unwrap();
    fs::remove_file(at(1)).unwrap();
    fs::hard_link(elsewhere.join("file"), at(1)).unwrap();
    fs::remove_file(at(2)).unwrap();
    assert!(Command::new("mkfifo").arg(at(2)).status().unwrap().success());
    wrote(&set, &docroot).unwrap();
    assert_whole(&set, &docroot);
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "precious");

    fs::remove_file(at(3)).unwrap();
    fs::create_dir(at(3)).unwrap();
    assert_in_the_way(&set, &docroot, &at(3));
    // The docroot itself may be a link, because the user has named the docroot.
    fs::remove_dir(at(3)).unwrap();
    symlink(&docroot, folder.path().join("link")).unwrap();
    wrote(&set, &folder.path().join("link")).unwrap();
    assert_whole(&set, &docroot);
}

#[test]
fn two_writers_cannot_write_one_set_at_the_same_time() {
    let set = small();
    let folder = tempfile::tempdir().unwrap();
    let mut refusals = 0;
    write(&set, folder.path(), &mut |_| {
        assert!(matches!(wrote(&set, folder.path()).unwrap_err(), WriteError::InUse(_)));
        refusals += 1;
        Continue(())
    })
    .unwrap();
    assert!(refusals > 0);
    assert_whole(&set, folder.path());
}
