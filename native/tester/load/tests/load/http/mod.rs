//! The engine against a site on a real socket: what it counts is what happened, and what is wrong is
//! noticed under its own name.

mod accounting;
mod answers;
mod configs;
mod connections;
mod endpoints;
mod files;
mod follow;
mod freeze;
mod judging;
mod mix;
mod paper;
mod phases;
mod programs;
mod scenarios;
mod site;
mod updates;

use crate::engine::{closed_form, gate, harness};
