//! The cookies of one user on one site (RFC 6265).
//!
//! A cookie that `[start]` sets lives as long as the user. A cookie that an operation sets lives until the
//! next operation begins: each operation is another visit. If an operation sets a cookie that the user
//! already has, the cookie stays the user's.

use std::time::{SystemTime, UNIX_EPOCH};

use wire::http::date::parse_http_date;

/// Cookies per user: RFC 6265 section 6.1 asks for 50 at least.
const MOST: usize = 64;

/// Bytes per cookie: section 6.1 asks for 4,096 at least.
const MOST_BYTES: usize = 8_192;

#[derive(Debug, Default)]
pub(super) struct Jar {
    /// The oldest first.
    cookies: Vec<Cookie>,
    in_operation: bool,
}

#[derive(Debug)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
    /// The index of the host that has set the cookie.
    host: usize,
    secure: bool,
    expires_s: Option<u64>,
    of_user: bool,
}

/// The destination of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) host: usize,
    pub(super) name: &'a str,
    pub(super) path: &'a [u8],
    pub(super) encrypted: bool,
}

impl Jar {
    /// Removes the cookies of the previous operation.
    pub(super) fn begin(&mut self) {
        self.in_operation = true;
        self.cookies.retain(|cookie| cookie.of_user);
    }

    /// Takes a value of Set-Cookie (section 5.2 and 5.3).
    pub(super) fn set(&mut self, line: &[u8], place: Place<'_>) {
        let mut parts = line.split(|&byte| byte == b';');
        let Some((name, value)) = parts.next().and_then(pair) else { return };
        let control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        if name.is_empty() || line.len() > MOST_BYTES || name.iter().chain(value).any(control) {
            return;
        }
        let (mut path, mut secure, mut expires_s, mut max_age) = (&b""[..], false, None, None);
        for part in parts {
            let (key, value) = pair(part).unwrap_or((part.trim_ascii(), b""));
            match &key.to_ascii_lowercase()[..] {
                b"path" => path = value,
                b"secure" => secure = true,
                b"expires" => expires_s = parse_http_date(value).or(expires_s),
                b"max-age" => max_age = age(value).or(max_age),
                b"domain" if !is_domain_of(value, place.name) => return,
                _ => {}
            }
        }
        let expires_s =
            max_age.map_or(expires_s, |age| Some(if age > 0 { now_s().saturating_add(age) } else { 0 }));
        let path = if path.starts_with(b"/") { path } else { default_path(place.path) };
        let same = |cookie: &Cookie| cookie.host == place.host && cookie.name == name && cookie.path == path;
        let index = self.cookies.iter().position(same);
        if expires_s.is_some_and(|at_s| at_s <= now_s()) {
            index.map(|index| self.cookies.remove(index));
            return;
        }
        if let Some(index) = index {
            let cookie = &mut self.cookies[index];
            cookie.value.clear();
            cookie.value.extend_from_slice(value);
            (cookie.secure, cookie.expires_s) = (secure, expires_s);
            return;
        }
        if self.cookies.len() == MOST {
            self.cookies.remove(0);
        }
        self.cookies.push(Cookie {
            name: name.to_vec(),
            value: value.to_vec(),
            path: path.to_vec(),
            host: place.host,
            secure,
            expires_s,
            of_user: !self.in_operation,
        });
    }

    /// Appends the Cookie header line of a request, if the request has cookies (section 5.4).
    pub(super) fn write(&self, place: Place<'_>, out: &mut Vec<u8>) {
        let now_s = if self.cookies.iter().any(|cookie| cookie.expires_s.is_some()) { now_s() } else { 0 };
        let belongs = |cookie: &&Cookie| {
            cookie.host == place.host
                && (place.encrypted || !cookie.secure)
                && cookie.expires_s.is_none_or(|at_s| at_s > now_s)
                && is_below(place.path, &cookie.path)
        };
        let sent = || self.cookies.iter().filter(belongs);
        let (start, mut longer) = (out.len(), usize::MAX);
        // Section 5.4: cookies with longer paths first, then older cookies. `cookies` is in the order of age.
        while let Some(length) = sent().map(|cookie| cookie.path.len()).filter(|size| *size < longer).max() {
            longer = length;
            for cookie in sent().filter(|cookie| cookie.path.len() == length) {
                out.extend_from_slice(if out.len() == start { b"Cookie: " } else { b"; " });
                out.extend_from_slice(&cookie.name);
                out.push(b'=');
                out.extend_from_slice(&cookie.value);
            }
        }
        if out.len() > start {
            out.extend_from_slice(b"\r\n");
        }
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn pair(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = part.iter().position(|&byte| byte == b'=')?;
    Some((part[..at].trim_ascii(), part[at + 1..].trim_ascii()))
}

/// Max-Age in seconds; 0 for an expired cookie.
fn age(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let (past, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| if past { 0 } else { digits.parse().unwrap_or(u64::MAX) })
}

/// Whether a host is in the domain of a cookie (RFC 6265 section 5.1.3).
fn is_domain_of(domain: &[u8], host: &str) -> bool {
    let domain = String::from_utf8_lossy(domain.strip_prefix(b".").unwrap_or(domain)).to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    let is_name = host.parse::<std::net::IpAddr>().is_err();
    domain.is_empty()
        || domain == host
        || (is_name && host.strip_suffix(&*domain).is_some_and(|rest| rest.ends_with('.')))
}

/// The default path of a cookie (RFC 6265 section 5.1.4).
fn default_path(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(end @ 1..) if path.starts_with(b"/") => &path[..end],
        _ => b"/",
    }
}

/// Whether a path is below the path of a cookie (RFC 6265 section 5.1.4).
fn is_below(path: &[u8], cookie: &[u8]) -> bool {
    path.strip_prefix(cookie).is_some_and(|rest| rest.is_empty() || cookie.ends_with(b"/") || rest[0] == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Place<'_> {
        Place { host: 0, name: "shop.example.com", path: path.as_bytes(), encrypted: false }
    }

    fn sent(jar: &Jar, place: Place<'_>) -> String {
        let mut out = Vec::new();
        jar.write(place, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_are_sent_to_their_host_and_path() {
        let mut jar = Jar::default();
        for line in
            ["a=1", "b=2; Path=/", "c=3; path=/shop/cart", "d=4; Secure; HttpOnly", "e=5; Path=/shopping"]
        {
            jar.set(line.as_bytes(), place("/shop/login"));
        }
        for (path, encrypted, expected) in [
            ("/", false, "Cookie: b=2\r\n"),
            ("/shop/cart/7", false, "Cookie: c=3; a=1; b=2\r\n"),
            ("/shop", false, "Cookie: a=1; b=2\r\n"),
            ("/shop", true, "Cookie: a=1; d=4; b=2\r\n"),
            ("/shopping", false, "Cookie: e=5; b=2\r\n"),
            ("/shopp", false, "Cookie: b=2\r\n"),
        ] {
            assert_eq!(sent(&jar, Place { encrypted, ..place(path) }), expected, "{path}");
        }
        assert_eq!(sent(&jar, Place { host: 1, ..place("/shop") }), "", "another host's");
    }

    #[test]
    fn cookies_expire_and_are_replaced() {
        let mut jar = Jar::default();
        for (line, expected) in [
            ("s=1", "Cookie: s=1\r\n"),
            ("s=2; Max-Age=60", "Cookie: s=2\r\n"),
            // Max-Age takes precedence over Expires.
            ("s=3; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Cookie: s=3\r\n"),
            ("s=4; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "Cookie: s=4\r\n"),
            ("s=; Max-Age=0", ""),
            ("s=5; Expires=nonsense; Max-Age=never", "Cookie: s=5\r\n"),
            ("s=6; Max-Age=-1", ""),
        ] {
            jar.set(line.as_bytes(), place("/"));
            assert_eq!(sent(&jar, place("/")), expected, "{line}");
        }
    }

    #[test]
    fn malformed_cookies_and_cookies_of_other_sites_are_not_stored() {
        let mut jar = Jar::default();
        for line in ["", "=x", "alone", "a=1; Domain=example.org", "a=1; Domain=hop.example.com", "a=\u{1}"] {
            jar.set(line.as_bytes(), place("/"));
        }
        assert_eq!(sent(&jar, place("/")), "");
        jar.set(b"a=1; Domain=.Example.com", place("/"));
        jar.set(b"b=b=c", place("/"));
        assert_eq!(sent(&jar, place("/")), "Cookie: a=1; b=b=c\r\n");
        let address = Place { name: "127.0.0.1", ..place("/") };
        jar.set(b"c=1; Domain=0.0.1", address);
        assert!(!sent(&jar, address).contains("c="));
        for n in 0..100 {
            jar.set(format!("n{n}=x").as_bytes(), place("/"));
        }
        assert_eq!(jar.cookies.len(), MOST);
    }

    #[test]
    fn cookies_of_a_visit_end_with_the_visit_and_cookies_of_the_user_do_not() {
        let mut jar = Jar::default();
        jar.set(b"session=1", place("/"));
        jar.begin();
        jar.set(b"session=2", place("/"));
        jar.set(b"basket=7", place("/"));
        assert_eq!(sent(&jar, place("/")), "Cookie: session=2; basket=7\r\n");
        jar.begin();
        assert_eq!(sent(&jar, place("/")), "Cookie: session=2\r\n");
    }
}
