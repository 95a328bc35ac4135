//! The default profile: a lookup's answer has the 1,283 bytes of paper 002.
//!
//! The paper gives rates only: 1.9 MB/s sent at 1,500 direct lookups a second (Tables 6 and 9). Text
//! takes up what the other attributes leave, so every answer has the same size in every script.

use wire::ber::{self, element_size, tag};

use crate::decimal::Decimal;
use crate::draw::{Chance, Draw};
use crate::encoded::{
    Picked, Pool, attribute_size, write_attribute, write_attribute_header, write_multi_attribute,
};
use crate::name::{Address, DOMAINS, FullName, dn_element_size};
use crate::pools::{Field, LocalePools};
use crate::spec::{DEFAULT_BASE, OBJECT_CLASS};
use crate::text::Text;

/// A lookup's whole answer: SearchResultEntry and SearchResultDone, each with its LDAPMessage.
pub(crate) const ANSWER_BYTES: usize = 1_283;
/// A SearchResultDone message that reports success, with a message id of one byte.
const DONE_BYTES: usize = 14;
/// LDAPMessage header, message id of one byte, SearchResultEntry header; lengths of two bytes.
const ENTRY_HEADER_BYTES: usize = 4 + 3 + 4;
/// Header of the attribute list, length of two bytes.
const LIST_HEADER_BYTES: usize = 4;

/// The attribute that takes up the slack, and what it takes around a value of 256 bytes or more.
const TEXT: &str = "description";
const TEXT_OVERHEAD: usize = attribute_size(TEXT, 256) - 256;
/// Less text than this, and the other values were too long for the profile.
const SHORTEST_TEXT: usize = 64;

/// See the module.
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
    fn locale(&self, chance: Chance) -> &Locale {
        &self.locales[chance.below(Draw::Locale, self.locales.len())]
    }

    #[inline]
    pub(crate) fn write_name(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let locale = self.locale(chance);
        let given = locale.given.pick(chance, Draw::Given).value;
        let family = locale.family.pick(chance, Draw::Family).value;
        FullName { given, family, number: Decimal::new(i) }.write(out);
    }

    #[inline]
    pub(crate) fn write_attributes(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let person = Person::draw(self.locale(chance), chance, i);
        let rest = self.object_class.len() + self.application.len() + person.size();
        let room = list_room(dn_element_size(person.name.len(), DEFAULT_BASE.len()));
        let text = room.saturating_sub(rest + TEXT_OVERHEAD).max(SHORTEST_TEXT);
        let text = person.locale.text.slice(chance, text);

        let length = rest + attribute_size(TEXT, text.len());
        out.reserve(element_size(length));
        ber::write_header(out, tag::SEQUENCE, length);
        out.extend_from_slice(&self.object_class);
        person.write(out);
        out.extend_from_slice(&self.application);
        write_attribute_header(TEXT, text.len(), out);
        out.extend_from_slice(text);
    }
}

/// What an answer of the wanted size leaves for the content of the attribute list.
const fn list_room(dn_element: usize) -> usize {
    ANSWER_BYTES - DONE_BYTES - ENTRY_HEADER_BYTES - LIST_HEADER_BYTES - dn_element
}

/// What NetMeeting announces of itself (the attributes of its MODIFY), the same for every person.
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
        let mut country = Vec::new();
        for value in pools.values(Field::Country).iter().take(1) {
            write_attribute("c", value.as_bytes(), &mut country);
        }
        Self {
            given: attribute("givenName", Field::Given),
            family: attribute("sn", Field::Family),
            user: Pool::raw(pools.values(Field::User)),
            phone: attribute("telephoneNumber", Field::Phone),
            country,
            city: attribute("l", Field::City),
            company: attribute("o", Field::Company),
            job: attribute("title", Field::Job),
            text: Text::new(pools.values(Field::Text), ANSWER_BYTES),
        }
    }

    /// What the drawn attributes and the DN take at most.
    fn longest(&self) -> usize {
        let digits = Decimal::new(u64::MAX).len();
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
}

/// The attributes one person draws.
struct Person<'a> {
    locale: &'a Locale,
    name: FullName<'a>,
    mail: Address<'a>,
    given: Picked<'a>,
    family: Picked<'a>,
    phone: Picked<'a>,
    city: Picked<'a>,
    company: Picked<'a>,
    job: Picked<'a>,
    address: Decimal,
    token: Decimal,
}

impl<'a> Person<'a> {
    #[inline]
    fn draw(locale: &'a Locale, chance: Chance, i: u64) -> Self {
        let number = Decimal::new(i);
        let given = locale.given.pick(chance, Draw::Given);
        let family = locale.family.pick(chance, Draw::Family);
        let user = locale.user.pick(chance, Draw::User).value;
        Self {
            locale,
            name: FullName { given: given.value, family: family.value, number },
            mail: Address { user, number, domain: DOMAINS[chance.below(Draw::Domain, DOMAINS.len())] },
            given,
            family,
            phone: locale.phone.pick(chance, Draw::Phone),
            city: locale.city.pick(chance, Draw::City),
            company: locale.company.pick(chance, Draw::Company),
            job: locale.job.pick(chance, Draw::Job),
            address: Decimal::new(u64::from(super::ils::private_address(chance))),
            token: Decimal::new(super::ils::security_token(chance)),
        }
    }

    #[inline]
    fn size(&self) -> usize {
        attribute_size("cn", self.name.len())
            + self.family.attribute.len()
            + self.given.attribute.len()
            + attribute_size("mail", self.mail.len())
            + self.phone.attribute.len()
            + self.locale.country.len()
            + self.city.attribute.len()
            + self.company.attribute.len()
            + self.job.attribute.len()
            + attribute_size("sIPAddress", self.address.len())
            + attribute_size("sSecurity", self.token.len())
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write_attribute(out);
        out.extend_from_slice(self.family.attribute);
        out.extend_from_slice(self.given.attribute);
        self.mail.write_attribute("mail", out);
        out.extend_from_slice(self.phone.attribute);
        out.extend_from_slice(&self.locale.country);
        out.extend_from_slice(self.city.attribute);
        out.extend_from_slice(self.company.attribute);
        out.extend_from_slice(self.job.attribute);
        write_attribute_header("sIPAddress", self.address.len(), out);
        out.extend_from_slice(self.address.as_bytes());
        write_attribute_header("sSecurity", self.token.len(), out);
        out.extend_from_slice(self.token.as_bytes());
    }
}
