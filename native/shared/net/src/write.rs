//! Writing without waiting.

use std::io::{self, ErrorKind, Write};

/// Writes until the kernel takes no more. Returns how much it took.
pub fn write(stream: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match stream.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
