//! The personalized site of paper 002: a page of exactly 8,290 bytes for each of a million people, generated
//! for every request from the person's row in a user-property database.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | with the cookie `user=<id>` the page of that user; without the cookie a page that offers to join |
//! | `GET /image/1.gif` to `4.gif` | a picture of exactly 5,480 bytes |
//! | `POST /users` | a new user: 201 and the cookie; every field of the form may be left out |
//! | `POST /preferences` | new values of some properties: 204, or 303 to `/` for browsers |
//! | `GET /enter?user=<id>` | 303 to `/` with that user's cookie, for people who look around |
//!
//! Creates and updates are answered when they are durable (see [`upd`]), and every page requested
//! after the answer shows them.

mod config;
mod http;
pub mod image;
pub mod limits;
pub mod page;
mod people_cache;
mod server;
mod stats;
pub mod upd;

pub use config::Config;
pub use server::{Running, StartError, start};
pub use stats::Stats;
pub use upd::{Durability, Expected};
