//! Counters of a web server.

http::counters! {
    /// Files sent, completely or in part.
    files,
    /// Requests whose client had the current file already (status 304).
    not_modified,
    /// Answers generated in the process: constant and random text, variables.
    in_process,
    /// Parsed pages sent.
    pages,
    /// Pages filled in from templates.
    templates,
    /// Answers of CGI programs.
    cgi,
    /// CGI programs that hung, crashed or wrote an invalid answer (statuses 502 and 504).
    cgi_failed,
}
