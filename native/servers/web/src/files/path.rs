//! Converts paths of requests to names below a folder.

use std::borrow::Cow;

use wire::http::unescape;

use super::open_files::Missing;

/// The name below the root for a path: decoded, without leading slashes. The name must still be opened
/// without leaving the root, as its folders may be links.
///
/// In most folders, names that begin with a dot are not for the public: `.git`, `.htpasswd`, `.env`. So they
/// are only served if the server was started with `hidden`.
///
/// Clients resolve dot segments before they send a path (RFC 3986 section 5.2.4). A received dot segment is
/// an attempt to leave the root, and is not resolved here.
pub(crate) fn beneath(path: &str, hidden: bool) -> Result<Cow<'_, [u8]>, Missing> {
    let name = path.strip_prefix('/').ok_or(Missing::NotFound)?.trim_start_matches('/').as_bytes();
    let name = if name.contains(&b'%') {
        let name = unescape(name.iter().copied()).ok_or(Missing::Malformed)?;
        // A decoded slash does not separate segments, and no file name contains a slash.
        let slashes = |text: &[u8]| text.iter().filter(|&&byte| byte == b'/').count();
        if slashes(&name) != slashes(path.trim_start_matches('/').as_bytes()) {
            return Err(Missing::NotFound);
        }
        Cow::Owned(name)
    } else {
        Cow::Borrowed(name)
    };
    if name.contains(&0) {
        return Err(Missing::Malformed);
    }
    if name.split(|&byte| byte == b'/').any(|segment| matches!(segment, b"." | b"..")) {
        return Err(Missing::NotFound);
    }
    // `.well-known` is for the public (RFC 8615).
    let mut shown = name.split(|&byte| byte == b'/').skip(usize::from(name.starts_with(b".well-known/")));
    if !hidden && shown.any(|segment| segment.starts_with(b".")) {
        return Err(Missing::NotFound);
    }
    Ok(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_percent_decoded_once() {
        for (path, name) in [
            ("/", ""),
            ("/a/b.html", "a/b.html"),
            ("//etc/passwd", "etc/passwd"),
            ("/a%20b", "a b"),
            ("/a%2520b", "a%20b"),
            ("/..a/b..", "..a/b.."),
            ("/a+b", "a+b"),
            ("/folder/", "folder/"),
        ] {
            assert_eq!(beneath(path, true).unwrap(), name.as_bytes(), "{path}");
        }
    }

    #[test]
    fn names_that_begin_with_a_dot_are_hidden() {
        for path in ["/.git/config", "/a/.env", "/%2egit", "/a/.well-known/b", "/..a"] {
            assert_eq!(beneath(path, false), Err(Missing::NotFound), "{path}");
            assert!(beneath(path, true).is_ok(), "{path}");
        }
        for path in ["/a.b/c.", "/.well-known/acme", "/"] {
            assert!(beneath(path, false).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_path_that_leads_out_of_the_root_names_no_file() {
        for path in [
            "/..",
            "/../a",
            "/a/../b",
            "/%2e%2e/a",
            "/.%2E/a",
            "/a/./b",
            "/a%2fb",
            "/..%2f..%2fa",
            "*",
            "a",
            "",
        ] {
            assert_eq!(beneath(path, true), Err(Missing::NotFound), "{path}");
        }
        for path in ["/a%00.html", "/%", "/%4", "/%zz"] {
            assert_eq!(beneath(path, true), Err(Missing::Malformed), "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_file_name_has_a_parent_segment_or_is_absolute(path in "/[a./%2efF0]{0,20}") {
            if let Ok(name) = beneath(&path, true) {
                proptest::prop_assert!(!name.starts_with(b"/") && !name.contains(&0));
                proptest::prop_assert!(name.split(|&b| b == b'/').all(|part| part != b".."));
            }
        }
    }
}
