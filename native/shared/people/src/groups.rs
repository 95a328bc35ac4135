//! Groups of people: group `g` is a pure function of `g`, the [`GroupSpec`] and the population.
//!
//! # Members
//!
//! `members` is a list of sizes. Each size after the first is the size of a single group, and these groups have the
//! lowest numbers; all further groups have the first size. With 10, 1,000 and 100,000, group 0 has 1,000 people,
//! group 1 has 100,000, and all other groups have 10.
//!
//! Group `g` of size `m` has the people from number `g * m` on, modulo the population's size. The people of a
//! population are drawn independently, so members of a group have no more in common than other people. Each
//! person is in as many groups as any other, or in one more. The first `in_all` people are exempt: they are
//! in every group.
//!
//! # Nested groups
//!
//! With a depth above 1, the groups of the first size form a tree of that many levels with the smallest possible
//! fan-out, numbered in pre-order. Leaves have people as members; inner groups have their child groups and the
//! `in_all` people. A tree of five levels with fan-out seven has 2,801 groups.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wire::ber::{self, tag};
use wire::ldap::request::write_attribute;

use crate::population::Population;
use wire::decimal::Decimal;

/// Lower group ids are reserved for the system, including `users`.
const FIRST_GID: u64 = 10_000;
/// Group ids have 31 bits.
const GIDS: u64 = (1 << 31) - FIRST_GID;

/// The type of the security groups that domain controllers create (MS-ADTS section 2.2.12).
const GROUP_TYPE: &[u8] = b"-2147483646";

/// The text before and after a group's number in its description.
const MARK: (&str, &str) = ("Group ", " of sitebench: ");
/// The end of a group's description while members are missing.
const INCOMPLETE: &str = ", incomplete";

/// The object classes of a group's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupClass {
    /// RFC 4519: members by DN.
    #[serde(rename = "groupOfNames")]
    Names,
    /// RFC 2307, as a structural class: members by login.
    #[serde(rename = "posixGroup")]
    Posix,
    /// RFC 2307bis: groupOfNames with posixGroup as an auxiliary class.
    #[serde(rename = "groupOfNames+posixGroup")]
    Both,
    /// The class of Active Directory.
    #[serde(rename = "group")]
    Ad,
}

/// An attribute that lists members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// DNs of people and groups.
    Member,
    MemberUid,
}

impl List {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::MemberUid => "memberUid",
        }
    }
}

impl GroupClass {
    /// The object class by which searches select groups.
    pub const fn object_class(self) -> &'static str {
        match self {
            Self::Names | Self::Both => "groupOfNames",
            Self::Posix => "posixGroup",
            Self::Ad => "group",
        }
    }

    /// The attributes that list members.
    pub const fn lists(self) -> &'static [List] {
        match self {
            Self::Names | Self::Ad => &[List::Member],
            Self::Posix => &[List::MemberUid],
            Self::Both => &[List::Member, List::MemberUid],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    pub count: u64,
    /// Sizes: the size of most groups, then the sizes of single groups.
    pub members: Vec<u64>,
    /// Levels of nested groups; 1 without nesting.
    pub depth: u32,
    /// The number of people who are in every group.
    pub in_all: u64,
    pub class: GroupClass,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupsError {
    #[error(
        "--members {members}: there are {people} people; ask for as many at most, or for more people with --entries"
    )]
    TooFewPeople { members: u64, people: u64 },
    /// groupOfNames needs at least one member.
    #[error("--members 0: a group has one member at least; ask for 1 or more")]
    Empty,
    #[error("--members names no size; name one or more, such as 10,1k")]
    NoSizes,
    #[error("--members has {sizes} sizes, and there are {groups} groups; ask for as many groups at least")]
    TooManySizes { sizes: usize, groups: u64 },
    #[error("--in-all {in_all}: groups have {members} people; ask for as many at most")]
    TooManyInAll { in_all: u64, members: u64 },
    #[error(
        "--depth {depth}: of {groups} groups; it is 1 at least, and one for each group of the first size at most"
    )]
    Depth { depth: u32, groups: u64 },
    /// A posixGroup lists logins, and a group has no login.
    #[error(
        "--depth {0}: a posixGroup has people in it, and no groups; leave it out, or take --profile person"
    )]
    NoNesting(u32),
    #[error("the profile ils has no groups; name another with --profile")]
    NoGroups,
}

/// Groups, each a pure function of its number.
#[derive(Debug)]
pub struct Groups {
    people: Arc<Population>,
    spec: GroupSpec,
    /// The fan-out of the tree, and the number of groups in a complete tree.
    fan_out: u64,
    tree: u64,
}

/// The members of a group: its child groups, and people [start, start + people), modulo the number of people
/// who are not in all groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// Index among the people after the first `in_all`.
    start: u64,
    people: u64,
    /// Child groups: the number of the first group, the difference between the numbers of neighbours, and the
    /// count.
    first: u64,
    step: u64,
    groups: u64,
}

impl Groups {
    /// Fails if the spec does not fit the population.
    pub fn new(people: Arc<Population>, spec: GroupSpec) -> Result<Self, GroupsError> {
        let size = people.spec().size;
        let (Some(&least), Some(&most)) = (spec.members.iter().min(), spec.members.iter().max()) else {
            return Err(GroupsError::NoSizes);
        };
        if people.spec().profile == crate::Profile::Ils {
            return Err(GroupsError::NoGroups);
        }
        if least == 0 {
            return Err(GroupsError::Empty);
        }
        if most > size {
            return Err(GroupsError::TooFewPeople { members: most, people: size });
        }
        if spec.in_all > least {
            return Err(GroupsError::TooManyInAll { in_all: spec.in_all, members: least });
        }
        if spec.members.len() as u64 > spec.count {
            return Err(GroupsError::TooManySizes { sizes: spec.members.len(), groups: spec.count });
        }
        let in_tree = spec.count - (spec.members.len() as u64 - 1);
        if spec.depth == 0 || u64::from(spec.depth) > in_tree {
            return Err(GroupsError::Depth { depth: spec.depth, groups: spec.count });
        }
        if spec.depth > 1 && spec.class == GroupClass::Posix {
            return Err(GroupsError::NoNesting(spec.depth));
        }
        let whole = |fan_out: u64| {
            (1..spec.depth).fold(1_u64, |below, _| below.saturating_mul(fan_out).saturating_add(1))
        };
        // A binary search, because the fan-out may be large: with two levels, it is the number of groups less
        // one.
        let (mut low, mut high) = (1, in_tree);
        while low < high {
            let middle = low + (high - low) / 2;
            if whole(middle) >= in_tree { high = middle } else { low = middle + 1 }
        }
        Ok(Self { people, fan_out: low, tree: whole(low), spec })
    }

    pub const fn spec(&self) -> &GroupSpec {
        &self.spec
    }

    pub fn people(&self) -> &Population {
        &self.people
    }

    /// The number of values in the longest list of any group.
    pub fn largest(&self) -> u64 {
        let people = self.spec.members.iter().max().copied().unwrap_or(0);
        people.max(self.spec.in_all + if self.spec.depth > 1 { self.fan_out } else { 0 })
    }

    /// The number of groups with a size of their own. These groups have the lowest numbers and are in no
    /// tree.
    fn singles(&self) -> u64 {
        self.spec.members.len() as u64 - 1
    }

    fn shape(&self, g: u64) -> Shape {
        let (singles, in_all) = (self.singles(), self.spec.in_all);
        let (first, step, groups) = match g.checked_sub(singles) {
            Some(in_tree) if self.spec.depth > 1 => {
                let (first, step, groups) = self.below(in_tree);
                (first + singles, step, groups)
            }
            _ => (0, 0, 0),
        };
        let size = match usize::try_from(g).ok().filter(|_| g < singles) {
            Some(single) => self.spec.members[single + 1],
            None if groups > 0 => in_all,
            None => self.spec.members[0],
        };
        let (own, others) = (size - in_all, self.people.spec().size - in_all);
        let start = if own == 0 { 0 } else { (u128::from(g) * u128::from(own) % u128::from(others)) as u64 };
        Shape { start, people: own, first, step, groups }
    }

    /// The children of a group of the tree: the number of the first child, the difference between the numbers
    /// of two neighbours, and the count.
    fn below(&self, group: u64) -> (u64, u64, u64) {
        let in_tree = self.spec.count - self.singles();
        let (mut at, mut whole) = (0, self.tree);
        // Descend from the root to `group`.
        while at < group {
            whole = (whole - 1) / self.fan_out;
            at += 1 + (group - at - 1) / whole * whole;
        }
        let step = (whole - 1) / self.fan_out;
        let room = in_tree - at - 1;
        let groups = if step == 0 { 0 } else { room.div_ceil(step).min(self.fan_out) };
        (at + 1, step, groups)
    }

    /// The number of values in a list of group `g`.
    pub fn count(&self, g: u64, list: List) -> u64 {
        let shape = self.shape(g);
        let groups = if list == List::Member { shape.groups } else { 0 };
        self.spec.in_all + shape.people + groups
    }

    /// Passes the values of a list of group `g`, from index `from` on, to `visit` until `visit` returns false.
    pub fn each(&self, g: u64, list: List, from: u64, mut visit: impl FnMut(&[u8]) -> bool) {
        let Shape { start, people, first, step, groups: _ } = self.shape(g);
        let (in_all, size) = (self.spec.in_all, self.people.spec().size);
        let mut value = Vec::new();
        for i in from..self.count(g, list) {
            value.clear();
            let person = match i.checked_sub(in_all) {
                None => Ok(i),
                Some(i) if i < people => Ok(in_all + (start + i) % (size - in_all)),
                Some(i) => Err(first + (i - people) * step),
            };
            match (person, list) {
                (Ok(person), List::Member) => self.people.write_dn(person, &mut value),
                (Ok(person), List::MemberUid) => self.people.write_name(person, &mut value),
                (Err(group), _) => self.write_dn(group, &mut value),
            }
            if !visit(&value) {
                return;
            }
        }
    }

    /// Appends the name of group `g`: `group.<g>`.
    pub fn write_name(g: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"group.");
        out.extend_from_slice(Decimal::new(g).as_bytes());
    }

    /// Appends the DN of group `g`, directly below the people's base.
    pub fn write_dn(&self, g: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.spec.class == GroupClass::Ad { b"CN=" } else { b"cn=" });
        Self::write_name(g, out);
        let base = &self.people.spec().base;
        if !base.is_empty() {
            out.push(b',');
            out.extend_from_slice(base.as_bytes());
        }
    }

    /// The description of group `g`, which marks the group as a group of sitebench.
    pub fn description(&self, g: u64, complete: bool) -> Vec<u8> {
        let Shape { people, groups, .. } = self.shape(g);
        let people = self.spec.in_all + people;
        let mut text =
            format!("{}{g}{}{people} {}", MARK.0, MARK.1, if people == 1 { "person" } else { "people" });
        if groups > 0 {
            text += &format!(" and {groups} {}", if groups == 1 { "group" } else { "groups" });
        }
        if !complete {
            text += INCOMPLETE;
        }
        text.into_bytes()
    }

    /// Whether this is the description of group `g` of sitebench.
    pub fn is_ours(g: u64, description: &[u8]) -> bool {
        description.starts_with(format!("{}{g}{}", MARK.0, MARK.1).as_bytes())
    }

    /// Whether this is the description of a group of sitebench.
    pub fn has_mark(description: &[u8]) -> bool {
        description.strip_prefix(MARK.0.as_bytes()).is_some_and(|rest| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            digits > 0 && rest[digits..].starts_with(MARK.1.as_bytes())
        })
    }

    /// Whether this is the description of a group of sitebench with missing members.
    pub fn is_incomplete(description: &[u8]) -> bool {
        description.ends_with(INCOMPLETE.as_bytes())
    }

    /// Appends the attributes of group `g` other than its lists, without the enclosing sequence.
    pub fn write_head(&self, g: u64, complete: bool, out: &mut Vec<u8>) {
        let classes: &[&[u8]] = match self.spec.class {
            GroupClass::Names => &[b"top", b"groupOfNames"],
            GroupClass::Posix => &[b"top", b"posixGroup"],
            GroupClass::Both => &[b"top", b"groupOfNames", b"posixGroup"],
            GroupClass::Ad => &[b"top", b"group"],
        };
        let mut name = Vec::new();
        Self::write_name(g, &mut name);
        write_attribute(out, b"objectClass", classes.iter().copied());
        write_attribute(out, b"cn", [&name[..]]);
        match self.spec.class {
            GroupClass::Names => {}
            GroupClass::Posix | GroupClass::Both => {
                write_attribute(out, b"gidNumber", [Decimal::new(FIRST_GID + g % GIDS).as_bytes()]);
            }
            GroupClass::Ad => {
                write_attribute(out, b"sAMAccountName", [&name[..]]);
                write_attribute(out, b"groupType", [GROUP_TYPE]);
            }
        }
        write_attribute(out, b"description", [&self.description(g, complete)[..]]);
    }

    /// Appends group `g` as an AttributeList, as [`Population::write_attributes`] appends a person.
    pub fn write_attributes(&self, g: u64, out: &mut Vec<u8>) {
        ber::write_nested(out, tag::SEQUENCE, |out| {
            self.write_head(g, true, out);
            for list in self.spec.class.lists() {
                ber::write_nested(out, tag::SEQUENCE, |out| {
                    ber::write_octets(out, list.name().as_bytes());
                    ber::write_nested(out, tag::SET, |out| {
                        self.each(g, *list, 0, |value| {
                            ber::write_octets(out, value);
                            true
                        });
                    });
                });
            }
        });
    }
}
