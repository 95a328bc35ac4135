//! A parsed scenario: the input of the program compiler.
//!
//! The variants of an enum that is deserialised are words of scenario files.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use wire::ldap::Scope;

use crate::form::Protocol;
use crate::template::{Field, Template};

/// A name with its text, such as a header line.
pub type Named = (String, Template);

#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub title: Option<String>,
    /// The publication that the scenario comes from.
    pub paper: Option<String>,
    pub note: Option<String>,
    pub protocol: Protocol,
    /// The DN that replaces `{base}`.
    pub base: Option<Template>,
    /// Header lines of all requests. A request's line of the same name replaces them.
    pub headers: Vec<Named>,
    pub cookies: bool,
    /// Options of the run.
    pub load: Load,
    /// Named values; each uses only earlier values.
    pub values: Vec<Named>,
    /// Connections, including those that steps use without a `[connection.NAME]` table.
    pub connections: Vec<Connection>,
    pub data: Vec<Data>,
    /// The file set that `file` steps request.
    pub files: Option<FileSet>,
    /// Steps that each user performs once, before its first operation.
    pub start: Vec<Step>,
    pub operations: Vec<Operation>,
    /// The draws at the beginning of blocks, in the order of the blocks.
    pub draws: Vec<Draw>,
    /// Whether any text uses `{base}`.
    pub uses_base: bool,
    pub variables: Vec<String>,
    /// Controls that the server must support.
    pub needed: Vec<Needed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// The operation whose step has the control; `None` for `[start]`.
    pub operation: Option<usize>,
    /// The control's name in the file.
    pub name: String,
    pub oid: String,
    /// The number of the line, from 1.
    pub line: usize,
}

/// `[load]`, with durations in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Load {
    /// Concurrent users.
    pub users: Option<u64>,
    /// Numbers of concurrent users, for a sweep.
    pub clients: Option<Vec<u64>>,
    /// Operations per second.
    pub rate: Option<f64>,
    /// `even` or `poisson`.
    pub arrivals: Option<String>,
    /// Successive stages, in the option's syntax.
    pub stages: Option<String>,
    /// The mean pause after each operation.
    pub think: Option<f64>,
    /// The duration of an operation to which think times are scaled.
    pub session: Option<f64>,
    /// The objective for the total, in the option's syntax.
    pub objective: Option<String>,
    pub warmup: Option<f64>,
    pub measure: Option<f64>,
    /// The timeout of an operation.
    pub timeout: Option<f64>,
    /// The default deal of seeded people.
    pub keys: Option<Deal>,
}

/// A part of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stage {
    pub(crate) lasts: Duration,
    pub(crate) level: Level,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s:", self.lasts.as_secs_f64())?;
        match self.level {
            Level::Rate(rate) => write!(f, "{rate}"),
            Level::Users(users) => write!(f, "{users} users"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Level {
    Users(u64),
    /// Operations per second.
    Rate(f64),
}

/// The lifetime of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// From the user's start to its end.
    User,
    Operations(u32),
    Iteration,
    Step,
    /// All users share this many connections, which are open as long as any user runs.
    Pool(u32),
}

/// `[connection.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub name: String,
    pub lives: Lifetime,
    /// Maximum of requests in flight. Above 1, users share the connection.
    pub outstanding: u8,
    /// `None` if the target's address decides whether TLS is used.
    pub tls: Option<Tls>,
    /// The name of the bind after opening; `None` if the command line decides.
    pub bind: Option<Template>,
    pub password: Option<Template>,
    /// `None` for a simple bind.
    pub sasl: Option<Sasl>,
    pub version: u8,
    /// Whether requests are HTTP/1.0.
    pub http_1_0: bool,
}

impl Connection {
    pub const fn is_shared(&self) -> bool {
        self.outstanding > 1 || matches!(self.lives, Lifetime::Pool(_))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// TLS from the first byte on.
    Always,
    StartTls,
    Never,
}

/// A SASL mechanism. Both mechanisms need TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sasl {
    /// The client sends a name and a password, as in a simple bind (RFC 4616).
    #[serde(alias = "PLAIN")]
    Plain,
    /// The identity comes from the TLS client certificate (RFC 4422 appendix A).
    #[serde(alias = "EXTERNAL")]
    External,
}

/// `[data.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    pub name: String,
    pub rows: Rows,
    /// Column names, if known.
    pub columns: Option<Vec<String>>,
    /// The deal of the rows. `None` means shuffled rows, or the option `--keys` for seeded people.
    pub deal: Option<Deal>,
    /// Whether user `u` has row `u` for its whole lifetime.
    pub per_user: bool,
    /// Columns whose values are hidden in all output.
    pub secret: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    File {
        path: String,
        separator: char,
        /// Whether the first line has the column names.
        header: bool,
    },
    Values(Vec<String>),
    /// Whole numbers from the first to the second, inclusive.
    Range(i64, i64),
    /// People of the population.
    Seeded,
    /// People that the run adds.
    New,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deal {
    /// Every row once per round, each round in a new random order.
    Shuffled,
    /// From the first row to the last, again and again.
    InOrder,
    /// Each row once, from the first to the last.
    Once,
    /// Shuffled; a row is used by one user at a time.
    Exclusive,
    Uniform,
    /// A few rows are drawn often.
    Zipfian,
    /// A part of the rows is drawn often.
    Hotspot,
    /// The last rows are drawn often.
    Latest,
}

/// `[files.SET]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSet {
    pub name: String,
    /// In the order of the file.
    pub classes: Vec<FileClass>,
}

/// A class of files. All files of a class are requested equally often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileClass {
    pub name: String,
    /// Sizes in bytes, used in turn.
    pub sizes: Vec<u64>,
    /// Instead of `sizes`: a geometric progression from the smallest to the largest size.
    pub spread: Option<(u64, u64)>,
    pub count: Option<u32>,
}

/// `[[operation]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub name: String,
    /// The number of the operation's cards in the deck: the file's weights divided by their common divisor.
    pub weight: u64,
    /// The step that is counted and timed; `None` for the whole operation.
    pub counts: Option<String>,
    /// The operation's objective, in the option's syntax.
    pub objective: Option<String>,
    /// Whether the operation counts as a web page.
    pub page: bool,
    /// Whether the operation's only step is written as the operation itself, and has no own name.
    pub is_step: bool,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The name of the step's result row within the operation.
    pub name: String,
    /// The verb's name in the file.
    pub word: &'static str,
    /// The name of the step's connection; unused for `think`, `repeat` and `unbind`.
    pub on: String,
    pub verb: Verb,
    pub expect: Expect,
    pub captures: Vec<Capture>,
    pub controls: Vec<Control>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    Bind { bind: Template, password: Option<Template>, sasl: Option<Sasl>, version: u8 },
    Search(Box<Search>),
    Compare { dn: Template, entry: Entry },
    Add { dn: Template, entry: Entry, keep: bool },
    Modify { dn: Template, changes: Vec<Change> },
    ModifyDn { dn: Template, new_rdn: Template, delete_old_rdn: bool, new_superior: Option<Template> },
    Delete { dn: Template },
    PasswordModify { dn: Template, old_password: Option<Template>, new_password: Option<Template> },
    Refresh { dn: Template, ttl: Duration },
    Extended { oid: String, value: Option<Value> },
    Unbind { connection: String },
    Request(Box<Request>),
    File { class: String },
    Program { program: String, size: Option<u64>, size_about: Option<u64>, random: bool },
    Think { mean: Duration, constant: bool },
    Repeat { times: Times, steps: Vec<Step> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub filter: Template,
    pub base: Template,
    pub scope: Scope,
    pub attributes: Vec<String>,
    pub size_limit: u32,
    pub time_limit: Duration,
    pub types_only: bool,
    pub deref: Deref,
    pub page_size: Option<u32>,
}

/// The aliases that a search follows, in the order of their numbers (RFC 4511 section 4.5.1.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deref {
    #[default]
    Never,
    Searching,
    Finding,
    Always,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// The path; one column may be the whole path.
    pub path: Template,
    /// Header lines. They replace the scenario's lines of the same name.
    pub headers: Vec<Named>,
    pub body: Option<Body>,
    /// The escape of values in the answer.
    pub escaped: Escaped,
    pub follow: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Form(Vec<Named>),
    Json(Json),
    /// A text that is sent unchanged, and its content type.
    Text(Template, Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// A string, escaped before sending.
    Text(Template),
    /// `true`, `false` or a number, as JSON writes it.
    Literal(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// The escape of values in an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Escaped {
    /// `&amp;`
    #[default]
    Html,
    /// `\u0026`
    Json,
    Plain,
}

/// The number of rounds of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Times {
    Number(u32),
    /// Once for each value of this list. Within the block, the list's name means the current value.
    Each(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The attributes of this data set's row.
    Row(String),
    /// In the order of the file.
    Attributes(Vec<(String, Vec<Value>)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The text that encodes the value's bytes.
    pub text: Template,
    pub encoding: Encoding,
}

/// The encoding of bytes as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// UTF-8.
    Text,
    Base64,
    Hex,
    /// UTF-16LE.
    Utf16,
    /// The text is the path of a file with the bytes.
    File,
}

impl Encoding {
    /// Decodes a text; `None` if the text is invalid, or the path of a file.
    pub fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Text => Some(text.to_vec()),
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Hex => {
                let digits = std::str::from_utf8(text).ok().filter(|text| text.len() % 2 == 0)?;
                let byte = |at| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
                (0..digits.len()).step_by(2).map(byte).collect()
            }
            Self::Utf16 => {
                let text = std::str::from_utf8(text).ok()?;
                Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect())
            }
            Self::File => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub attribute: String,
    pub values: Vec<Value>,
}

/// The operation of a change, in the order of the protocol's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// RFC 4511 section 4.6.
    Add,
    /// RFC 4511 section 4.6.
    Delete,
    /// RFC 4511 section 4.6.
    Replace,
    /// RFC 4525.
    Increment,
}

impl ChangeKind {
    /// The keyword in scenario files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Increment => "increment",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// Accepted LDAP result codes; empty for the verb's default.
    pub results: Vec<Code>,
    pub entries: Option<Count>,
    /// The attributes of the only entry.
    pub entry: Option<Entry>,
    /// The data set of people. Each entry must be one of these people, with all attributes.
    pub every: Option<String>,
    pub dn: Option<Template>,
    /// The object identifier of a control that the final answer must have (RFC 4511 section 4.1.11).
    pub control: Option<String>,
    /// Accepted HTTP status codes; empty for the verb's default.
    pub statuses: Vec<Code>,
    /// The length of the body in bytes.
    pub length: Option<u64>,
    /// Texts that the body must contain.
    pub contains: Vec<Template>,
    pub headers: Vec<Named>,
    pub identity: Option<Identity>,
    /// Texts that the body must contain after an update.
    pub fresh: Vec<Template>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    Number(u32),
    /// The code in a field, such as a column.
    Field(Template),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exactly(u64),
    AtLeast(u64),
    AtMost(u64),
    /// The number of people, or the search's `size_limit` if it is lower.
    All,
}

/// The page's owner. Another value between the two texts is a leak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The text before the value.
    pub before: String,
    /// The expected value.
    pub value: Template,
    /// The text after the value.
    pub until: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The value's name in later steps.
    pub name: String,
    pub from: Source,
    pub take: Take,
    /// The default values, if the answer has none. Without a default the operation fails.
    pub default: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An attribute of the first entry, `dn` or `genPasswd`.
    Attribute(String),
    Cookie(String),
    Header(String),
    /// A value of a JSON body, by JSON pointer (RFC 6901).
    Json(String),
    /// The bytes between two texts of the body.
    Between(String, String),
}

/// The captured value, if the answer has several values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    #[default]
    First,
    Random,
    /// All values, as a list for `repeat`.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    Sort(Vec<SortKey>),
    ProxiedAuthorization(Template),
    Assertion(Template),
    PreRead(Vec<String>),
    PostRead(Vec<String>),
    ManageDsaIt,
    PermissiveModify,
    SubtreeDelete,
    PasswordPolicy,
    Subentries,
    Other { oid: String, critical: bool, value: Option<Value> },
}

/// The control of `page_size`: simple paged results (RFC 2696).
pub const PAGED_RESULTS: &str = "1.2.840.113556.1.4.319";

impl Control {
    pub fn oid(&self) -> &str {
        match self {
            Self::Sort(_) => "1.2.840.113556.1.4.473",
            Self::ProxiedAuthorization(_) => "2.16.840.1.113730.3.4.18",
            Self::Assertion(_) => "1.3.6.1.1.12",
            Self::PreRead(_) => "1.3.6.1.1.13.1",
            Self::PostRead(_) => "1.3.6.1.1.13.2",
            Self::ManageDsaIt => "2.16.840.1.113730.3.4.2",
            Self::PermissiveModify => "1.2.840.113556.1.4.1413",
            // draft-armijo-ldap-treedelete
            Self::SubtreeDelete => "1.2.840.113556.1.4.805",
            // draft-behera-ldap-password-policy
            Self::PasswordPolicy => "1.3.6.1.4.1.42.2.27.8.5.1",
            Self::Subentries => "1.3.6.1.4.1.4203.1.10.1",
            Self::Other { oid, .. } => oid,
        }
    }

    /// Whether a server without this control must refuse the request.
    ///
    /// RFC 4370 section 3 requires a refusal for proxied authorization. For other controls the client
    /// decides: they are critical, so that no request is measured without its control. Password policy is not
    /// critical, because it only adds information to the answer.
    pub const fn is_critical(&self) -> bool {
        match self {
            Self::PasswordPolicy => false,
            Self::Other { critical, .. } => *critical,
            _ => true,
        }
    }

    /// The verbs that may have the control; empty for all verbs.
    pub(crate) const fn verbs(&self) -> &'static [&'static str] {
        match self {
            Self::Sort(_) | Self::Subentries => &["search"],
            Self::PreRead(_) => &["modify", "delete", "modify_dn"],
            Self::PostRead(_) => &["add", "modify", "modify_dn"],
            Self::PermissiveModify => &["modify"],
            Self::SubtreeDelete => &["delete"],
            _ => &[],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    pub attribute: String,
    pub reverse: bool,
}

/// A draw at the beginning of a block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw {
    pub block: Block,
    pub what: Drawn,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawn {
    Value(String),
    Row(String),
    /// A field such as `{uuid}`, with one value throughout the block.
    Generator(Field),
}

/// A block of steps: `[start]`, an operation, or a `repeat` within one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// The index of the operation; `None` for `[start]`.
    pub operation: Option<usize>,
    /// The indexes of the `repeat` steps, from the outermost on.
    pub repeats: Vec<usize>,
}

impl Scenario {
    /// DN templates of entries that operations add, and their DNs after renaming. Each has the index of its
    /// operation, `None` for `[start]`.
    pub fn added(&self) -> Vec<(Option<usize>, String)> {
        let mut added = Vec::new();
        for (block, steps) in self.blocks() {
            let mut names: Vec<String> = Vec::new();
            for step in flat(steps) {
                match &step.verb {
                    // Entries of new people are not listed: they always belong to the run.
                    Verb::Add { entry: Entry::Row(data), .. } if self.is_new(data) => {}
                    Verb::Add { dn, .. } => names.push(dn.to_string()),
                    Verb::ModifyDn { dn, new_rdn, new_superior, .. } if names.contains(&dn.to_string()) => {
                        names.push(renamed(dn, new_rdn, new_superior.as_ref()));
                    }
                    _ => {}
                }
            }
            added.extend(names.into_iter().map(|name| (block, name)));
        }
        added
    }

    pub(crate) fn is_new(&self, data: &str) -> bool {
        self.data.iter().any(|source| source.name == data && source.rows == Rows::New)
    }

    /// The step of an operation that is counted and timed; `None` for the whole operation.
    ///
    /// A request that is the only step is counted as a step, unless the operation also opens a connection or
    /// waits for a connection.
    pub fn counted<'o>(&self, operation: &'o Operation) -> Option<&'o str> {
        let opens = |connection: &Connection| {
            connection.is_shared() || matches!(connection.lives, Lifetime::Iteration | Lifetime::Step)
        };
        let only = match &operation.steps[..] {
            [Step { verb: Verb::Think { .. } | Verb::Repeat { .. } | Verb::Unbind { .. }, .. }] => None,
            [step] if !self.connections.iter().any(|other| other.name == step.on && opens(other)) => {
                Some(step.name.as_str())
            }
            _ => None,
        };
        operation.counts.as_deref().or(only)
    }

    /// Names of captures, with the index of the operation; `None` for `[start]`.
    pub fn captures(&self) -> Vec<(Option<usize>, &str)> {
        let of = |(block, steps)| captured(steps).into_iter().map(move |name| (block, name));
        self.blocks().flat_map(of).collect()
    }

    /// The steps of `[start]` (index `None`) and of the operations.
    fn blocks(&self) -> impl Iterator<Item = (Option<usize>, &[Step])> {
        let operations = self.operations.iter().enumerate();
        let operations = operations.map(|(number, operation)| (Some(number), &operation.steps[..]));
        [(None, &self.start[..])].into_iter().chain(operations)
    }

    /// All steps, including those within repeats.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.blocks().flat_map(|(_, steps)| flat(steps))
    }

    /// Blocks that are repeated once per value of a list, with the list's name.
    pub fn lists(&self) -> Vec<(Block, String)> {
        fn of(steps: &[Step], block: &Block, lists: &mut Vec<(Block, String)>) {
            for (number, step) in steps.iter().enumerate() {
                if let Verb::Repeat { times, steps } = &step.verb {
                    let mut inner = block.clone();
                    inner.repeats.push(number);
                    of(steps, &inner, lists);
                    if let Times::Each(name) = times {
                        lists.push((inner, name.clone()));
                    }
                }
            }
        }
        let mut lists = Vec::new();
        for (operation, steps) in self.blocks() {
            of(steps, &Block { operation, repeats: Vec::new() }, &mut lists);
        }
        lists
    }

    /// The name of a block for readers: `ils-user > repeat 3`.
    pub fn block_name(&self, block: &Block) -> String {
        let operation = block.operation.and_then(|operation| self.operations.get(operation));
        let mut name = operation.map_or_else(|| "start".to_owned(), |operation| operation.name.clone());
        for number in &block.repeats {
            name.push_str(&format!(" > repeat {}", number + 1));
        }
        name
    }
}

/// Names of captures in steps, including those within repeats.
pub fn captured(steps: &[Step]) -> Vec<&str> {
    flat(steps).into_iter().flat_map(|step| &step.captures).map(|capture| capture.name.as_str()).collect()
}

/// The DN of an entry after a `modify_dn`.
pub fn renamed(dn: &Template, new_rdn: &Template, new_superior: Option<&Template>) -> String {
    let above = new_superior.map_or_else(|| above(&dn.to_string()), Template::to_string);
    format!("{new_rdn},{above}")
}

/// The parent of a DN: the part after the first unescaped comma.
fn above(dn: &str) -> String {
    let mut escaped = false;
    let end = dn.bytes().position(|byte| {
        let ends = byte == b',' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or_else(String::new, |end| dn[end + 1..].to_owned())
}

/// The sum of the steps' think times, saturating. A repeat over a list counts as 0. With `at_least`, think
/// times that are not constant count as 0.
pub fn thinking_ns(steps: &[Step], at_least: bool) -> u64 {
    let of = |step: &Step| match &step.verb {
        Verb::Think { constant: false, .. } if at_least => 0,
        Verb::Think { mean, .. } => u64::try_from(mean.as_nanos()).unwrap_or(u64::MAX),
        Verb::Repeat { times: Times::Number(times), steps } => {
            thinking_ns(steps, at_least).saturating_mul(u64::from(*times))
        }
        _ => 0,
    };
    steps.iter().map(of).fold(0, u64::saturating_add)
}

/// The steps, with each repeat replaced by its own steps.
pub fn flat<'s>(steps: &'s [Step]) -> Vec<&'s Step> {
    let of = |step: &'s Step| match &step.verb {
        Verb::Repeat { steps, .. } => flat(steps),
        _ => vec![step],
    };
    steps.iter().flat_map(of).collect()
}
