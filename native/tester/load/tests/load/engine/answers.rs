//! Right answers are accepted in every form, and wrong answers are noticed.

use load::Clock;
use people::Profile;
use wire::ldap::{ResultCode, op};

use super::harness::{LOOKUP, Totals, config, counted, lookups, people, run, session};
use super::responder::{Do, Responder};

fn answered(what: Do, change: impl Fn(&mut serde_json::Value)) -> Totals {
    let people = people(Profile::Paper, 500);
    let responder = Responder::lookups(&people, what);
    let mut config = config(responder.address, &lookups(20));
    change(&mut config);
    let totals = run(&config, Some(&people), 4, 80);
    assert!(totals.count("lookup") >= 20, "{totals:?}");
    totals
}

#[test]
fn right_answers_pass_whether_they_arrive_whole_or_in_pieces() {
    for what in [Do::Right, Do::InPieces(100), Do::InPieces(700), Do::InPieces(1)] {
        let people = people(Profile::Paper, 500);
        let responder = Responder::lookups(&people, what);
        let config = config(responder.address, &lookups(5));
        let totals = run(&config, Some(&people), 4, 300);
        assert!(totals.count("lookup") >= 4, "{what:?}: {totals:?}");
        assert!(totals.kinds().is_empty(), "{what:?}: {totals:?}");
    }
}

#[test]
fn different_order_case_and_operational_attributes_do_not_make_an_answer_wrong() {
    for profile in [Profile::Paper, Profile::Small] {
        let people = people(profile, 500);
        let responder = Responder::lookups(&people, Do::RightButOtherwise);
        let totals = run(&config(responder.address, &lookups(20)), Some(&people), 4, 80);
        assert!(totals.count("lookup") > 20 && totals.kinds().is_empty(), "{totals:?}");
    }
}

#[test]
fn right_and_wrong_people_of_every_profile_are_distinguished() {
    for profile in [Profile::Small, Profile::Person, Profile::Posix, Profile::Ad] {
        let people = people(profile, 500);
        for (what, kinds) in [
            (Do::Right, &[][..]),
            (Do::RightButOtherwise, &[]),
            (Do::SomebodyElse, &["wrong-answer"]),
            (Do::Impostor, &["wrong-answer"]),
            (Do::WithoutOneAttribute, &["wrong-answer"]),
        ] {
            let responder = Responder::lookups(&people, what);
            let text = lookups(20).replace("RTPerson", profile.object_class());
            let name = profile.naming();
            let text = text.replace("(cn={person.cn})", &format!("({name}={{person.{name}}})"));
            let mut config = config(responder.address, &text);
            config["target"]["profile"] = profile.as_str().into();
            let totals = run(&config, Some(&people), 4, 50);
            assert!(totals.count("lookup") > 10, "{profile:?} {what:?}: {totals:?}");
            assert_eq!(totals.kinds(), kinds, "{profile:?} {what:?}");
        }
    }
}

#[test]
fn every_kind_of_wrong_answer_is_counted_as_wrong() {
    for what in [
        Do::SomebodyElse,
        Do::Impostor,
        Do::WithoutOneAttribute,
        Do::WithoutOneValue,
        Do::WithOneValueMore,
        Do::WithOneAttributeMore,
        Do::WithOneAttributeTwice,
        Do::Twice,
        Do::Nobody,
    ] {
        let totals = answered(what, |_| ());
        assert_eq!(totals.kinds(), ["wrong-answer"], "{what:?}");
        assert_eq!(totals.failed("lookup"), totals.count("lookup"), "{what:?}");
        // These requests were answered and the lane kept its connection, but no right answer was timed.
        assert_eq!(totals.of("lookup").clock(Clock::Wrong).len(), totals.count("lookup"));
        assert!(totals.count("connect") * 20 <= totals.count("lookup") + 4 * 20, "{what:?}: {totals:?}");
    }
}

#[test]
fn a_wrong_byte_after_right_answers_is_a_wrong_answer() {
    let people = people(Profile::Paper, 1);
    for verify in ["digest", "full"] {
        // After the bind: right, right, wrong, wrong, and so on.
        let responder = Responder::start(&people, |tag, before| match (tag, before.wrapping_sub(1) % 4) {
            (op::SEARCH_REQUEST, 2 | 3) => Do::OneByteChanged,
            _ => Do::Right,
        });
        let mut config = config(responder.address, &lookups(1_000_000));
        config["verify"] = verify.into();
        let totals = run(&config, Some(&people), 1, 20);
        let lookups = totals.count("lookup");
        assert!(lookups > 8, "{verify}: {totals:?}");
        assert_eq!(totals.failed("lookup"), lookups / 4 * 2 + (lookups % 4).saturating_sub(2), "{verify}");
        assert_eq!(totals.kinds(), ["wrong-answer"], "{verify}");
    }
}

#[test]
fn without_verification_only_the_result_code_counts() {
    let totals = answered(Do::SomebodyElse, |config| config["verify"] = "none".into());
    assert!(totals.kinds().is_empty());
    let totals = answered(Do::Code(ResultCode::BUSY), |config| config["verify"] = "none".into());
    assert_eq!(totals.kinds(), ["result:busy"]);
}

#[test]
fn only_requested_attributes_are_expected() {
    let people = people(Profile::Paper, 500);
    // The responder always sends all attributes, which is wrong if fewer were requested.
    let responder = Responder::right(&people);
    for (attributes, right) in [(vec!["cn", "mail"], false), (vec!["*", "+"], true), (vec![], true)] {
        let step = LOOKUP.replace("expect", &format!("attributes = {attributes:?}, expect"));
        let config = config(responder.address, &counted(10, &step));
        let totals = run(&config, Some(&people), 2, 50);
        assert_eq!(totals.kinds().is_empty(), right, "{attributes:?}");
    }
}

#[test]
fn an_answer_with_all_attributes_is_wrong_if_one_attribute_is_requested() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::right(&people);
    let narrow = LOOKUP.replace("'lookup'", "'narrow'").replace("expect", "attributes = ['cn'], expect");
    let config = config(responder.address, &session(10, &[LOOKUP, &narrow]));
    let totals = run(&config, Some(&people), 1, 20);
    assert_eq!((totals.failed("lookup"), totals.failed("narrow")), (0, totals.count("narrow")), "{totals:?}");
}

#[test]
fn a_refusal_is_named_after_its_result_code_and_the_sequence_continues() {
    let totals = answered(Do::Code(ResultCode::UNWILLING_TO_PERFORM), |_| ());
    assert_eq!(totals.kinds(), ["result:unwillingToPerform"]);
    assert!(totals.count("unbind") > 0, "the sequence goes on to its end");
    let example = &totals.of("lookup").examples["result:unwillingToPerform"];
    assert!(example.starts_with("search \"(&(objectClass=RTPerson)(cn="), "{example}");
    assert!(example.contains("\": unwillingToPerform"), "{example}");
    assert_eq!(totals.failed("sequence"), totals.count("sequence"));
}

#[test]
fn a_result_code_without_a_name_is_shown_as_a_number() {
    for (code, shown) in [(4_999, "\": result 4999"), (80, "\": other")] {
        let totals = answered(Do::Code(ResultCode(code)), |_| ());
        assert_eq!(totals.kinds(), ["result:other"]);
        let example = &totals.of("lookup").examples["result:other"];
        assert!(example.ends_with(shown) || example.contains(&format!("{shown}, ")), "{example}");
    }
}

#[test]
fn an_answer_that_is_not_ldap_is_malformed_and_ends_the_connection() {
    for what in [Do::Nonsense, Do::OtherId, Do::OtherOperation] {
        let people = people(Profile::Paper, 500);
        let responder = Responder::lookups(&people, what);
        let totals = run(&config(responder.address, &lookups(20)), Some(&people), 2, 100);
        assert_eq!(totals.kinds(), ["malformed"], "{what:?}");
        assert_eq!(totals.of("lookup").clock(Clock::Censored).len(), totals.count("lookup"));
        assert!(totals.count("connect") >= totals.count("lookup"), "each costs the connection");
    }
}

#[test]
fn a_refused_bind_is_retried_after_a_pause() {
    let people = people(Profile::Paper, 500);
    let responder = Responder::start(&people, |tag, _| match tag {
        op::BIND_REQUEST => Do::Code(ResultCode::INVALID_CREDENTIALS),
        _ => Do::Right,
    });
    let totals = run(&config(responder.address, &lookups(20)), Some(&people), 1, 300);
    assert_eq!(totals.kinds(), ["result:invalidCredentials"]);
    let example = &totals.of("bind").examples["result:invalidCredentials"];
    assert!(example.starts_with("bind as "), "{example}");
    assert_eq!(totals.count("lookup"), 0);
    // With pauses of 10, 20, 40, 80 and 160 ms five tries fit into 300 ms, not hundreds.
    assert!((2..=6).contains(&totals.count("bind")), "{totals:?}");
}
