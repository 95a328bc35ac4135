//! Content types by file extension.

/// The value of Content-Type. It has no charset, which only the file's author knows.
pub(super) fn content_type(name: &[u8]) -> &'static str {
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let extension = file.iter().rposition(|&byte| byte == b'.').and_then(|dot| file.get(dot + 1..));
    match extension.unwrap_or_default().to_ascii_lowercase().as_slice() {
        b"html" | b"htm" | b"shtml" => "text/html",
        b"css" => "text/css",
        b"js" | b"mjs" => "text/javascript",
        b"txt" | b"md" => "text/plain",
        b"csv" => "text/csv",
        b"xml" => "text/xml",
        b"json" => "application/json",
        b"pdf" => "application/pdf",
        b"wasm" => "application/wasm",
        b"gz" => "application/gzip",
        b"zip" => "application/zip",
        b"gif" => "image/gif",
        b"jpg" | b"jpeg" => "image/jpeg",
        b"png" => "image/png",
        b"webp" => "image/webp",
        b"avif" => "image/avif",
        b"svg" => "image/svg+xml",
        b"ico" => "image/x-icon",
        b"woff2" => "font/woff2",
        b"mp4" => "video/mp4",
        b"webm" => "video/webm",
        _ => "application/octet-stream",
    }
}

/// Whether the file is a page that is parsed for each request.
pub(super) fn is_parsed(name: &[u8]) -> bool {
    name.ends_with(b".shtml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_extension_of_the_last_path_segment_sets_the_type() {
        for (name, kind) in [
            ("a/b.HTML", "text/html"),
            ("a.html/b", "application/octet-stream"),
            ("a.tar.gz", "application/gzip"),
            ("a.", "application/octet-stream"),
            ("", "application/octet-stream"),
        ] {
            assert_eq!(content_type(name.as_bytes()), kind, "{name}");
        }
    }
}
