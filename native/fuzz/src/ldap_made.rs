//! LDAP requests built from parts decode to the same parts. A filter that is converted to text and parsed
//! again is unchanged.

use arbitrary::{Arbitrary, Unstructured};
use wire::ber;
use wire::ldap::control::{CONTROLS, write_control};
use wire::ldap::filter::{
    Extensible, Piece, write_and, write_approx, write_equality, write_extensible, write_greater_or_equal,
    write_less_or_equal, write_not, write_or, write_present, write_substrings,
};
use wire::ldap::frame::message_length;
use wire::ldap::request::{self, SearchOptions, write_attribute};
use wire::ldap::{Control, Credentials, MAX_FILTER_DEPTH, Operation, Request, Scope, filter_text};

type Values<'a> = (&'a [u8], Vec<&'a [u8]>);

#[derive(Debug, Arbitrary)]
enum Ask<'a> {
    Bind { name: &'a [u8], password: &'a [u8] },
    Search { base: &'a [u8], scope: u8, limit: u16, types: bool, filter: Tree<'a>, names: Vec<&'a [u8]> },
    Add { dn: &'a [u8], attributes: Vec<Values<'a>> },
    Modify { dn: &'a [u8], changes: Vec<(u8, Values<'a>)> },
    ModifyDn { dn: &'a [u8], rdn: &'a [u8], delete: bool, superior: Option<&'a [u8]> },
    Compare { dn: &'a [u8], attribute: &'a [u8], value: &'a [u8] },
    Delete { dn: &'a [u8] },
    Extended { name: &'a [u8], value: Option<&'a [u8]> },
    Sasl { mechanism: &'a [u8], proof: &'a [u8] },
    Unbind,
    Abandon(u16),
}

#[derive(Debug, Arbitrary)]
struct Extra<'a> {
    oid: &'a [u8],
    critical: bool,
    value: Option<&'a [u8]>,
}

#[derive(Debug, Arbitrary)]
enum Tree<'a> {
    And(Vec<Tree<'a>>),
    Or(Vec<Tree<'a>>),
    Not(Box<Tree<'a>>),
    Equal(&'a [u8], &'a [u8]),
    Greater(&'a [u8], &'a [u8]),
    Less(&'a [u8], &'a [u8]),
    Approx(&'a [u8], &'a [u8]),
    Present(&'a [u8]),
    Substrings(&'a [u8], Option<&'a [u8]>, Vec<&'a [u8]>, Option<&'a [u8]>),
    ByAttribute(&'a [u8], Option<u8>, bool, &'a [u8]),
    ByRule(u8, bool, &'a [u8]),
}

pub(crate) fn target(bytes: &[u8]) {
    let made = <(u16, Ask<'_>, Vec<Extra<'_>>)>::arbitrary(&mut Unstructured::new(bytes));
    let Ok((id, ask, extras)) = made else { return };
    // IDs have up to 31 bits.
    let id = i32::from(id) * 32_767;
    let mut message = Vec::new();
    ask.write(&mut message, id);
    let out = with_controls(message, &extras);
    assert_eq!(message_length(&out, usize::MAX), Ok(Some(out.len())));
    assert_eq!(message_length(&out[..out.len() - 1], usize::MAX), Ok(None));
    let request = Request::decode(&out).expect("what was written decodes");
    assert_eq!(request.id, id);
    ask.check(&request.operation);
    let wanted = extras.iter().map(Extra::control);
    assert!(request.controls.iter().eq(wanted));
}

/// Appends controls, if any, to the message behind its operation.
fn with_controls(message: Vec<u8>, extras: &[Extra<'_>]) -> Vec<u8> {
    if extras.is_empty() {
        return message;
    }
    let content = ber::Reader::new(&message).expect(ber::tag::SEQUENCE).expect("a message is a sequence");
    let mut out = Vec::new();
    ber::write_nested(&mut out, ber::tag::SEQUENCE, |out| {
        out.extend_from_slice(content);
        ber::write_nested(out, CONTROLS, |out| {
            extras.iter().for_each(|extra| write_control(out, &extra.control()));
        });
    });
    out
}

impl<'a> Extra<'a> {
    const fn control(&self) -> Control<'a> {
        Control { oid: self.oid, critical: self.critical, value: self.value }
    }
}

/// An attribute description that the text of a filter can contain: a letter, then letters, digits,
/// hyphens and semicolons.
fn description(bytes: &[u8]) -> Vec<u8> {
    let rest =
        bytes.iter().take(20).map(|byte| b"abcdefghijklmnopqrstuvwxyz0123456789-;"[usize::from(byte % 38)]);
    std::iter::once(b'a').chain(rest).collect()
}

fn oid(last: u8) -> Vec<u8> {
    format!("2.5.13.{last}").into_bytes()
}

impl Tree<'_> {
    /// Writes the filter, cut off below the deepest level that is read; returns the number of terms written.
    fn write(&self, out: &mut Vec<u8>, depth: usize) -> usize {
        if depth == MAX_FILTER_DEPTH {
            write_present(out, b"cn");
            return 1;
        }
        let all = |trees: &[Self], out: &mut Vec<u8>| {
            trees.iter().map(|tree| tree.write(out, depth + 1)).sum::<usize>()
        };
        let mut terms = 0;
        match self {
            Self::And(trees) => write_and(out, |out| terms = all(trees, out)),
            Self::Or(trees) => write_or(out, |out| terms = all(trees, out)),
            Self::Not(tree) => write_not(out, |out| terms = tree.write(out, depth + 1)),
            Self::Equal(name, value) => write_equality(out, &description(name), value),
            Self::Greater(name, value) => write_greater_or_equal(out, &description(name), value),
            Self::Less(name, value) => write_less_or_equal(out, &description(name), value),
            Self::Approx(name, value) => write_approx(out, &description(name), value),
            Self::Present(name) => write_present(out, &description(name)),
            Self::Substrings(name, first, inner, last) => {
                let pieces = first.iter().map(|text| Piece::Initial(text));
                let pieces = pieces.chain(inner.iter().map(|text| Piece::Any(text)));
                let pieces: Vec<_> = pieces.chain(last.iter().map(|text| Piece::Final(text))).collect();
                if pieces.iter().any(|piece| !text_of(piece).is_empty()) {
                    let pieces = pieces.into_iter().filter(|piece| !text_of(piece).is_empty());
                    let pieces: Vec<_> = pieces.collect();
                    terms = pieces.len();
                    write_substrings(out, &description(name), pieces);
                } else {
                    write_present(out, &description(name));
                }
            }
            Self::ByAttribute(name, rule, dn_attributes, value) => {
                terms = asterisks(value);
                let (name, rule) = (description(name), rule.map(oid));
                let (attribute, rule) = (Some(name.as_slice()), rule.as_deref());
                write_extensible(out, &Extensible { rule, attribute, value, dn_attributes: *dn_attributes });
            }
            Self::ByRule(rule, dn_attributes, value) => {
                terms = asterisks(value);
                let rule = oid(*rule);
                let rule = Some(rule.as_slice());
                write_extensible(
                    out,
                    &Extensible { rule, attribute: None, value, dn_attributes: *dn_attributes },
                );
            }
        }
        1 + terms
    }
}

/// The number of asterisks, because an extensible assertion may be split at each asterisk.
fn asterisks(value: &[u8]) -> usize {
    value.iter().filter(|byte| **byte == b'*').count()
}

const fn text_of<'p>(piece: &Piece<'p>) -> &'p [u8] {
    match piece {
        Piece::Initial(text) | Piece::Any(text) | Piece::Final(text) => text,
    }
}

/// A time limit that differs from the size limit, with up to 31 bits.
fn time_limit_s(size_limit: u16) -> u32 {
    u32::from(size_limit) * 32_767
}

const SCOPES: [Scope; 4] = [Scope::Base, Scope::One, Scope::Subtree, Scope::Children];

impl Ask<'_> {
    fn write(&self, out: &mut Vec<u8>, id: i32) {
        match self {
            Self::Bind { name, password } => request::write_bind(out, id, 3, name, password),
            Self::Search { base, scope, limit, types, filter, names } => {
                let scope = SCOPES[usize::from(scope % 4)];
                let options = SearchOptions {
                    scope,
                    size_limit: u32::from(*limit),
                    time_limit_s: time_limit_s(*limit),
                    types_only: *types,
                    dereference: *limit as u8 % 4,
                };
                let filter = |out: &mut Vec<u8>| _ = filter.write(out, 1);
                request::write_search(out, id, base, &options, filter, names.iter().copied());
            }
            Self::Add { dn, attributes } => request::write_add(out, id, dn, |out| {
                ber::write_nested(out, ber::tag::SEQUENCE, |out| {
                    for (name, values) in attributes {
                        write_attribute(out, name, values.iter().copied());
                    }
                });
            }),
            Self::Modify { dn, changes } => request::write_modify(out, id, dn, |out| {
                for (operation, (name, values)) in changes {
                    request::write_change(out, operation % 4, name, values.iter().copied());
                }
            }),
            Self::ModifyDn { dn, rdn, delete, superior } => {
                request::write_modify_dn(out, id, dn, rdn, *delete, *superior);
            }
            Self::Compare { dn, attribute, value } => request::write_compare(out, id, dn, attribute, value),
            Self::Delete { dn } => request::write_delete(out, id, dn),
            Self::Extended { name, value } => request::write_extended(out, id, name, *value),
            Self::Sasl { mechanism, proof } => request::write_sasl_bind(out, id, mechanism, proof),
            Self::Unbind => request::write_unbind(out, id),
            Self::Abandon(other) => request::write_abandon(out, id, i32::from(*other)),
        }
    }

    fn check(&self, read: &Operation<'_>) {
        match (self, read) {
            (Self::Bind { name, password }, Operation::Bind(bind)) => {
                assert_eq!((bind.name, bind.version), (*name, 3));
                assert!(matches!(bind.credentials, Credentials::Simple(known) if known == *password));
            }
            (Self::Search { base, scope, limit, types, filter, names }, Operation::Search(search)) => {
                assert_eq!((search.base, search.scope), (*base, SCOPES[usize::from(scope % 4)]));
                assert_eq!((search.size_limit, search.types_only), (u32::from(*limit), *types));
                assert_eq!(search.time_limit_s, time_limit_s(*limit));
                assert_eq!(search.dereference, *limit as u8 % 4);
                assert!(search.attributes.iter().eq(names.iter().copied()));
                let mut written = Vec::new();
                let terms = filter.write(&mut written, 1);
                assert_eq!(search.filter.size().terms, terms);
                assert!(search.filter.size().depth <= MAX_FILTER_DEPTH);
                let mut again = Vec::new();
                filter_text::parse(&search.filter.to_string(), &mut again).expect("a filter's own text");
                assert_eq!(again, written);
            }
            (Self::Add { dn, attributes }, Operation::Add(add)) => {
                assert_eq!(add.dn, *dn);
                let read = add.attributes.iter().flatten();
                assert!(read.map(|one| one.name).eq(attributes.iter().map(|(name, _)| *name)));
                for (one, (_, values)) in add.attributes.iter().flatten().zip(attributes) {
                    assert!(one.values.iter().flatten().eq(values.iter().copied()));
                }
            }
            (Self::Modify { dn, changes }, Operation::Modify(modify)) => {
                assert_eq!((modify.dn, modify.changes().count()), (*dn, changes.len()));
                for (change, (operation, (name, values))) in modify.changes().zip(changes) {
                    assert_eq!((change.operation, change.attribute.name), (operation % 4, *name));
                    assert!(change.attribute.values.iter().flatten().eq(values.iter().copied()));
                }
            }
            (Self::ModifyDn { dn, rdn, delete, superior }, Operation::ModifyDn(read)) => {
                assert_eq!((read.dn, read.new_rdn), (*dn, *rdn));
                assert_eq!((read.delete_old_rdn, read.new_superior), (*delete, *superior));
            }
            (Self::Compare { dn, attribute, value }, Operation::Compare(read)) => {
                assert_eq!((read.dn, read.attribute, read.value), (*dn, *attribute, *value));
            }
            (Self::Delete { dn }, Operation::Delete(read)) => assert_eq!(read, dn),
            (Self::Extended { name, value }, Operation::Extended(read)) => {
                assert_eq!((read.name, read.value), (*name, *value));
            }
            (Self::Sasl { mechanism, proof }, Operation::Bind(bind)) => {
                assert_eq!((bind.name, bind.version), (&b""[..], 3));
                assert!(matches!(bind.credentials, Credentials::Sasl(name, Some(sent))
                    if name == *mechanism && sent == *proof));
            }
            (Self::Unbind, Operation::Unbind) => {}
            (Self::Abandon(other), Operation::Abandon(read)) => assert_eq!(*read, i32::from(*other)),
            (asked, read) => assert_eq!(format!("{asked:?}"), format!("{read:?}"), "another operation"),
        }
    }
}
