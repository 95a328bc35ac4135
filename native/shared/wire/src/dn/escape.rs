//! Escapes of values in names.

/// Appends `value` with the escapes of RFC 4514 section 2.4.
#[inline]
pub fn escape_value(value: &[u8], out: &mut Vec<u8>) {
    if is_plain(value) {
        out.extend_from_slice(value);
        return;
    }
    write_escaped(value, out, |byte, out| match byte {
        0 => out.extend_from_slice(b"\\00"),
        _ => out.extend_from_slice(&[b'\\', byte]),
    });
}

/// Appends a value that is not plain; `escape` appends the bytes that need an escape.
pub(super) fn write_escaped(value: &[u8], out: &mut Vec<u8>, escape: impl Fn(u8, &mut Vec<u8>)) {
    let last = value.len() - 1;
    for (at, &byte) in value.iter().enumerate() {
        let edge = (byte == b' ' && (at == 0 || at == last)) || (byte == b'#' && at == 0);
        if edge || is_special(byte) { escape(byte, out) } else { out.push(byte) }
    }
}

/// Whether `value` needs no escape in a name.
#[inline]
pub(super) fn is_plain(value: &[u8]) -> bool {
    !value.iter().any(|&byte| is_special(byte))
        && !matches!(value, [b' ' | b'#', ..])
        && !matches!(value, [.., b' '])
}

/// Bytes that always need an escape.
#[inline]
pub(super) const fn is_special(byte: u8) -> bool {
    SPECIAL[byte as usize]
}

const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let special = b"\0\"+,;<>\\";
    let mut n = 0;
    while n < special.len() {
        table[special[n] as usize] = true;
        n += 1;
    }
    table
};
