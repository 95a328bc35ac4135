//! Groups: their members and their entries.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use people::{GroupClass, GroupSpec, Groups, GroupsError, List, Profile, ldif};
use proptest::prelude::*;

use crate::common::population;

fn spec(count: u64, members: &[u64], depth: u32, in_all: u64) -> GroupSpec {
    GroupSpec { count, members: members.to_vec(), depth, in_all, class: GroupClass::Names }
}

fn of(profile: Profile, spec: GroupSpec) -> Result<Groups, GroupsError> {
    Groups::new(Arc::new(population(profile, 1997)), spec)
}

fn groups(spec: GroupSpec) -> Groups {
    of(Profile::Person, spec).unwrap()
}

fn members(groups: &Groups, g: u64) -> Vec<String> {
    let mut found = Vec::new();
    groups.each(g, List::Member, 0, |value| {
        let dn = String::from_utf8(value.to_vec()).unwrap();
        found.push(dn.split(',').next().unwrap().to_owned());
        true
    });
    assert_eq!(found.len() as u64, groups.count(g, List::Member));
    found
}

#[test]
fn groups_take_people_in_order_and_wrap_around() {
    let groups = groups(spec(200, &[10], 1, 0));
    assert_eq!(members(&groups, 0)[..2], ["uid=user.0", "uid=user.1"]);
    assert_eq!(members(&groups, 7)[0], "uid=user.70");
    assert_eq!(members(&groups, 100), members(&groups, 0));
}

#[test]
fn groups_beyond_the_listed_sizes_have_the_first_size() {
    let groups = groups(spec(5, &[2, 30, 1_000], 1, 0));
    let sizes: Vec<_> = (0..5).map(|g| groups.count(g, List::Member)).collect();
    assert_eq!(sizes, [30, 1_000, 2, 2, 2]);
    assert_eq!(members(&groups, 1).iter().collect::<HashSet<_>>().len(), 1_000);
}

#[test]
fn a_larger_number_of_groups_does_not_change_the_first_groups() {
    let (few, many) = (groups(spec(10, &[3, 40], 1, 1)), groups(spec(1_000, &[3, 40], 1, 1)));
    for g in 0..10 {
        assert_eq!(members(&few, g), members(&many, g));
        assert_eq!(few.description(g, true), many.description(g, true));
    }
}

/// The manual test of SSSD (pull request 8127): five levels with seven groups each, one group of all people,
/// and one person in all groups.
#[test]
fn a_group_tree_of_five_levels_has_seven_groups_in_each_level() {
    let groups = groups(spec(2_802, &[6, 1_000], 5, 1));
    let mut levels: HashMap<String, u32> = HashMap::new();
    let mut leaves = 0;
    for g in 1..2_802 {
        let level = *levels.entry(format!("cn=group.{g}")).or_insert(1);
        let inside = members(&groups, g);
        let below: Vec<_> = inside.iter().filter(|each| each.starts_with("cn=")).collect();
        assert!(inside.contains(&"uid=user.0".to_owned()), "group {g}");
        assert!([0, 7].contains(&below.len()), "group {g}: {below:?}");
        for each in &below {
            assert!(levels.insert((*each).clone(), level + 1).is_none(), "{each} is in two groups");
        }
        if below.is_empty() {
            assert_eq!((level, inside.len()), (5, 6), "group {g}");
            leaves += 1;
        }
    }
    assert_eq!(leaves, 2_401);
    assert_eq!(groups.count(0, List::Member), 1_000);
}

proptest! {
    /// An incomplete tree has all its levels, and every group but the first belongs to one earlier group.
    #[test]
    fn a_group_tree_is_connected_and_has_all_its_levels(count in 1_u64..300, depth in 1_u32..9, in_all in 0_u64..3) {
        prop_assume!(u64::from(depth) <= count);
        let groups = groups(spec(count, &[3], depth, in_all));
        let mut levels = vec![1_u32; count as usize];
        let mut above = vec![0; count as usize];
        for g in 0..count {
            let inside = members(&groups, g);
            prop_assert!(!inside.is_empty());
            prop_assert_eq!(inside.iter().collect::<HashSet<_>>().len(), inside.len());
            for each in inside.iter().filter_map(|each| each.strip_prefix("cn=group.")) {
                let below: usize = each.parse().unwrap();
                prop_assert!(below as u64 > g);
                levels[below] = levels[g as usize] + 1;
                above[below] += 1;
            }
        }
        prop_assert_eq!(levels.iter().max(), Some(&depth));
        if depth > 1 {
            prop_assert!(above[1..].iter().all(|count| *count == 1));
        }
    }

    #[test]
    fn a_member_list_can_be_read_from_any_value_on(g in 0_u64..50, from in 0_u64..12) {
        let groups = groups(spec(50, &[12], 3, 2));
        let mut rest = Vec::new();
        groups.each(g, List::Member, from, |value| { rest.push(value.to_vec()); true });
        let mut all = Vec::new();
        groups.each(g, List::Member, 0, |value| { all.push(value.to_vec()); true });
        prop_assert_eq!(&rest[..], all.get(from as usize..).unwrap_or_default());
    }
}

#[test]
fn the_group_counts_of_any_two_people_differ_by_at_most_one() {
    let groups = groups(spec(333, &[7], 1, 0));
    let mut counts: HashMap<String, u64> = HashMap::new();
    (0..333).flat_map(|g| members(&groups, g)).for_each(|each| *counts.entry(each).or_default() += 1);
    assert_eq!(counts.values().collect::<HashSet<_>>(), HashSet::from([&2, &3]));
}

fn text(profile: Profile, class: GroupClass) -> String {
    let groups = of(profile, GroupSpec { class, ..spec(3, &[1], 1, 0) }).unwrap();
    let mut out = Vec::new();
    ldif::write_group(&groups, 2, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_group_has_the_attributes_of_its_class() {
    assert_eq!(
        text(Profile::Person, GroupClass::Names),
        "dn: cn=group.2,ou=Dynamic,o=Intranet\nobjectClass: top\nobjectClass: groupOfNames\ncn: group.2\n\
         description: Group 2 of sitebench: 1 person\nmember: uid=user.2,ou=Dynamic,o=Intranet\n\n"
    );
    let posix = text(Profile::Posix, GroupClass::Posix);
    assert!(
        posix.contains("\nobjectClass: posixGroup\n") && posix.contains("\nmemberUid: user.2\n"),
        "{posix}"
    );
    assert!(posix.contains("\ngidNumber: 10002\n") && !posix.contains("member:"), "{posix}");
    let both = text(Profile::Posix, GroupClass::Both);
    assert!(both.contains("member: uid=user.2,ou=") && both.contains("memberUid: user.2\n"), "{both}");
    let ad = text(Profile::Ad, GroupClass::Ad);
    assert!(
        ad.contains("dn: CN=group.2,") && ad.contains("sAMAccountName: group.2\ngroupType: -2147483646\n"),
        "{ad}"
    );
}

#[test]
fn only_sitebenchs_descriptions_mark_generated_groups() {
    let groups = groups(spec(20, &[3], 1, 0));
    assert!(Groups::is_ours(7, &groups.description(7, true)));
    assert!(Groups::is_ours(7, &groups.description(7, false)));
    assert!(Groups::is_incomplete(&groups.description(7, false)));
    assert!(!Groups::is_incomplete(&groups.description(7, true)));
    assert!(!Groups::is_ours(1, &groups.description(17, true)));
    assert!(Groups::has_mark(&groups.description(17, true)));
    for other in ["", "Group 7", "Our group 7 of sitebench: 3 people", "Group  of sitebench: 3 people"] {
        assert!(!Groups::is_ours(7, other.as_bytes()) && !Groups::has_mark(other.as_bytes()), "{other}");
    }
}

#[test]
fn the_refusal_of_impossible_groups_names_the_responsible_option() {
    let why = |profile, spec| of(profile, spec).unwrap_err().to_string();
    for (spec, said) in [
        (spec(3, &[1_001], 1, 0), "--members 1001: there are 1000 people"),
        (spec(3, &[0], 1, 0), "--members 0:"),
        (spec(3, &[], 1, 0), "--members names no size"),
        (spec(2, &[1, 2, 3], 1, 0), "--members has 3 sizes, and there are 2 groups"),
        (spec(3, &[5, 2], 1, 3), "--in-all 3: groups have 2 people"),
        (spec(3, &[1], 4, 0), "--depth 4"),
        (spec(3, &[1], 0, 0), "--depth 0"),
        (GroupSpec { class: GroupClass::Posix, ..spec(3, &[1], 2, 0) }, "a posixGroup has people in it"),
    ] {
        let message = why(Profile::Person, spec);
        assert!(message.starts_with(said) || message.contains(said), "{message}");
        assert!(message.contains("; "), "without a remedy: {message}");
    }
    assert!(why(Profile::Ils, spec(1, &[1], 1, 0)).contains("the profile ils has no groups"));
}
