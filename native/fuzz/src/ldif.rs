//! LDIF is refused or read; records that were read can be iterated and grouped.

use wire::ldif::{LdifError, Parser, Record};

pub(crate) fn target(text: &[u8]) {
    let _ = read(text);
}

fn read(text: &[u8]) -> Result<(), LdifError> {
    let mut parser = Parser::default();
    for line in text.split(|&byte| byte == b'\n') {
        parser.feed(line)?.iter().for_each(check);
    }
    parser.finish()?.iter().for_each(check);
    Ok(())
}

fn check(record: &Record<'_>) {
    if let Some(lines) = record.entry {
        let values: usize = lines.grouped().iter().map(|(_, values)| values.len()).sum();
        assert_eq!(values, lines.iter().count());
    }
}
