//! What is HTTP's about this site: what a request asks for, and its answers. No I/O.

pub(crate) mod answer;
mod form;
mod lines;
mod preferences;
mod route;

pub(crate) use form::fields;
pub(crate) use lines::Lines;
pub(crate) use preferences::{changes, newcomer};
pub(crate) use route::{Route, Target, entering, route, user_number};
