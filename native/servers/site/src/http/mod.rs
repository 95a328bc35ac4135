//! The HTTP part of the site, without I/O: routes and answers.

pub(crate) mod answer;
mod form;
mod lines;
mod preferences;
mod route;

pub(crate) use form::fields;
pub(crate) use lines::Lines;
pub(crate) use preferences::{changes, newcomer};
pub(crate) use route::{Route, Target, entering, route, user_number};
