//! A filter that was parsed from text is valid. If it is converted to text, the text parses to the same
//! filter.

use wire::ber::Reader;
use wire::ldap::{Filter, filter_text};

pub(crate) fn target(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut ber = Vec::new();
    if filter_text::parse(text, &mut ber).is_err() {
        assert!(ber.is_empty(), "nothing is left behind");
        return;
    }
    let mut reader = Reader::new(&ber);
    let filter = Filter::decode(&mut reader).expect("what was written decodes");
    assert!(reader.is_empty());
    let mut again = Vec::new();
    filter_text::parse(&filter.to_string(), &mut again).expect("a filter's own text is one");
    assert_eq!(ber, again);
}
