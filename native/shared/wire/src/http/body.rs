//! Message body framing (RFC 9112 sections 6 and 7).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A length known in advance; 0 for no body.
    Length(u64),
    /// The chunked transfer coding.
    Chunked,
    /// Until the end of the connection; responses only.
    UntilClose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("a chunk without a size in hexadecimal digits")]
    BadChunkSize,
    #[error("a chunk that is longer than its size")]
    BadChunkEnd,
    /// Request smuggling is possible if two readers of a request disagree about the ends of lines.
    #[error("a chunk line that does not end in CR LF")]
    BadLineEnd,
    #[error("a chunk line of over {MAX_LINE_BYTES} bytes")]
    LineTooLong,
}

/// Chunk size lines with extensions, and trailer lines, are far shorter.
const MAX_LINE_BYTES: usize = 4096;

/// A body that is being received. Every byte after the head must be passed to [`Self::feed`].
#[derive(Debug, Clone, Copy)]
pub struct Body {
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Counted(u64),
    ToClose,
    Size { value: u64, digits: u8, part: Part, seen_cr: bool, line: usize },
    Data(u64),
    DataEnd { seen_cr: bool },
    Trailer { empty: bool, seen_cr: bool, line: usize },
    Done,
}

/// The part of a chunk's size line that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Digits,
    /// White space after the digits: an extension or the end follows (RFC 9112 section 7.1.1).
    Space,
    Extension,
}

/// The result of one call of [`Body::feed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Consumed bytes, including framing.
    pub consumed: usize,
    /// The range of the consumed bytes that is content: at most one piece per call.
    pub content: (usize, usize),
    pub done: bool,
}

const SIZE_LINE: State = State::Size { value: 0, digits: 0, part: Part::Digits, seen_cr: false, line: 0 };

impl Body {
    pub const fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Counted(length),
            Framing::Chunked => SIZE_LINE,
            Framing::UntilClose => State::ToClose,
        };
        Self { state }
    }

    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the body may end with the connection.
    pub fn ends_at_close(&self) -> bool {
        matches!(self.state, State::ToClose | State::Done)
    }

    /// Consumes bytes up to the end of the next piece of content. Callers repeat the call until nothing is
    /// consumed or the body is done.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, BodyError> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.len() - at;
            match self.state {
                State::Done => break,
                State::ToClose => {
                    return Ok(Progress { consumed: bytes.len(), content: (at, bytes.len()), done: false });
                }
                State::Counted(left) | State::Data(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(rest);
                    self.state = self.after_content(left - taken as u64);
                    return Ok(Progress {
                        consumed: at + taken,
                        content: (at, at + taken),
                        done: self.is_done(),
                    });
                }
                _ => {
                    self.state = self.framing_byte(bytes[at])?;
                    at += 1;
                }
            }
        }
        Ok(Progress { consumed: at, content: (at, at), done: self.is_done() })
    }

    fn after_content(&self, left: u64) -> State {
        match (self.state, left) {
            (State::Counted(_), 0) => State::Done,
            (State::Counted(_), left) => State::Counted(left),
            (_, 0) => State::DataEnd { seen_cr: false },
            (_, left) => State::Data(left),
        }
    }

    /// Reads one byte of a size line, of a chunk's end or of the trailer section.
    fn framing_byte(&self, byte: u8) -> Result<State, BodyError> {
        Ok(match self.state {
            State::Size { line, .. } | State::Trailer { line, .. } if line >= MAX_LINE_BYTES => {
                return Err(BodyError::LineTooLong);
            }
            // RFC 9112 sections 7.1 and 7.1.2: lines of chunks must end in CR LF. Only lines of heads may end
            // in a bare LF.
            State::Size { seen_cr, .. } | State::Trailer { seen_cr, .. } if seen_cr != (byte == b'\n') => {
                return Err(BodyError::BadLineEnd);
            }
            State::Size { value, digits, part, line, .. } => size_byte(byte, value, digits, part, line + 1)?,
            State::DataEnd { seen_cr: false } if byte == b'\r' => State::DataEnd { seen_cr: true },
            State::DataEnd { seen_cr: true } if byte == b'\n' => SIZE_LINE,
            State::DataEnd { .. } => return Err(BodyError::BadChunkEnd),
            State::Trailer { empty: true, .. } if byte == b'\n' => State::Done,
            State::Trailer { empty, line, .. } => {
                let seen_cr = byte == b'\r';
                State::Trailer { empty: byte == b'\n' || (empty && seen_cr), seen_cr, line: line + 1 }
            }
            other => other,
        })
    }
}

fn size_byte(byte: u8, value: u64, digits: u8, part: Part, line: usize) -> Result<State, BodyError> {
    match (byte, (byte as char).to_digit(16)) {
        (b'\n', _) if value == 0 => Ok(State::Trailer { empty: true, seen_cr: false, line: 0 }),
        (b'\n', _) => Ok(State::Data(value)),
        // Fifteen digits are enough for any body, and cannot overflow.
        (_, Some(digit)) if part == Part::Digits && digits < 15 => {
            let (value, digits) = (value << 4 | u64::from(digit), digits + 1);
            Ok(State::Size { value, digits, part, seen_cr: false, line })
        }
        _ if part == Part::Extension || (digits > 0 && matches!(byte, b'\r' | b';')) => {
            let part = Part::Extension;
            Ok(State::Size { value, digits, part, seen_cr: byte == b'\r', line })
        }
        (b' ' | b'\t', _) if digits > 0 => {
            Ok(State::Size { value, digits, part: Part::Space, seen_cr: false, line })
        }
        _ => Err(BodyError::BadChunkSize),
    }
}
