//! Profiles of people by their names.

use people::Profile;
use pyo3::prelude::*;

use crate::errors::error_of;
use crate::kind::Kind;

/// The object class and the attribute in the filter of a search for people of a profile, and whether these
/// people have passwords.
#[pyfunction]
pub fn profile_facts(profile: &str) -> PyResult<(&'static str, &'static str, bool)> {
    let profile = profile_named(profile)?;
    Ok((profile.object_class(), profile.naming(), profile.has_passwords()))
}

pub fn profile_named(name: &str) -> PyResult<Profile> {
    let profile = Profile::ALL.into_iter().find(|profile| profile.as_str() == name);
    let names = || Profile::ALL.map(Profile::as_str).join(", ");
    let no_such = || format!("there is no profile {name:?} of people; use one of {}", names());
    profile.ok_or_else(|| error_of(Kind::BadInput, no_such()))
}
