//! The table of keys: the grammar of scenario files. The check of a file's shape, messages, JSON Schema and
//! documentation come from this table. The meaning of a key is in the reader, which takes each key by its name.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Directories.
    Ldap,
    /// Sites and web servers.
    Http,
}

impl Protocol {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ldap => "LDAP",
            Self::Http => "HTTP",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A text without fields.
    Text,
    /// The name of a row of the results.
    Label,
    /// The name of a connection of the file.
    Connection,
    /// The name of a class of `[files]`.
    Class,
    Oid,
    /// A text with fields.
    Template,
    Templates,
    /// A template that is a distinguished name.
    Dn,
    /// A name to bind with: a DN, or a name of the SASL mechanism.
    BindName,
    /// A template that is a search filter.
    Filter,
    /// A template that is the path of a URL.
    Path,
    /// A DN or a path: `delete` exists in both protocols.
    DnOrPath,
    /// A template that must have a field: literal secrets are refused.
    Secret,
    /// A whole number within bounds.
    Int(i64, i64),
    /// A number above 0.
    Number,
    Bool,
    /// `500ms`, `2s`, `10m`, `1h`.
    Duration,
    Word(&'static [&'static str]),
    Texts,
    Ints,
    /// `"30s:100/s"`: a duration and a rate, or a number of users.
    Stages,
    /// The lifetime of a connection.
    Per,
    /// `true`, `false` or `"starttls"`.
    Tls,
    /// A number, or the name of a captured list.
    Times,
    /// Result codes of LDAP, their names, or a column.
    Results,
    /// Status codes of HTTP, or a column.
    Statuses,
    /// `1`, `">=1"`, `"<=500"` or `"all"`.
    Count,
    /// A text, a number, or encoded bytes.
    Value,
    /// One value of an attribute, or several values.
    Values,
    /// Attributes with values, or the name of data.
    Entry,
    /// One table of changes, or several tables in order.
    Changes,
    Json,
    Default,
    /// An attribute, or a table of [`FORM`].
    Capture,
    /// Controls by name or object identifier.
    Controls,
    /// A table of [`FORM`].
    Table(&'static str),
    /// A table whose keys are names that the file chooses.
    Map(&'static Kind),
    Steps,
    Operations,
}

/// How a key of a scenario influences figures, or which keys influence a metric. Each influence,
/// except `Nothing`, needs a cell in `tests/truth`, which compares figures with a server's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Influence {
    Sending,
    /// The selection of counted operations, or of measured times.
    Counting,
    /// The users that wait, and the lengths of the waits.
    Waiting,
    /// No figure: the key influences the content of requests, checks, or texts for readers.
    Nothing,
}

impl Influence {
    /// The name in tests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Counting => "counting",
            Self::Waiting => "waiting",
            Self::Nothing => "nothing",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub protocols: &'static [Protocol],
    /// For a table, see the influence of each of its keys.
    pub influence: Influence,
    /// The default, for readers; [`REQUIRED`] for keys without a default.
    pub default: &'static str,
    pub about: &'static str,
}

/// The `default` of a required key.
pub const REQUIRED: &str = "required";

const L: &[Protocol] = &[Protocol::Ldap];
const H: &[Protocol] = &[Protocol::Http];
const LH: &[Protocol] = &[Protocol::Ldap, Protocol::Http];

const SASL: Kind = Kind::Word(&["PLAIN", "EXTERNAL"]);
const KEYS: Kind = Kind::Word(&["uniform", "zipfian", "hotspot", "latest"]);
const HEADERS: Kind = Kind::Map(&Kind::Template);
const VERSION: Kind = Kind::Int(2, 3);
/// The upper bound of all counts, far below overflow.
pub(crate) const MOST: i64 = 1 << 40;
/// maxInt of RFC 4511 section 4.1.1.
const MAX_INT: i64 = 2_147_483_647;

macro_rules! form {
    ($($table:ident {
        $($name:ident: $kind:expr, $protocols:ident, $influence:ident, $default:expr, $about:literal;)*
    })*) => {
        /// Every table with its keys. An operation has the keys of `card`, and the keys of `operation` or of
        /// a step. `step`, `asks`, `ldap`, `http`, `body` and the verbs' tables are parts of a step: see
        /// [`VERBS`].
        pub const FORM: &[(&str, &[Key])] = &[$((stringify!($table), &[$(Key {
            name: stringify!($name), kind: $kind, protocols: $protocols, influence: Influence::$influence,
            default: $default, about: $about,
        }),*])),*];
    };
}

form! {
    scenario {
        title: Kind::Text, LH, Nothing, "the file's name", "what it is, for readers";
        paper: Kind::Text, LH, Nothing, "", "what it was taken from";
        note: Kind::Text, LH, Nothing, "", "what readers should know";
        base: Kind::Dn, L, Nothing, "`--base`", "the DN that `{base}` stands for; `--base` wins";
        headers: HEADERS, H, Nothing, "none", "header lines of every request";
        cookies: Kind::Bool, H, Nothing, "true", "whether users keep cookies";
        load: Kind::Table("load"), LH, Nothing, "", "options of `run` and `sweep`; the command line wins";
        values: Kind::Map(&Kind::Template), LH, Nothing, "none",
            "values that are drawn once, by their names";
        connection: Kind::Map(&Kind::Table("connection")), LH, Nothing, "`main`",
            "connections by their names";
        data: Kind::Map(&Kind::Table("data")), LH, Nothing, "none",
            "rows that are dealt to users, by their names";
        files: Kind::Map(&Kind::Map(&Kind::Table("class"))), H, Nothing, "none", "classes of a set of files";
        start: Kind::Table("start"), LH, Sending, "none",
            "what a user does once, before the first operation";
        operation: Kind::Operations, LH, Nothing, REQUIRED, "the deck: what users do";
    }
    load {
        users: Kind::Int(1, MOST), LH, Sending, "`-u`", "users at a time";
        clients: Kind::Ints, LH, Sending, "`--clients`", "users at a time, for a sweep";
        rate: Kind::Number, LH, Sending, "`--rate`", "operations per second, whether or not answers come";
        arrivals: Kind::Word(&["even", "poisson"]), LH, Sending, "`--arrivals`",
            "when operations of a rate begin";
        stages: Kind::Stages, LH, Sending, "`--stages`",
            "rates that change in straight lines, one after the other: `30s:100/s`; or users who come and go: `30s:100`";
        think: Kind::Duration, LH, Sending, "0s", "mean pause after each operation";
        session: Kind::Duration, LH, Sending, "",
            "think times are scaled so that an operation takes so long";
        objective: Kind::Text, LH, Counting, "", "what the total must hold, such as `failures<0.1%`";
        warmup: Kind::Duration, LH, Counting, "`--warmup`", "time before measuring";
        measure: Kind::Duration, LH, Counting, "`--measure`", "time of measuring";
        timeout: Kind::Duration, LH, Waiting, "`--timeout`", "how long an answer may take";
        keys: KEYS, LH, Nothing, "`--keys`", "how seeded people are drawn";
    }
    connection {
        per: Kind::Per, LH, Sending, "user; step with HTTP 1.0",
            "how long it is kept: `user`, `iteration`, `step`, or a number of operations";
        pool: Kind::Int(1, 1_000_000), LH, Waiting, "none", "so many in all, shared by all users";
        outstanding: Kind::Int(1, 64), L, Waiting, "1", "requests in flight on one at a time, at most 64";
        tls: Kind::Tls, LH, Sending, "as the target's address", "`true`, `\"starttls\"` or `false`";
        bind: Kind::BindName, L, Sending, "`--bind-dn`", "the name that it binds with after opening";
        password: Kind::Secret, L, Nothing, "`--password-file`", "the password for it";
        sasl: SASL, L, Nothing, "simple", "the mechanism of the bind";
        version: VERSION, L, Nothing, "3", "LDAP's version";
        http: Kind::Word(&["1.0", "1.1"]), H, Sending, "1.1", "HTTP's version";
    }
    data {
        file: Kind::Text, LH, Nothing, "", "a CSV file, one of four kinds of data";
        values: Kind::Texts, LH, Nothing, "", "these values";
        range: Kind::Ints, LH, Nothing, "", "whole numbers from the first to the last";
        people: Kind::Word(&["seeded", "new"]), LH, Nothing, "",
            "people of the population, or people who are added";
        columns: Kind::Texts, LH, Nothing, "the first line", "names of a file's columns";
        separator: Kind::Text, LH, Nothing, "`,`", "the character between a file's columns";
        deal: Kind::Word(&["shuffled", "in-order", "once", "exclusive",
            "uniform", "zipfian", "hotspot", "latest"]), LH, Waiting, "shuffled; `--keys` for seeded people",
            "who gets which row";
        per: Kind::Word(&["iteration", "user"]), LH, Waiting, "iteration", "how long a row is kept";
        secret: Kind::Texts, LH, Nothing, "by use and name", "columns that are never shown";
    }
    class {
        sizes: Kind::Ints, H, Nothing, "", "bytes of its files, taken in turn";
        spread: Kind::Ints, H, Nothing, "", "instead of sizes: the smallest and the largest";
        count: Kind::Int(1, 1_000_000), H, Nothing, "one of each size", "how many files";
    }
    start { step: Kind::Steps, LH, Nothing, REQUIRED, "its steps"; }
    operation {
        name: Kind::Label, LH, Nothing, "the verb, class or program", "its row; required with several steps";
        step: Kind::Steps, LH, Counting, "a verb right here", "its steps in their order";
        on: Kind::Connection, LH, Waiting, "main", "the connection of its steps";
        counts: Kind::Label, LH, Counting, "the whole",
            "the step that is counted and timed instead of the whole";
    }
    card {
        weight: Kind::Int(1, MOST), LH, Sending, "1", "its cards in the deck";
        objective: Kind::Text, LH, Counting, "", "what it must hold, such as `p99<20ms`";
        page: Kind::Bool, H, Nothing, "false", "whether it counts as a web page, for the planner";
    }
    step { name: Kind::Label, LH, Nothing, "the verb", "its row; a number follows the verb from the second on"; }
    asks {
        on: Kind::Connection, LH, Waiting, "the operation's", "the connection it goes over";
        expect: Kind::Table("expect"), LH, Counting, "it succeeds", "what the answer must be";
        capture: Kind::Map(&Kind::Capture), LH, Counting, "none",
            "what to remember of the answer, by names for later steps";
    }
    ldap { control: Kind::Controls, L, Nothing, "none", "controls of the request"; }
    bind {
        bind: Kind::BindName, L, Nothing, REQUIRED, "a DN; `\"\"` for the command line's, or anonymous";
        password: Kind::Secret, L, Nothing, "none", "the password for it";
        sasl: SASL, L, Nothing, "simple", "the mechanism";
        version: VERSION, L, Nothing, "3", "LDAP's version";
    }
    search {
        search: Kind::Filter, L, Nothing, REQUIRED, "a filter";
        base: Kind::Dn, L, Nothing, "`{base}`", "where to search";
        scope: Kind::Word(&["sub", "base", "one", "children"]), L, Nothing, "sub", "how deep";
        attributes: Kind::Texts, L, Nothing, "all", "what to return";
        size_limit: Kind::Int(0, MAX_INT), L, Nothing, "0", "entries at most; 0 is any number";
        time_limit: Kind::Duration, L, Nothing, "0s", "what the server may take; 0 is any time";
        types_only: Kind::Bool, L, Nothing, "false", "whether to return attributes without values";
        deref: Kind::Word(&["never", "searching", "finding", "always"]), L, Nothing, "never",
            "which aliases to follow";
        page_size: Kind::Int(1, MAX_INT), L, Counting, "no pages",
            "entries of a page; all pages are read, as one step";
    }
    compare {
        compare: Kind::Dn, L, Nothing, REQUIRED, "a DN";
        entry: Kind::Entry, L, Nothing, REQUIRED, "one attribute with its value";
    }
    add {
        add: Kind::Dn, L, Nothing, REQUIRED, "a DN";
        entry: Kind::Entry, L, Nothing, REQUIRED, "attributes with values, or the name of data";
        keep: Kind::Bool, L, Nothing, "false",
            "whether the entry stays: no step of the operation deletes it";
    }
    modify {
        modify: Kind::Dn, L, Nothing, REQUIRED, "a DN";
        change: Kind::Changes, L, Nothing, REQUIRED,
            "`replace`, `add`, `delete`, `increment`; a list of tables where order matters";
    }
    modify_dn {
        modify_dn: Kind::Dn, L, Nothing, REQUIRED, "a DN";
        new_rdn: Kind::Dn, L, Nothing, REQUIRED, "the new relative name";
        delete_old_rdn: Kind::Bool, L, Nothing, "true", "whether the old value goes";
        new_superior: Kind::Dn, L, Nothing, "the same", "the new parent";
    }
    delete { delete: Kind::DnOrPath, LH, Nothing, REQUIRED, "a DN; a path in HTTP"; }
    password_modify {
        password_modify: Kind::Dn, L, Nothing, REQUIRED, "a DN; `\"\"` for oneself";
        old_password: Kind::Secret, L, Nothing, "none", "the old password";
        new_password: Kind::Secret, L, Nothing, "the server's choice", "the new password";
    }
    refresh {
        refresh: Kind::Dn, L, Nothing, REQUIRED, "the DN of a dynamic entry";
        ttl: Kind::Duration, L, Nothing, REQUIRED, "how long it shall live";
    }
    extended {
        extended: Kind::Oid, L, Nothing, REQUIRED, "the OID of an extended operation";
        value: Kind::Value, L, Nothing, "none", "its value";
    }
    who_am_i { who_am_i: Kind::Bool, L, Nothing, REQUIRED, "`true`: who the connection is bound as (RFC 4532)"; }
    unbind { unbind: Kind::Connection, L, Sending, REQUIRED, "a connection that is closed before its time"; }
    get { get: Kind::Path, H, Nothing, REQUIRED, "a path"; }
    head { head: Kind::Path, H, Nothing, REQUIRED, "a path"; }
    post { post: Kind::Path, H, Nothing, REQUIRED, "a path"; }
    put { put: Kind::Path, H, Nothing, REQUIRED, "a path"; }
    patch { patch: Kind::Path, H, Nothing, REQUIRED, "a path"; }
    http {
        headers: HEADERS, H, Nothing, "none", "header lines; each replaces the one of `[headers]`";
        match: Kind::Word(&["html", "json", "plain"]), H, Nothing, "html",
            "how values are escaped in the answer";
        follow: Kind::Bool, H, Counting, "false", "whether redirects on the same host are followed, up to 20";
    }
    body {
        form: HEADERS, H, Nothing, "none", "fields of a form";
        json: Kind::Json, H, Nothing, "none", "a body of JSON";
        body: Kind::Template, H, Nothing, "none", "a body as it is";
        content_type: Kind::Text, H, Nothing, "a form's", "the type of `body`";
    }
    file {
        file: Kind::Class, H, Nothing, REQUIRED,
            "a class of `[files]`: each of its files as often, every byte compared";
    }
    program {
        program: Kind::Word(&["cgi-env", "cgi", "inprocess", "page",
            "template", "fastcgi"]), H, Nothing, REQUIRED,
            "a program of the server";
        size: Kind::Int(0, MOST), H, Nothing, "", "bytes of its answer";
        size_about: Kind::Int(0, MOST), H, Nothing, "",
            "instead of size: their mean, where it depends on the server";
        content: Kind::Word(&["constant", "random"]), H, Nothing, "constant", "what its text is made of";
    }
    think {
        think: Kind::Duration, LH, Sending, REQUIRED, "a pause, in no operation's time";
        distribution: Kind::Word(&["exponential", "constant"]), LH, Sending, "exponential",
            "how pauses differ";
    }
    repeat {
        repeat: Kind::Times, LH, Counting, REQUIRED,
            "a number, or a list that was captured: once for each of its values";
        step: Kind::Steps, LH, Nothing, REQUIRED, "what is repeated";
    }
    expect {
        result: Kind::Results, L, Counting, "success; compareTrue for compare", "codes or names, or a column";
        entries: Kind::Count, L, Counting, "any", "how many entries come";
        entry: Kind::Entry, L, Nothing, "not checked", "exactly one entry with these values, or this row";
        every: Kind::Text, L, Nothing, "not checked",
            "people (`people = \"seeded\"`): each entry is one of them, whole";
        dn: Kind::Dn, L, Nothing, "not checked", "the name of the one entry";
        control: Kind::Oid, L, Nothing, "not checked", "the OID of a control that the final answer carries";
        status: Kind::Statuses, H, Counting, "200 for get and head, else 2xx", "status codes, or a column";
        length: Kind::Int(0, MOST), H, Nothing, "any", "bytes of the body";
        contains: Kind::Templates, H, Nothing, "none", "what must be in the body";
        headers: HEADERS, H, Nothing, "none", "what header lines must be";
        identity: Kind::Table("identity"), H, Nothing, "not checked", "whose page it is";
        fresh: Kind::Templates, H, Nothing, "none", "what must be in the body after an update";
    }
    identity {
        before: Kind::Text, H, Nothing, REQUIRED, "what stands before the value";
        value: Kind::Template, H, Nothing, REQUIRED, "what must be there; another one is a leak";
        until: Kind::Text, H, Nothing, "`\"`", "what stands after it";
    }
    capture {
        attribute: Kind::Text, L, Nothing, "", "an attribute of the entries, or `dn`";
        cookie: Kind::Text, H, Nothing, "", "a cookie that the answer sets";
        header: Kind::Text, H, Nothing, "", "a header line";
        json: Kind::Text, H, Nothing, "", "a value of a JSON body, by its pointer (RFC 6901)";
        before: Kind::Text, H, Nothing, "", "what stands in the body before the value";
        until: Kind::Text, H, Nothing, "", "what stands after it";
        take: Kind::Word(&["first", "random", "all"]), LH, Nothing, "first", "which of several";
        default: Kind::Default, LH, Counting, "the operation fails", "what holds where nothing is found";
    }
    controls {
        sort: Kind::Text, L, Nothing, "", "attributes to sort by, `-` before those that fall (RFC 2891)";
        proxied_authorization: Kind::Template, L, Nothing, "",
            "whose rights hold: `dn:...` or `u:...` (RFC 4370)";
        assertion: Kind::Filter, L, Nothing, "", "what must hold of the entry (RFC 4528)";
        pre_read: Kind::Texts, L, Nothing, "", "attributes as they were (RFC 4527)";
        post_read: Kind::Texts, L, Nothing, "", "attributes as they are now (RFC 4527)";
        manage_dsa_it: Kind::Bool, L, Nothing, "false", "referrals as entries (RFC 3296)";
        permissive_modify: Kind::Bool, L, Nothing, "false", "changes that change nothing succeed";
        subtree_delete: Kind::Bool, L, Nothing, "false", "the entry with all below it";
        password_policy: Kind::Bool, L, Nothing, "false", "ask for the state of the password";
        subentries: Kind::Bool, L, Nothing, "false", "subentries instead of entries (RFC 3672)";
    }
    control {
        critical: Kind::Bool, L, Nothing, "true", "whether the server must refuse what it does not know";
        value: Kind::Value, L, Nothing, "none", "its value";
    }
    change {
        replace: Kind::Map(&Kind::Values), L, Nothing, "", "attributes with their new values";
        add: Kind::Map(&Kind::Values), L, Nothing, "", "values that come";
        delete: Kind::Map(&Kind::Values), L, Nothing, "", "values that go; all of them with `[]`";
        increment: Kind::Map(&Kind::Value), L, Nothing, "", "what is added to a number (RFC 4525)";
    }
    value {
        base64: Kind::Template, L, Nothing, "", "bytes in base64";
        hex: Kind::Template, L, Nothing, "", "bytes in hexadecimal digits";
        utf16: Kind::Template, L, Nothing, "", "text in UTF-16LE, as unicodePwd wants it";
        file: Kind::Text, L, Nothing, "", "what is in a file, beside this one";
    }
}

/// The only attribute of an answer to `password_modify` (RFC 3062 section 2).
pub const GENERATED: &str = "genPasswd";

/// The only attribute of an answer to "Who am I?" (RFC 4532 section 2.2).
pub const AUTHORIZATION: &str = "authzId";

/// The parts of an LDAP answer, apart from the result, that steps may expect and capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Only the result.
    Nothing,
    /// Entries with their attributes.
    Entries,
    /// A value with this name.
    Value(&'static str),
}

/// A verb: its name, its protocols, the parts of its answer, and the tables of [`FORM`] with its keys.
#[derive(Debug, Clone, Copy)]
pub struct VerbForm {
    pub name: &'static str,
    pub protocols: &'static [Protocol],
    pub answer: Answer,
    /// The tables with the keys of the verb.
    pub tables: &'static [&'static str],
}

impl VerbForm {
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        VERBS.iter().find(|verb| verb.name == name)
    }
}

const fn verb(
    name: &'static str,
    protocols: &'static [Protocol],
    answer: Answer,
    tables: &'static [&'static str],
) -> VerbForm {
    VerbForm { name, protocols, answer, tables }
}

pub const VERBS: &[VerbForm] = &[
    verb("bind", L, Answer::Nothing, &["step", "bind", "asks", "ldap"]),
    verb("search", L, Answer::Entries, &["step", "search", "asks", "ldap"]),
    verb("compare", L, Answer::Nothing, &["step", "compare", "asks", "ldap"]),
    verb("add", L, Answer::Nothing, &["step", "add", "asks", "ldap"]),
    verb("modify", L, Answer::Nothing, &["step", "modify", "asks", "ldap"]),
    verb("modify_dn", L, Answer::Nothing, &["step", "modify_dn", "asks", "ldap"]),
    verb("delete", LH, Answer::Nothing, &["step", "delete", "http", "body", "asks", "ldap"]),
    verb("password_modify", L, Answer::Value(GENERATED), &["step", "password_modify", "asks", "ldap"]),
    verb("refresh", L, Answer::Nothing, &["step", "refresh", "asks", "ldap"]),
    verb("extended", L, Answer::Nothing, &["step", "extended", "asks", "ldap"]),
    verb("who_am_i", L, Answer::Value(AUTHORIZATION), &["step", "who_am_i", "asks", "ldap"]),
    verb("unbind", L, Answer::Nothing, &["step", "unbind"]),
    verb("get", H, Answer::Nothing, &["step", "get", "http", "asks"]),
    verb("head", H, Answer::Nothing, &["step", "head", "http", "asks"]),
    verb("post", H, Answer::Nothing, &["step", "post", "http", "body", "asks"]),
    verb("put", H, Answer::Nothing, &["step", "put", "http", "body", "asks"]),
    verb("patch", H, Answer::Nothing, &["step", "patch", "http", "body", "asks"]),
    verb("file", H, Answer::Nothing, &["step", "file", "asks"]),
    verb("program", H, Answer::Nothing, &["step", "program", "asks"]),
    verb("think", LH, Answer::Nothing, &["step", "think"]),
    verb("repeat", LH, Answer::Nothing, &["step", "repeat"]),
];

/// The keys of several tables, one table after the other.
pub(crate) fn keys<'t>(tables: &'t [&str]) -> impl Iterator<Item = &'static Key> + use<'t> {
    tables.iter().flat_map(|table| FORM.iter().find(|(name, _)| name == table)).flat_map(|(_, keys)| *keys)
}
