//! The targets of paths. No target comes from the file system, so no path can lead into the file system.

use http::origin_form;
use wire::http::query;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Page,
    Image(usize),
    Enter,
    Users,
    Preferences,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// An existing target with a supported method.
    Found(Target),
    /// An existing target with another method: 405, with the supported methods.
    WrongMethod(&'static str),
    /// No target: 404.
    NotFound,
}

pub(crate) fn route(method: &str, path: &str) -> Route {
    let (target, allowed) = match origin_form(path) {
        "/" => (Target::Page, "GET, HEAD"),
        "/image/1.gif" => (Target::Image(0), "GET, HEAD"),
        "/image/2.gif" => (Target::Image(1), "GET, HEAD"),
        "/image/3.gif" => (Target::Image(2), "GET, HEAD"),
        "/image/4.gif" => (Target::Image(3), "GET, HEAD"),
        "/enter" => (Target::Enter, "GET, HEAD"),
        "/users" => (Target::Users, "POST"),
        "/preferences" => (Target::Preferences, "POST"),
        _ => return Route::NotFound,
    };
    // `allowed` contains one of these three names only if it lists that method.
    match method {
        "GET" | "HEAD" | "POST" if allowed.contains(method) => Route::Found(target),
        _ => Route::WrongMethod(allowed),
    }
}

/// The number of a user as clients write it: digits only.
pub(crate) fn user_number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The user in a query.
pub(crate) fn entering(text: &str) -> Option<u64> {
    user_number(query(text.as_bytes(), b"user")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_existing_paths_are_routed() {
        assert_eq!(route("GET", "/"), Route::Found(Target::Page));
        assert_eq!(route("HEAD", "/image/4.gif"), Route::Found(Target::Image(3)));
        assert_eq!(route("POST", "/users"), Route::Found(Target::Users));
        assert_eq!(route("GET", "http://host:1/image/1.gif"), Route::Found(Target::Image(0)));
        assert_eq!(route("GET", "http://host"), Route::Found(Target::Page));
        for path in ["", "//", "/image/5.gif", "/image/../image/1.gif", "/../etc/passwd", "/%2e%2e/x", "*"] {
            assert_eq!(route("GET", path), Route::NotFound, "{path}");
        }
    }

    #[test]
    fn a_method_not_allowed_for_a_path_differs_from_an_unknown_method() {
        assert_eq!(route("POST", "/"), Route::WrongMethod("GET, HEAD"));
        assert_eq!(route("GET", "/users"), Route::WrongMethod("POST"));
        assert_eq!(route("DELETE", "/users"), Route::WrongMethod("POST"));
    }

    #[test]
    fn a_user_number_has_only_digits() {
        assert_eq!(user_number(b"0"), Some(0));
        assert_eq!(user_number(b"18446744073709551615"), Some(u64::MAX));
        for text in ["", "+1", "-1", "1 ", "a", "18446744073709551616"] {
            assert_eq!(user_number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(entering("a=b&user=7"), Some(7));
        assert_eq!(entering("xuser=7"), None);
    }
}
