//! The page that servlets and programs return.

/// A page of `size` bytes, as the servlets and programs of paper 001 return it.
pub fn page(size: usize) -> Vec<u8> {
    let (begin, end) = ("<!DOCTYPE html>\n<title>sitebench</title>\n<p>", "</p>\n");
    match size.checked_sub(begin.len() + end.len()) {
        Some(letters) => [begin, &"x".repeat(letters), end].concat().into_bytes(),
        None => vec![b'x'; size],
    }
}
