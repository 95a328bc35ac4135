//! A scenario, read: what the compiler of programs takes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wire::ldap::Scope;

use crate::form::Protocol;
use crate::template::{Field, Template};

/// A name with its text, such as a header line; in the order of the file.
pub type Named = (String, Template);

/// What a file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// What it is called, for readers.
    pub title: Option<String>,
    /// What it was taken from.
    pub paper: Option<String>,
    pub note: Option<String>,
    pub protocol: Protocol,
    /// The DN that `{base}` stands for.
    pub base: Option<Template>,
    /// Header lines of every request that has none of the same name.
    pub headers: Vec<Named>,
    pub cookies: bool,
    /// Options of the run.
    pub load: Load,
    /// Named values; each uses only values before it.
    pub values: Vec<Named>,
    /// Connections by their names; one that steps use and the file does not describe is among them.
    pub connections: Vec<Connection>,
    /// Rows to deal.
    pub data: Vec<Data>,
    /// The set of files that is asked for.
    pub files: Option<FileSet>,
    /// What a user does before the first operation.
    pub start: Vec<Step>,
    pub operations: Vec<Operation>,
    /// What is drawn, and where; in the order of the blocks.
    pub draws: Vec<Draw>,
    /// Whether it has anything below `{base}`.
    pub uses_base: bool,
    /// Variables of the environment that it takes.
    pub variables: Vec<String>,
    /// Controls that a server must know.
    pub needed: Vec<Needed>,
}

/// A control without which a step is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// Where it is asked for; `None` for `[start]`.
    pub operation: Option<usize>,
    /// What the file calls it.
    pub name: String,
    pub oid: String,
    /// The line of the file, from 1.
    pub line: usize,
}

/// `[load]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    /// Users at a time.
    pub users: Option<u64>,
    /// Users at a time, for a sweep.
    pub clients: Vec<u64>,
    /// Operations per second.
    pub rate: Option<f64>,
    /// `even` or `poisson`.
    pub arrivals: Option<String>,
    /// Rates or users, one after the other.
    pub stages: Vec<Stage>,
    /// The mean pause after each operation.
    pub think: Option<Duration>,
    /// What think times are scaled to fill.
    pub session: Option<Duration>,
    /// What the total must hold, as the option has it.
    pub objective: Option<String>,
    /// Time before measuring.
    pub warmup: Option<Duration>,
    /// Time of measuring.
    pub measure: Option<Duration>,
    /// How long an answer may take.
    pub timeout: Option<Duration>,
    /// How seeded people are drawn.
    pub keys: Option<Deal>,
}

/// A part of a schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// How long it lasts.
    pub lasts: Duration,
    /// How much it asks for.
    pub level: Level,
}

/// How much a stage asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// So many users at a time.
    Users(u64),
    /// So many operations per second.
    Rate(f64),
}

/// How long a connection is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// From the user's start to its end.
    User,
    Operations(u32),
    Iteration,
    Step,
    /// So many connections are shared by all users, from the first to the last.
    Pool(u32),
}

/// `[connection.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub name: String,
    /// How long it is kept.
    pub lives: Lifetime,
    /// Requests in flight at a time; over 1, users share it.
    pub outstanding: u8,
    /// Security; `None` as the target's address says.
    pub tls: Option<Tls>,
    /// The name that it binds with after opening; `None` as the command line says.
    pub bind: Option<Template>,
    pub password: Option<Template>,
    /// The mechanism; `None` is the simple bind.
    pub sasl: Option<Sasl>,
    /// LDAP's version.
    pub version: u8,
    /// Whether it speaks HTTP/1.0.
    pub http_1_0: bool,
}

impl Connection {
    /// Whether several users have requests on it at a time.
    pub const fn is_shared(&self) -> bool {
        self.outstanding > 1 || matches!(self.lives, Lifetime::Pool(_))
    }
}

/// Security of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// From the first byte on.
    Always,
    StartTls,
    /// None.
    Never,
}

/// A mechanism of SASL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sasl {
    /// RFC 4616.
    Plain,
    /// RFC 4422 appendix A.
    External,
}

/// `[data.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    pub name: String,
    /// Where its rows come from.
    pub rows: Rows,
    /// Names of its columns, where they are known.
    pub columns: Option<Vec<String>>,
    /// Who gets which row; `None` is shuffled, and for seeded people what `--keys` says.
    pub deal: Option<Deal>,
    /// Whether user u has row u, and keeps it.
    pub per_user: bool,
    /// Columns that are never shown.
    pub secret: Vec<String>,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    File {
        path: String,
        separator: char,
        /// Whether its first line names them.
        header: bool,
    },
    Values(Vec<String>),
    /// Whole numbers, both included.
    Range(i64, i64),
    /// People of the population.
    Seeded,
    /// People who are added.
    New,
}

/// How rows are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deal {
    /// Each once, then each again in another order.
    Shuffled,
    /// From the first.
    InOrder,
    /// From the first to the last, and not again.
    Once,
    /// No other user has it meanwhile.
    Exclusive,
    Uniform,
    /// Few of them often.
    Zipfian,
    /// A part of them often.
    Hotspot,
    /// The last ones often.
    Latest,
}

impl Deal {
    /// As files have it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Shuffled => "shuffled",
            Self::InOrder => "in-order",
            Self::Once => "once",
            Self::Exclusive => "exclusive",
            Self::Uniform => "uniform",
            Self::Zipfian => "zipfian",
            Self::Hotspot => "hotspot",
            Self::Latest => "latest",
        }
    }
}

/// `[files.SET]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    pub name: String,
    /// Its classes in the order of the file.
    pub classes: Vec<FileClass>,
}

/// Files that are asked for equally often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileClass {
    pub name: String,
    /// Their bytes.
    pub sizes: Sizes,
    /// How many there are, where the file says.
    pub count: Option<u32>,
}

/// Bytes of the files of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    Each(Vec<u64>),
    /// From the smallest to the largest; those between grow by a constant factor.
    Spread(u64, u64),
}

/// `[[operation]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub name: String,
    /// Its cards: the weights of the file without their common divisor.
    pub weight: u64,
    /// The step that is counted and timed; `None` for the whole.
    pub counts: Option<String>,
    /// What it must hold, as the option has it.
    pub objective: Option<String>,
    /// Whether it counts as a web page.
    pub page: bool,
    /// Whether its only step is written as the operation itself, and has no name of its own.
    pub is_step: bool,
    pub steps: Vec<Step>,
}

/// One verb and what it acts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its row within the operation.
    pub name: String,
    /// The connection it goes over; of no meaning for `think`, `repeat` and `unbind`.
    pub on: String,
    pub verb: Verb,
    /// What the answer must be.
    pub expect: Expect,
    /// What is remembered of it.
    pub captures: Vec<Capture>,
    /// Controls of the request.
    pub controls: Vec<Control>,
}

/// What a step does.
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

/// `search`.
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

/// Which aliases a search follows, in the order of their numbers (RFC 4511 section 4.5.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deref {
    /// None.
    Never,
    Searching,
    Finding,
    Always,
}

/// A request of HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// The path, or all of it from a column.
    pub path: Template,
    /// Header lines; each replaces the one of the whole file.
    pub headers: Vec<Named>,
    pub body: Option<Body>,
    /// How values are escaped in the answer.
    pub escaped: Escaped,
    pub follow: bool,
}

/// What a request sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Fields of a form.
    Form(Vec<Named>),
    /// JSON.
    Json(Json),
    /// A text as it is, and its type.
    Text(Template, Option<String>),
}

/// A value of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// A text, escaped when it is sent.
    Text(Template),
    /// `true`, `false` or a number, as JSON writes it.
    Literal(String),
    /// `[..]`
    List(Vec<Json>),
    /// `{..}`
    Object(Vec<(String, Json)>),
}

/// How values are escaped in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escaped {
    /// `&amp;`
    Html,
    /// `\u0026`
    Json,
    /// Not at all.
    Plain,
}

/// How often a block is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Times {
    Number(u32),
    /// Once for each value of this list, which has its name within the block.
    Each(String),
}

/// Attributes of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The row of this data.
    Row(String),
    /// These, in the order of the file.
    Attributes(Vec<(String, Vec<Value>)>),
}

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// What its bytes are made of.
    pub text: Template,
    pub encoding: Encoding,
}

/// How a text stands for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As UTF-8.
    Text,
    /// In base64.
    Base64,
    /// In hexadecimal digits.
    Hex,
    /// As UTF-16LE.
    Utf16,
    /// It names a file with them.
    File,
}

impl Encoding {
    /// The bytes that a text stands for; `None` where it stands for none, or for a file.
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

/// One change of a `modify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub attribute: String,
    pub values: Vec<Value>,
}

/// What a change does, in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// As files have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Increment => "increment",
        }
    }
}

/// What an answer must be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// Result codes of LDAP, any of them; empty for the verb's default.
    pub results: Vec<Code>,
    pub entries: Option<Count>,
    /// What the one entry has.
    pub entry: Option<Entry>,
    /// The people of whom each entry is one, whole.
    pub every: Option<String>,
    pub dn: Option<Template>,
    /// The object identifier of a control that the final answer carries (RFC 4511 section 4.1.11).
    pub control: Option<String>,
    /// Status codes of HTTP, any of them; empty for the verb's default.
    pub statuses: Vec<Code>,
    /// Bytes of the body.
    pub length: Option<u64>,
    /// What must be in the body.
    pub contains: Vec<Template>,
    /// What header lines must be.
    pub headers: Vec<Named>,
    pub identity: Option<Identity>,
    /// What must be in the body after an update.
    pub fresh: Vec<Template>,
}

/// A code that an answer may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    Number(u32),
    /// The one that a field says.
    Field(Template),
}

/// How many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exactly(u64),
    AtLeast(u64),
    AtMost(u64),
    /// As many as there are people, or as the search's `size_limit` lets through.
    All,
}

/// Whose page it is: another value between the two texts is a leak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What stands before the value.
    pub before: String,
    /// What must be there.
    pub value: Template,
    /// What stands after it.
    pub until: String,
}

/// What is remembered of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// What later steps call it.
    pub name: String,
    pub from: Source,
    pub take: Take,
    /// What holds where nothing is found; without it the operation fails.
    pub default: Option<Vec<String>>,
}

/// Where a capture is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An attribute of the first entry, `dn` or `genPasswd`.
    Attribute(String),
    /// A cookie that the answer sets.
    Cookie(String),
    Header(String),
    /// A value of a JSON body, by its pointer.
    Json(String),
    /// What stands between two texts of the body.
    Between(String, String),
}

/// Which of several captured values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// The first.
    First,
    Random,
    /// A list of them, for `repeat`.
    All,
}

/// A control of a request.
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

/// Simple paged results (RFC 2696), which `page_size` asks for.
pub const PAGED_RESULTS: &str = "1.2.840.113556.1.4.319";

impl Control {
    /// Its object identifier.
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

    /// Whether a server must refuse what it cannot do with it.
    ///
    /// RFC 4370 section 3 wants it so. The others leave the choice: what is asked for is to be done, or not
    /// measured. A password's state is only told, and clients ask for it in passing.
    pub const fn is_critical(&self) -> bool {
        match self {
            Self::PasswordPolicy => false,
            Self::Other { critical, .. } => *critical,
            _ => true,
        }
    }

    /// Verbs that it is for; none where any will do.
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

/// An attribute to sort by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    pub attribute: String,
    /// Whether from the last to the first.
    pub reverse: bool,
}

/// What is drawn at the head of a block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw {
    pub block: Block,
    pub what: Drawn,
}

/// What can be drawn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawn {
    Value(String),
    Row(String),
    /// A field such as `{uuid}`, the same wherever the block has it.
    Generator(Field),
}

/// A block of steps: `[start]`, an operation, or a `repeat` within one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// The number of the operation, from 0; `None` for `[start]`.
    pub operation: Option<usize>,
    /// The numbers of the steps that are `repeat`s, from the outermost, from 0.
    pub repeats: Vec<usize>,
}

impl Scenario {
    /// Names of entries that operations enter, as they are written, and those that they are given later; in which
    /// operation, `None` for `[start]`.
    pub fn added(&self) -> Vec<(Option<usize>, String)> {
        let mut found = Vec::new();
        for (block, steps) in self.blocks() {
            let mut names: Vec<String> = Vec::new();
            for step in flat(steps) {
                match &step.verb {
                    // People whom a run adds are its own in any case.
                    Verb::Add { entry: Entry::Row(data), .. } if self.is_new(data) => {}
                    Verb::Add { dn, .. } => names.push(dn.to_string()),
                    Verb::ModifyDn { dn, new_rdn, new_superior, .. } if names.contains(&dn.to_string()) => {
                        names.push(renamed(dn, new_rdn, new_superior.as_ref()));
                    }
                    _ => {}
                }
            }
            found.extend(names.into_iter().map(|name| (block, name)));
        }
        found
    }

    pub(crate) fn is_new(&self, data: &str) -> bool {
        self.data.iter().any(|each| each.name == data && each.rows == Rows::New)
    }

    /// The step of an operation that is counted and timed; `None` for all of it.
    ///
    /// The only request of an operation is all of it, but for opening a connection or waiting for one.
    pub fn counted<'o>(&self, operation: &'o Operation) -> Option<&'o str> {
        let opens = |connection: &Connection| {
            connection.is_shared() || matches!(connection.lives, Lifetime::Iteration | Lifetime::Step)
        };
        let only = match &operation.steps[..] {
            [Step { verb: Verb::Think { .. } | Verb::Repeat { .. } | Verb::Unbind { .. }, .. }] => None,
            [step] if !self.connections.iter().any(|each| each.name == step.on && opens(each)) => {
                Some(step.name.as_str())
            }
            _ => None,
        };
        operation.counts.as_deref().or(only)
    }

    /// What is captured, and in which operation; `None` for `[start]`.
    pub fn captures(&self) -> Vec<(Option<usize>, &str)> {
        let of = |(block, steps)| captured(steps).into_iter().map(move |name| (block, name));
        self.blocks().flat_map(of).collect()
    }

    /// The steps of `[start]` and of the operations, by their numbers.
    fn blocks(&self) -> impl Iterator<Item = (Option<usize>, &[Step])> {
        let operations = self.operations.iter().enumerate();
        let operations = operations.map(|(number, operation)| (Some(number), &operation.steps[..]));
        [(None, &self.start[..])].into_iter().chain(operations)
    }

    /// Every step, those of repeats too.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.blocks().flat_map(|(_, steps)| flat(steps))
    }

    /// Blocks that are repeated once for each value of a list, with the list's name.
    pub fn lists(&self) -> Vec<(Block, String)> {
        fn of(steps: &[Step], block: &Block, found: &mut Vec<(Block, String)>) {
            for (number, step) in steps.iter().enumerate() {
                if let Verb::Repeat { times, steps } = &step.verb {
                    let mut inner = block.clone();
                    inner.repeats.push(number);
                    of(steps, &inner, found);
                    if let Times::Each(name) = times {
                        found.push((inner, name.clone()));
                    }
                }
            }
        }
        let mut found = Vec::new();
        for (operation, steps) in self.blocks() {
            of(steps, &Block { operation, repeats: Vec::new() }, &mut found);
        }
        found
    }

    /// A block as people call it: `ils-user > repeat 3`.
    pub fn block_name(&self, block: &Block) -> String {
        let operation = block.operation.and_then(|operation| self.operations.get(operation));
        let mut name = operation.map_or_else(|| "start".to_owned(), |operation| operation.name.clone());
        for number in &block.repeats {
            name.push_str(&format!(" > repeat {}", number + 1));
        }
        name
    }
}

/// What is captured in steps, those of repeats too.
pub fn captured(steps: &[Step]) -> Vec<&str> {
    flat(steps).into_iter().flat_map(|step| step.captures.iter().map(|each| each.name.as_str())).collect()
}

/// The name of an entry after it was given another.
pub fn renamed(dn: &Template, new_rdn: &Template, new_superior: Option<&Template>) -> String {
    let above = new_superior.map_or_else(|| above(&dn.to_string()), Template::to_string);
    format!("{new_rdn},{above}")
}

/// What follows the first part of a name.
fn above(dn: &str) -> String {
    let mut escaped = false;
    let end = dn.bytes().position(|byte| {
        let ends = byte == b',' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or_else(String::new, |end| dn[end + 1..].to_owned())
}

/// How long steps think, all in all, as far as it can be said: repeats within repeats may take ages. `at_least` leaves
/// times out that are not constant.
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

/// Steps, those of repeats too.
pub fn flat<'s>(steps: &'s [Step]) -> Vec<&'s Step> {
    let of = |step: &'s Step| match &step.verb {
        Verb::Repeat { steps, .. } => flat(steps),
        _ => vec![step],
    };
    steps.iter().flat_map(of).collect()
}
