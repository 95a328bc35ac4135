//! The engine against a site on a real socket: counts equal events, and every kind of wrong answer has its
//! own name.

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

use crate::engine::{gate, harness};
