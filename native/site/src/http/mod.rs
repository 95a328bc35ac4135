//! HTTP as this site speaks it: what a request asks for, and the heads of answers. No I/O.

mod answer;
mod form;
mod lines;
mod preferences;
mod route;

pub(crate) use answer::{Answer, CLOSING, ResponseOptions};
pub(crate) use form::fields;
pub(crate) use lines::Lines;
pub(crate) use preferences::{changes, newcomer};
pub(crate) use route::{Route, Target, entering, route, user_number};
