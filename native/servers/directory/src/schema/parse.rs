//! Definitions in OpenLDAP's schema format: RFC 4512 section 4.1 with a leading keyword.

use super::SchemaError;

/// A definition in parentheses: the OID, then keywords with their words.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) keyword: String,
    pub(super) line: usize,
    pub(super) oid: String,
    fields: Vec<(String, Vec<String>)>,
}

impl Definition {
    pub(super) fn words(&self, field: &str) -> &[String] {
        let found = self.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(field));
        found.map_or(&[], |(_, words)| words)
    }

    /// The only word after a keyword.
    pub(super) fn word(&self, field: &str) -> Option<&str> {
        self.words(field).first().map(String::as_str)
    }

    /// Whether a keyword without words is present.
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case(field))
    }

    pub(super) fn malformed(&self, problem: impl Into<String>) -> SchemaError {
        SchemaError::Malformed { line: self.line, problem: problem.into() }
    }
}

/// Reads every definition of a schema file.
pub(super) fn definitions(text: &str) -> Result<Vec<Definition>, SchemaError> {
    let mut tokens = Tokens { text, line: 1 };
    let mut definitions = Vec::new();
    let mut macros: Vec<(String, String)> = Vec::new();
    while let Some(token) = tokens.next()? {
        let line = tokens.line;
        let Token::Word(keyword) = token else {
            return Err(SchemaError::Malformed { line, problem: "no keyword before it".to_owned() });
        };
        if keyword.eq_ignore_ascii_case("objectidentifier") {
            let name = tokens.word()?;
            let oid = tokens.word()?;
            macros.push((name, expand(&macros, oid)));
        } else {
            let mut definition = definition(keyword, &mut tokens)?;
            definition.oid = expand(&macros, definition.oid);
            definitions.push(definition);
        }
    }
    Ok(definitions)
}

/// Replaces `name:1.2` by the OID of the macro `name`, followed by `.1.2`.
fn expand(macros: &[(String, String)], oid: String) -> String {
    let (name, below) = oid.split_once(':').map_or((oid.as_str(), ""), |(name, below)| (name, below));
    match macros.iter().rev().find(|(known, _)| known == name) {
        Some((_, base)) if below.is_empty() => base.clone(),
        Some((_, base)) => format!("{base}.{below}"),
        None => oid,
    }
}

fn definition(keyword: String, tokens: &mut Tokens<'_>) -> Result<Definition, SchemaError> {
    let line = tokens.line;
    tokens.expect_open()?;
    let oid = tokens.word()?;
    let mut fields: Vec<(String, Vec<String>)> = Vec::new();
    loop {
        match tokens.required()? {
            Token::Close => return Ok(Definition { keyword, line, oid, fields }),
            Token::Open => {
                let words = tokens.list()?;
                let field = fields.last_mut().ok_or_else(|| tokens.malformed("a list after no keyword"))?;
                field.1.extend(words);
            }
            Token::Quoted(word) => {
                let field = fields.last_mut().ok_or_else(|| tokens.malformed("a text after no keyword"))?;
                field.1.push(word);
            }
            Token::Dollar => {}
            Token::Word(word) => match fields.last_mut() {
                Some((name, words)) if takes_word(name) && words.is_empty() => words.push(word),
                _ => fields.push((word, Vec::new())),
            },
        }
    }
}

/// Whether a keyword is followed by a bare word (RFC 4512 sections 4.1.1 and 4.1.2).
fn takes_word(keyword: &str) -> bool {
    let keywords = ["NAME", "SUP", "EQUALITY", "ORDERING", "SUBSTR", "SYNTAX", "USAGE", "MUST", "MAY"];
    keywords.iter().any(|known| known.eq_ignore_ascii_case(keyword))
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Dollar,
    Quoted(String),
    Word(String),
}

struct Tokens<'t> {
    text: &'t str,
    line: usize,
}

impl Tokens<'_> {
    fn malformed(&self, problem: &str) -> SchemaError {
        SchemaError::Malformed { line: self.line, problem: problem.to_owned() }
    }

    fn next(&mut self) -> Result<Option<Token>, SchemaError> {
        self.skip_blanks();
        let Some(first) = self.text.chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '(' => Token::Open,
            ')' => Token::Close,
            '$' => Token::Dollar,
            '\'' => return self.quoted().map(Some),
            _ => return Ok(Some(self.bare())),
        };
        self.text = &self.text[1..];
        Ok(Some(token))
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.text.trim_start();
            self.line += self.text[..self.text.len() - rest.len()].matches('\n').count();
            self.text = rest;
            if !rest.starts_with('#') {
                return;
            }
            self.text = &rest[rest.find('\n').unwrap_or(rest.len())..];
        }
    }

    fn quoted(&mut self) -> Result<Token, SchemaError> {
        let rest = &self.text[1..];
        let end = rest.find('\'').ok_or_else(|| self.malformed("a quote is never closed"))?;
        self.line += rest[..end].matches('\n').count();
        self.text = &rest[end + 1..];
        Ok(Token::Quoted(rest[..end].to_owned()))
    }

    fn bare(&mut self) -> Token {
        let ends = |c: char| c.is_whitespace() || "()$'".contains(c);
        let end = self.text.find(ends).unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(end);
        self.text = rest;
        Token::Word(word.to_owned())
    }

    fn required(&mut self) -> Result<Token, SchemaError> {
        self.next()?.ok_or_else(|| self.malformed("the file ends inside a definition"))
    }

    fn expect_open(&mut self) -> Result<(), SchemaError> {
        match self.required()? {
            Token::Open => Ok(()),
            _ => Err(self.malformed("no '(' after the keyword")),
        }
    }

    fn word(&mut self) -> Result<String, SchemaError> {
        match self.required()? {
            Token::Word(word) | Token::Quoted(word) => Ok(word),
            _ => Err(self.malformed("a name or identifier is missing")),
        }
    }

    fn list(&mut self) -> Result<Vec<String>, SchemaError> {
        let mut words = Vec::new();
        loop {
            match self.required()? {
                Token::Word(word) | Token::Quoted(word) => words.push(word),
                Token::Dollar => {}
                Token::Close => return Ok(words),
                Token::Open => return Err(self.malformed("a list inside a list")),
            }
        }
    }
}
