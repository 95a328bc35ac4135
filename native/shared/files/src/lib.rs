//! File sets of web servers: path, size and content of file `i` are a pure function of (spec, `i`).
//!
//! A set may be larger than memory. A server's answer is compared with the generated content while it is
//! received, or with a copy of a small file ([`Copies`]).
//!
//! # How a file is generated
//!
//! A set has classes, each with files of one or more sizes ([`Spec`]). The files are numbered through
//! all classes, in their order. File `k` of class `c`, both from 0, is
//!
//! ```text
//! path    = /<set>/<class>/<k div 1000>/<k>.html
//! size    = sizes[k mod len(sizes)], or smallest * (largest/smallest)^(k/(n-1)), rounded
//! name    = the set's name, padded with zero bytes to whole words of 8 bytes, little-endian
//! state   = mix(seed + G), then for each word of the name mix(state xor word),
//!           then mix(state xor length of the name)
//! key     = mix(mix(state + (c + 1) * G) xor k)
//! word(j) = (mix((key + j) * G) and 0x1f1f1f1f1f1f1f1f) or 0x4040404040404040
//! content = word(0), word(1), ... little-endian, cut at size
//! ```
//!
//! modulo 2^64, where `mix` is the finaliser of SplitMix64 and `G` its increment (Steele, Lea, Flood:
//! "Fast splittable pseudorandom number generators", OOPSLA 2014). `mix` is a bijection, so no two files
//! of a class have the same key. The bytes are `@` to `_`: no server finds `<`, `&` or `%` to parse in
//! them, and gzip takes three eighths off them.
//!
//! Tests pin this format, so that one version verifies the sets of another version.

mod checker;
mod content;
mod copies;
mod manifest;
mod set;
mod spec;
mod writer;

pub use checker::Checker;
pub use content::fill;
pub use copies::Copies;
pub use set::{File, FileSet};
pub use spec::{Class, Spec, SpecError};
pub use writer::{WriteError, write};
