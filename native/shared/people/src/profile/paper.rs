//! The default profile: a lookup's answer has the 1,283 bytes of paper 002.
//!
//! The paper gives rates only: 1.9 MB/s sent at 1,500 direct lookups a second (Tables 6 and 9). The text
//! fills the space that other attributes leave, so all answers have the same size in every script.

use wire::ber::tag;

use super::country;
use crate::draw::{Chance, Draw};
use crate::encoded::{Pool, attribute_size, write_attribute, write_multi_attribute, write_number};
use crate::name::{Address, DOMAINS, FullName, dn_element_size};
use crate::pools::{Field, LocalePools};
use crate::spec::{DEFAULT_BASE, OBJECT_CLASS};
use crate::text::Text;
use wire::decimal::Decimal;

/// The whole answer to a lookup: SearchResultEntry and SearchResultDone, each with its LDAPMessage.
pub(crate) const ANSWER_BYTES: usize = 1_283;
/// A SearchResultDone message that reports success, with a message id of one byte.
const DONE_BYTES: usize = 14;
/// The LDAPMessage header, a message id of one byte, and the SearchResultEntry header. Both headers have a
/// length of two bytes.
const ENTRY_HEADER_BYTES: usize = 4 + 3 + 4;
/// The header of the attribute list before its length is known. Its length takes two bytes: the constant
/// attributes and the shortest text are longer than 255 bytes, and the list is never much longer than an
/// answer.
const LIST_HEADER: [u8; 4] = [tag::SEQUENCE, 0x82, 0, 0];

/// The attribute that fills the space, and its overhead for a value of 256 bytes or more.
const TEXT: &str = "description";
const TEXT_OVERHEAD: usize = attribute_size(TEXT, 256) - 256;
/// The smallest space for text. If there is less space, the other values are too long for the profile.
const SHORTEST_TEXT: usize = 64;

#[derive(Debug)]
pub(crate) struct Paper {
    object_class: Vec<u8>,
    application: Vec<u8>,
    locales: Vec<Locale>,
}

#[derive(Debug)]
struct Locale {
    given: Pool,
    family: Pool,
    user: Pool,
    phone: Pool,
    country: Vec<u8>,
    city: Pool,
    company: Pool,
    job: Pool,
    text: Text,
}

impl Paper {
    /// Encodes the pools. Fails with the name of a locale that leaves no room for text.
    pub(crate) fn new(pools: &[&LocalePools]) -> Result<Self, String> {
        let mut object_class = Vec::new();
        write_multi_attribute("objectClass", &["top", OBJECT_CLASS], &mut object_class);
        let application = application();
        let constant = object_class.len() + application.len();
        let locales = pools.iter().map(|&pools| {
            let locale = Locale::new(pools);
            let fits = constant + locale.longest() + TEXT_OVERHEAD + SHORTEST_TEXT <= list_room(0);
            if fits { Ok(locale) } else { Err(pools.name.clone()) }
        });
        let locales = locales.collect::<Result<_, _>>()?;
        Ok(Self { object_class, application, locales })
    }

    #[inline]
    pub(crate) fn write_name(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let locale = chance.choose(Draw::Locale, &self.locales);
        let given = locale.given.pick(chance, Draw::Given).value;
        let family = locale.family.pick(chance, Draw::Family).value;
        FullName { given, family, number: Decimal::new(i) }.write(out);
    }

    #[inline]
    pub(crate) fn write_attributes(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let locale = chance.choose(Draw::Locale, &self.locales);
        out.reserve(ANSWER_BYTES);
        out.extend_from_slice(&LIST_HEADER);
        let start = out.len();
        out.extend_from_slice(&self.object_class);
        let name = locale.write(chance, i, out);
        out.extend_from_slice(&self.application);
        let room = list_room(dn_element_size(name, DEFAULT_BASE.len()));
        let room = room.saturating_sub(out.len() - start + TEXT_OVERHEAD).max(SHORTEST_TEXT);
        write_attribute(TEXT, locale.text.slice(chance, room), out);
        let length = (out.len() - start) as u16;
        out[start - 2..start].copy_from_slice(&length.to_be_bytes());
    }
}

/// The space for the content of the attribute list in an answer of the intended size.
const fn list_room(dn_element: usize) -> usize {
    ANSWER_BYTES - DONE_BYTES - ENTRY_HEADER_BYTES - LIST_HEADER.len() - dn_element
}

/// The attributes that NetMeeting adds about itself (in its MODIFY), the same for every person.
fn application() -> Vec<u8> {
    let mut out = Vec::new();
    write_attribute("sFlags", b"1", &mut out);
    write_attribute("sAppID", b"ms-netmeeting", &mut out);
    write_attribute("sAppGUID", b"008aff194794cf118796444553540000", &mut out);
    write_attribute("sMimeType", b"text/iuls", &mut out);
    write_multi_attribute("sProtID", &["T120", "H323"], &mut out);
    write_multi_attribute("sProtMimeType", &["text/t120", "text/h323"], &mut out);
    write_multi_attribute("sPort", &["1503", "1720"], &mut out);
    out
}

impl Locale {
    fn new(pools: &LocalePools) -> Self {
        let attribute = |name, field| Pool::encode(name, pools.values(field));
        Self {
            given: attribute("givenName", Field::Given),
            family: attribute("sn", Field::Family),
            user: Pool::raw(pools.values(Field::User)),
            phone: attribute("telephoneNumber", Field::Phone),
            country: country(pools),
            city: attribute("l", Field::City),
            company: attribute("o", Field::Company),
            job: attribute("title", Field::Job),
            text: Text::new(pools.values(Field::Text), ANSWER_BYTES),
        }
    }

    /// The maximum size of the drawn attributes and the DN.
    fn longest(&self) -> usize {
        let digits = Decimal::new(u64::MAX).length();
        let name = self.given.longest_value() + self.family.longest_value() + digits + 2;
        let mail = self.user.longest_value() + digits + "..@example.com".len();
        let picked = [&self.given, &self.family, &self.phone, &self.city, &self.company, &self.job];
        let picked: usize = picked.iter().map(|pool| pool.longest_attribute()).sum();
        picked
            + self.country.len()
            + attribute_size("cn", name)
            + attribute_size("mail", mail)
            + attribute_size("sIPAddress", digits)
            + attribute_size("sSecurity", digits)
            + dn_element_size(name, DEFAULT_BASE.len())
    }

    /// Appends the attributes that a person draws. Returns the length of the person's name.
    #[inline]
    fn write(&self, chance: Chance, i: u64, out: &mut Vec<u8>) -> usize {
        let number = Decimal::new(i);
        let given = self.given.pick(chance, Draw::Given);
        let family = self.family.pick(chance, Draw::Family);
        let name = FullName { given: given.value, family: family.value, number };
        name.write_attribute(out);
        out.extend_from_slice(family.attribute);
        out.extend_from_slice(given.attribute);
        let user = self.user.pick(chance, Draw::User).value;
        let domain = chance.choose(Draw::Domain, &DOMAINS);
        Address { user, number, domain }.write_attribute("mail", out);
        out.extend_from_slice(self.phone.pick(chance, Draw::Phone).attribute);
        out.extend_from_slice(&self.country);
        out.extend_from_slice(self.city.pick(chance, Draw::City).attribute);
        out.extend_from_slice(self.company.pick(chance, Draw::Company).attribute);
        out.extend_from_slice(self.job.pick(chance, Draw::Job).attribute);
        write_number("sIPAddress", u64::from(super::ils::private_address(chance)), out);
        write_number("sSecurity", super::ils::security_token(chance), out);
        name.len()
    }
}
