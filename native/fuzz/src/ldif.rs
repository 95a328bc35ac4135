//! LDIF: refused or read, and whatever is read can be walked and encoded.

use wire::ber::{Reader, tag};
use wire::ldap::Attributes;
use wire::ldif::{Body, LdifError, each};

pub(crate) fn target(text: &[u8]) {
    let _ = each(text, |record| {
        match record.body {
            Body::Content(attributes) | Body::Add(attributes) => {
                let mut ber = Vec::new();
                attributes.encode(&mut ber);
                let mut reader = Reader::new(&ber);
                let list = Attributes(reader.expect(tag::SEQUENCE).expect("a sequence"));
                list.check().expect("what was encoded decodes");
                let values: usize = attributes.grouped().iter().map(|(_, values)| values.len()).sum();
                assert_eq!(values, attributes.iter().count());
            }
            Body::Modify(modifications) => {
                modifications.iter().for_each(|one| one.values().for_each(drop));
            }
            Body::Delete | Body::ModifyDn { .. } => {}
        }
        Ok::<_, LdifError>(())
    });
}
