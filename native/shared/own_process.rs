//! A process of its own for a test that measures or limits a whole process: its memory, its processor time, its
//! file descriptors.

use std::any::type_name;
use std::env;
use std::process::Command;

const CHILD: &str = "SITEBENCH_TEST_OF_ITS_OWN";

/// Runs the calling test, which passes itself as `_test`, in a process of its own. Returns true after the
/// test has passed there, and panics if the test has failed there. Returns false within that process, where
/// the test continues.
///
/// ```ignore
/// #[test]
/// fn memory_stays() {
///     if in_own_process(memory_stays) {
///         return;
///     }
/// ```
pub fn in_own_process<F: Fn()>(_test: F) -> bool {
    if env::var_os(CHILD).is_some() {
        return false;
    }
    let (_crate, name) = type_name::<F>().split_once("::").unwrap();
    let arguments = ["--exact", name, "--nocapture"];
    let ran = Command::new(env::current_exe().unwrap()).args(arguments).env(CHILD, "").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    print!("{said}");
    assert!(ran.status.success() && said.contains("1 passed"), "{name} failed in its own process");
    true
}
