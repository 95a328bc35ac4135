//! The engine against a server on a real socket: counts equal events, and every kind of wrong answer has its
//! own name.

mod accounting;
mod adds;
mod answers;
mod closed_form;
mod connections;
mod crowd;
mod deals;
mod edges;
pub mod freeze;
pub mod gate;
pub mod harness;
mod listing;
mod log;
mod passes;
mod people_data;
mod portable;
mod requests;
mod responder;
mod scenarios;
mod schedules;
mod several;
mod shared;
