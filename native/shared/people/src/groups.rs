//! Groups of people: group `g` is a pure function of `g`, of what was asked for and of the people.
//!
//! # Who is in a group
//!
//! The sizes are a list: its first is that of most groups, each further one that of a single group, which come
//! first. With three sizes, 10, 1,000 and 100,000, group 0 has 1,000 people, group 1 has 100,000, and
//! all others have 10.
//!
//! Group `g` of `m` people has those from number `g * m` on, and begins again with the first after the last.
//! People are drawn each by itself, so neighbours have no more in common than others, and each person is in as
//! many groups as any other, or in one more. `in_all` people, the first ones, are in every group instead.
//!
//! # Groups in groups
//!
//! With a depth, the groups of the first size are a tree of so many levels, which is as slim as that allows.
//! They are numbered as one walks down it, a group before those in it. Its leaves have the people, and all
//! others the groups below and those who are in all. Seven at each of five levels are 2,801.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wire::ber::{self, tag};
use wire::ldap::request::write_attribute;

use crate::population::Population;
use wire::decimal::Decimal;

/// Group ids below belong to the machine, and `users` is one of them.
const FIRST_GID: u64 = 10_000;
/// They have 31 bits.
const GIDS: u64 = (1 << 31) - FIRST_GID;

/// A security group of the domain, as a domain controller makes them (MS-ADTS section 2.2.12).
const GROUP_TYPE: &[u8] = b"-2147483646";

/// What is in a group's description, before its number and after it.
const MARK: (&str, &str) = ("Group ", " of sitebench: ");
/// What ends the description of a group until all of it is there.
const INCOMPLETE: &str = ", incomplete";

/// The kind of entry that a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupClass {
    /// RFC 4519: names of entries.
    #[serde(rename = "groupOfNames")]
    Names,
    /// RFC 2307, as a structural class: logins of people.
    #[serde(rename = "posixGroup")]
    Posix,
    /// RFC 2307bis: both in one, as posixGroup is auxiliary.
    #[serde(rename = "groupOfNames+posixGroup")]
    Both,
    /// Active Directory's.
    #[serde(rename = "group")]
    Ad,
}

/// An attribute that has members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Names of people and groups.
    Member,
    /// Logins of people.
    MemberUid,
}

impl List {
    /// The attribute's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::MemberUid => "memberUid",
        }
    }
}

impl GroupClass {
    /// The class that searches for groups ask for.
    pub const fn object_class(self) -> &'static str {
        match self {
            Self::Names | Self::Both => "groupOfNames",
            Self::Posix => "posixGroup",
            Self::Ad => "group",
        }
    }

    /// The attributes that have members.
    pub const fn lists(self) -> &'static [List] {
        match self {
            Self::Names | Self::Ad => &[List::Member],
            Self::Posix => &[List::MemberUid],
            Self::Both => &[List::Member, List::MemberUid],
        }
    }
}

/// What groups there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    pub count: u64,
    /// People in a group: in most of them, then in one each.
    pub members: Vec<u64>,
    /// Levels of groups in groups; 1 for none.
    pub depth: u32,
    /// People who are in every group.
    pub in_all: u64,
    pub class: GroupClass,
}

/// Why there are no such groups.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupsError {
    /// None of that size can be made.
    #[error(
        "--members {members}: there are {people} people; ask for as many at most, or for more people with --entries"
    )]
    TooFewPeople { members: u64, people: u64 },
    /// groupOfNames has one member at least.
    #[error("--members 0: a group has one member at least; ask for 1 or more")]
    Empty,
    /// There is nothing to choose from.
    #[error("--members names no size; name one or more, such as 10,1k")]
    NoSizes,
    #[error("--members has {sizes} sizes, and there are {groups} groups; ask for as many groups at least")]
    TooManySizes { sizes: usize, groups: u64 },
    /// They would be all of it, and more.
    #[error("--in-all {in_all}: groups have {members} people; ask for as many at most")]
    TooManyInAll { in_all: u64, members: u64 },
    #[error(
        "--depth {depth}: of {groups} groups; it is 1 at least, and one for each group of the first size at most"
    )]
    Depth { depth: u32, groups: u64 },
    /// It has logins, and groups have none.
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
    /// Groups in one above, and those of a whole tree.
    fan_out: u64,
    tree: u64,
}

/// A group's members: people [start, start + people) of those who are not in all, around; then groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// People who are in all groups come before them.
    start: u64,
    people: u64,
    /// The first group below, the distance to the next, and how many there are.
    first: u64,
    step: u64,
    groups: u64,
}

impl Groups {
    /// Checks that there can be such groups of these people.
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
        // By halves: a tree of two levels is as wide as there are groups.
        let (mut low, mut high) = (1, in_tree);
        while low < high {
            let middle = low + (high - low) / 2;
            if whole(middle) >= in_tree { high = middle } else { low = middle + 1 }
        }
        Ok(Self { people, fan_out: low, tree: whole(low), spec })
    }

    /// What was asked for.
    pub const fn spec(&self) -> &GroupSpec {
        &self.spec
    }

    /// Those who are in them.
    pub fn people(&self) -> &Population {
        &self.people
    }

    /// The most values that a group has in one of its lists.
    pub fn largest(&self) -> u64 {
        let people = self.spec.members.iter().max().copied().unwrap_or(0);
        people.max(self.spec.in_all + if self.spec.depth > 1 { self.fan_out } else { 0 })
    }

    /// Groups of further sizes: they come first, and are in no tree.
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

    /// The groups right below one of the tree: the first, the distance to the next, and how many.
    fn below(&self, group: u64) -> (u64, u64, u64) {
        let in_tree = self.spec.count - self.singles();
        let (mut at, mut whole) = (0, self.tree);
        // Down from the root, to the one whose own number it is.
        while at < group {
            whole = (whole - 1) / self.fan_out;
            at += 1 + (group - at - 1) / whole * whole;
        }
        let step = (whole - 1) / self.fan_out;
        let room = in_tree - at - 1;
        let groups = if step == 0 { 0 } else { room.div_ceil(step).min(self.fan_out) };
        (at + 1, step, groups)
    }

    /// How many values a list of group `g` has.
    pub fn count(&self, g: u64, list: List) -> u64 {
        let shape = self.shape(g);
        let groups = if list == List::Member { shape.groups } else { 0 };
        self.spec.in_all + shape.people + groups
    }

    /// Shows the values of a list of group `g` from the one with number `from` on, until that is answered
    /// with false.
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

    /// Appends the DN of group `g`, which is among the people.
    pub fn write_dn(&self, g: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.spec.class == GroupClass::Ad { b"CN=" } else { b"cn=" });
        Self::write_name(g, out);
        let base = &self.people.spec().base;
        if !base.is_empty() {
            out.push(b',');
            out.extend_from_slice(base.as_bytes());
        }
    }

    /// The description of group `g`, by which it is known again.
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

    /// Whether a description is that of some group `g` of sitebench.
    pub fn is_ours(g: u64, description: &[u8]) -> bool {
        description.starts_with(format!("{}{g}{}", MARK.0, MARK.1).as_bytes())
    }

    /// Whether a description is that of any group of sitebench.
    pub fn has_mark(description: &[u8]) -> bool {
        description.strip_prefix(MARK.0.as_bytes()).is_some_and(|rest| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            digits > 0 && rest[digits..].starts_with(MARK.1.as_bytes())
        })
    }

    /// Whether a description is that of a group of sitebench of which a part is missing.
    pub fn is_incomplete(description: &[u8]) -> bool {
        description.ends_with(INCOMPLETE.as_bytes())
    }

    /// Appends the attributes of group `g` that are not its lists, without the sequence around them.
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

    /// Appends group `g` as an AttributeList, as [`Population::write_attributes`] does a person.
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
