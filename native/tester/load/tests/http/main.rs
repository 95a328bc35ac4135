//! The engine against a site on a real socket: what it counts is what happened, and what is wrong is
//! noticed under its own name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod accounting;
mod answers;
#[path = "../engine/closed_form.rs"]
mod closed_form;
mod configs;
mod connections;
mod endpoints;
mod files;
mod follow;
mod freeze;
#[path = "../engine/gate.rs"]
mod gate;
#[path = "../engine/harness.rs"]
#[allow(dead_code, reason = "shared with the tests of LDAP")]
mod harness;
mod judging;
mod mix;
mod paper;
mod phases;
mod portable;
mod programs;
mod scenarios;
mod site;
mod updates;
