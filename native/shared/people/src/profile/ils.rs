//! The registration of a NetMeeting client at an Internet Locator Server: fifteen attributes under their
//! names on the wire. The class is part of the DN, not an attribute (MS-TAIL).

use wire::ber::{self, tag};

use super::country;
use crate::draw::{Chance, Draw};
use crate::encoded::{Pool, write_number};
use crate::name::{Address, DOMAINS};
use crate::pools::{Field, LocalePools};
use wire::decimal::Decimal;

/// Versions of clients, as major, minor, build.
const VERSIONS: [(u32, u32, u32); 3] = [(4, 4, 3385), (4, 4, 3396), (4, 4, 3400)];

/// Attributes whose values are flags: has a camera, has sound, is in a call. The order of these meanings is
/// not important here.
const FLAGS: [&str; 3] = ["ilsA26214430", "ilsA32833566", "ilsA32964638"];

#[derive(Debug)]
pub(crate) struct Ils {
    locales: Vec<Locale>,
}

#[derive(Debug)]
struct Locale {
    user: Pool,
    given: Pool,
    family: Pool,
    city: Pool,
    comment: Pool,
    country: Vec<u8>,
}

impl Ils {
    pub(crate) fn new(pools: &[&LocalePools]) -> Self {
        Self { locales: pools.iter().map(|pools| Locale::new(pools)).collect() }
    }

    #[inline]
    pub(crate) fn write_name(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        chance.choose(Draw::Locale, &self.locales).address(chance, i).write(out);
    }

    #[inline]
    pub(crate) fn write_attributes(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let locale = chance.choose(Draw::Locale, &self.locales);
        ber::write_nested(out, tag::SEQUENCE, |out| locale.write(chance, i, out));
    }
}

impl Locale {
    fn new(pools: &LocalePools) -> Self {
        let attribute = |name, field| Pool::encode(name, pools.values(field));
        Self {
            user: Pool::raw(pools.values(Field::User)),
            given: attribute("givenname", Field::Given),
            family: attribute("surname", Field::Family),
            city: attribute("location", Field::City),
            comment: attribute("comment", Field::Text),
            country: country(pools),
        }
    }

    #[inline]
    fn address(&self, chance: Chance, i: u64) -> Address<'_> {
        let user = self.user.pick(chance, Draw::User).value;
        let domain = chance.choose(Draw::Domain, &DOMAINS);
        Address { user, number: Decimal::new(i), domain }
    }

    fn write(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let mail = self.address(chance, i);
        mail.write_attribute("cn", out);
        out.extend_from_slice(self.given.pick(chance, Draw::Given).attribute);
        out.extend_from_slice(self.family.pick(chance, Draw::Family).attribute);
        mail.write_attribute("rfc822mailbox", out);
        out.extend_from_slice(self.city.pick(chance, Draw::City).attribute);
        out.extend_from_slice(self.comment.pick(chance, Draw::Text).attribute);
        out.extend_from_slice(&self.country);
        write_number("sipaddress", u64::from(private_address(chance)), out);
        write_number("sflags", 1, out);
        write_number("ssecurity", security_token(chance), out);
        let flags = chance.bits(Draw::Flags);
        for (bit, name) in FLAGS.iter().enumerate() {
            write_number(name, flags >> bit & 1, out);
        }
        let (major, minor, build) = *chance.choose(Draw::Version, &VERSIONS);
        write_number("ilsA26279966", u64::from(version(major, minor, build)), out);
        // The category: 1 personal, 2 business, 4 adults only. Category 4 is never drawn.
        write_number("ilsA39321630", 1 + (flags >> FLAGS.len() & 1), out);
    }
}

/// An address in 10.0.0.0/8 as the value of sIPAddress: the first octet is the lowest byte (10.70.41.96 is
/// 1613317642).
#[inline]
pub(crate) const fn private_address(chance: Chance) -> u32 {
    let host = (chance.bits(Draw::Address) >> 40) as u32;
    host << 8 | 10
}

/// The number that a client registers in sSecurity: eight digits.
#[inline]
pub(crate) const fn security_token(chance: Chance) -> u64 {
    10_000_000 + chance.below(Draw::Token, 90_000_000) as u64
}

/// A client's version as the value of ilsA26279966.
const fn version(major: u32, minor: u32, build: u32) -> u32 {
    major << 24 | minor << 16 | build
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Root;

    #[test]
    fn the_first_octet_of_an_encoded_ip_address_is_the_lowest_byte() {
        for i in 0..1_000 {
            let address = private_address(Chance::new(Root::new(3), i));
            assert_eq!(address.to_le_bytes()[0], 10);
        }
        assert_eq!(u32::from_le_bytes([10, 70, 41, 96]), 1_613_317_642);
    }

    #[test]
    fn an_encoded_version_begins_with_the_major_then_the_minor_number() {
        assert_eq!(version(4, 4, 3400).to_be_bytes(), [4, 4, 0x0d, 0x48]);
    }

    #[test]
    fn an_ils_token_has_eight_digits() {
        for i in 0..1_000 {
            assert_eq!(Decimal::new(security_token(Chance::new(Root::new(3), i))).length(), 8);
        }
    }
}
