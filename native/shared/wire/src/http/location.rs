//! The targets of redirects.

/// A longer path and query is refused: RFC 9110 section 4.1 asks servers for 8,000 octets at least.
pub const MAX_TARGET_BYTES: usize = 8_000;

/// The origin of a request. A redirect within the origin needs no other connection.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    pub secure: bool,
    /// The value of the Host header.
    pub authority: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Astray {
    #[error("it leads to another host, port or scheme")]
    Elsewhere,
    #[error("it is empty, too long, or no address")]
    Broken,
}

/// The path and query of a Location (RFC 9110 section 10.2.2), relative to the request for `target`.
///
/// A relative reference is resolved (RFC 3986 section 5.2), and a fragment is removed. Spaces and bytes
/// beyond ASCII, which servers do send, are percent-encoded. Control characters are refused, so that the
/// result can be part of a request line.
pub fn locate(target: &[u8], location: &[u8], origin: Origin<'_>) -> Result<Vec<u8>, Astray> {
    if location.is_empty() || location.iter().any(u8::is_ascii_control) {
        return Err(Astray::Broken);
    }
    let mut rest = location.split(|&byte| byte == b'#').next().unwrap_or_default();
    if let Some((scheme, after)) = scheme(rest) {
        if !scheme.eq_ignore_ascii_case(if origin.secure { b"https" } else { b"http" }) {
            return Err(Astray::Elsewhere);
        }
        if !after.starts_with(b"//") {
            return Err(Astray::Broken);
        }
        rest = after;
    }
    if let Some(named) = rest.strip_prefix(b"//") {
        let end = named.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(named.len());
        let (authority, path) = named.split_at(end);
        let usual: &[u8] = if origin.secure { b":443" } else { b":80" };
        if !without_port(authority, usual).eq_ignore_ascii_case(without_port(origin.authority, usual)) {
            return Err(Astray::Elsewhere);
        }
        rest = if path.is_empty() { b"/" } else { path };
        return written(if rest.starts_with(b"?") { b"/" } else { b"" }, rest);
    }
    let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
    match rest.first() {
        None => written(target, b""),
        Some(b'/') => written(b"", rest),
        Some(b'?') => written(path, rest),
        Some(_) => {
            let folder = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
            written(&path[..folder], rest)
        }
    }
}

/// The scheme before a colon, and the rest after the colon (RFC 3986 section 3.1).
fn scheme(reference: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = reference.iter().position(|byte| matches!(byte, b':' | b'/' | b'?'))?;
    let (scheme, rest) = reference.split_at(colon);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic) && scheme.iter().all(is_part);
    Some((scheme, rest.strip_prefix(b":")?)).filter(|_| is_scheme)
}

/// An authority without its scheme's default port (RFC 9110 section 4.2.3).
fn without_port<'a>(authority: &'a [u8], usual: &[u8]) -> &'a [u8] {
    authority.strip_suffix(usual).or_else(|| authority.strip_suffix(b":")).unwrap_or(authority)
}

/// The concatenation of both parts, without dot segments (RFC 3986 section 5.2.4) and in ASCII.
fn written(base: &[u8], rest: &[u8]) -> Result<Vec<u8>, Astray> {
    let whole = [base, rest].concat();
    let (path, query) = whole.split_at(whole.iter().position(|&byte| byte == b'?').unwrap_or(whole.len()));
    let mut found: Vec<u8> = Vec::with_capacity(whole.len());
    let mut segments = path.strip_prefix(b"/").unwrap_or(path).split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b".." => found.truncate(found.iter().rposition(|&byte| byte == b'/').unwrap_or(0)),
            b"." => {}
            _ => {
                found.push(b'/');
                push(segment, &mut found);
                continue;
            }
        }
        if is_last {
            found.push(b'/');
        }
    }
    push(query, &mut found);
    if found.len() > MAX_TARGET_BYTES { Err(Astray::Broken) } else { Ok(found) }
}

fn push(text: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text {
        if byte.is_ascii_graphic() {
            out.push(byte);
        } else {
            out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}
