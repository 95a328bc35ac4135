//! Right answers are accepted in every form, and wrong answers are noticed.

use load::Clock;
use people::Profile;
use serde_json::json;
use wire::ldap::{ResultCode, op};

use super::harness::{LOOKUP, Totals, lookups, people, session};
use super::responder::{Do, Responder};

fn answered(what: Do, verify: &str) -> Totals {
    let responder = Responder::lookups(&people(Profile::Paper, 500), what);
    let totals = responder.job(&lookups(20)).with(json!({"verify": verify})).run(4, 80);
    assert!(totals.count("lookup") >= 20, "{totals:?}");
    totals
}

#[test]
fn right_answers_pass_whether_they_arrive_whole_or_in_pieces() {
    for what in [Do::Right, Do::InPieces(100), Do::InPieces(700), Do::InPieces(1)] {
        let responder = Responder::lookups(&people(Profile::Paper, 500), what);
        let totals = responder.job(&lookups(5)).run(4, 300);
        assert!(totals.count("lookup") >= 4, "{what:?}: {totals:?}");
        assert!(totals.kinds().is_empty(), "{what:?}: {totals:?}");
    }
}

#[test]
fn right_and_wrong_people_of_every_profile_are_distinguished() {
    for profile in [Profile::Paper, Profile::Small, Profile::Person, Profile::Posix, Profile::Ad] {
        for (what, kinds) in [
            (Do::Right, &[][..]),
            (Do::RightButOtherwise, &[]),
            (Do::SomebodyElse, &["wrong-answer"]),
            (Do::Impostor, &["wrong-answer"]),
            (Do::WithoutOneAttribute, &["wrong-answer"]),
        ] {
            let responder = Responder::lookups(&people(profile, 500), what);
            let text = lookups(20).replace("RTPerson", profile.object_class());
            let name = profile.naming();
            let text = text.replace("(cn={person.cn})", &format!("({name}={{person.{name}}})"));
            let totals = responder.job(&text).target(json!({"profile": profile.as_str()})).run(4, 50);
            assert!(totals.count("lookup") > 10, "{profile:?} {what:?}: {totals:?}");
            assert_eq!(totals.kinds(), kinds, "{profile:?} {what:?}");
        }
    }
}

#[test]
fn a_wrong_byte_after_right_answers_is_a_wrong_answer() {
    for verify in ["digest", "full"] {
        // After the bind: right, right, wrong, wrong, and so on.
        let responder = Responder::start(&people(Profile::Paper, 1), |tag, before| {
            match (tag, before.wrapping_sub(1) % 4) {
                (op::SEARCH_REQUEST, 2 | 3) => Do::OneByteChanged,
                _ => Do::Right,
            }
        });
        let totals = responder.job(&lookups(1_000_000)).with(json!({"verify": verify})).run(1, 20);
        let lookups = totals.count("lookup");
        assert!(lookups > 8, "{verify}: {totals:?}");
        assert_eq!(totals.failed("lookup"), lookups / 4 * 2 + (lookups % 4).saturating_sub(2), "{verify}");
        assert_eq!(totals.kinds(), ["wrong-answer"], "{verify}");
    }
}

#[test]
fn without_verification_only_the_result_code_counts() {
    assert!(answered(Do::SomebodyElse, "none").kinds().is_empty());
    assert_eq!(answered(Do::Code(ResultCode::BUSY), "none").kinds(), ["result:busy"]);
}

#[test]
fn only_requested_attributes_are_expected() {
    // The responder always sends all attributes, which is wrong if fewer were requested.
    let responder = Responder::right(&people(Profile::Paper, 500));
    for (attributes, right) in [(vec!["cn", "mail"], false), (vec!["*", "+"], true), (vec![], true)] {
        let narrow = LOOKUP.replace("'lookup'", "'narrow'");
        let narrow = narrow.replace("expect", &format!("attributes = {attributes:?}, expect"));
        let totals = responder.job(&session(10, &[LOOKUP, &narrow])).run(2, 50);
        let wrong = if right { 0 } else { totals.count("narrow") };
        assert_eq!(
            (totals.failed("lookup"), totals.failed("narrow")),
            (0, wrong),
            "{attributes:?}: {totals:?}"
        );
    }
}

#[test]
fn a_refusal_is_named_after_its_result_code_and_the_sequence_continues() {
    let totals = answered(Do::Code(ResultCode::UNWILLING_TO_PERFORM), "digest");
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
        let totals = answered(Do::Code(ResultCode(code)), "digest");
        assert_eq!(totals.kinds(), ["result:other"]);
        let example = &totals.of("lookup").examples["result:other"];
        assert!(example.ends_with(shown) || example.contains(&format!("{shown}, ")), "{example}");
    }
}

#[test]
fn an_answer_that_is_not_ldap_is_malformed_and_ends_the_connection() {
    for what in [Do::Nonsense, Do::OtherId, Do::OtherOperation] {
        let responder = Responder::lookups(&people(Profile::Paper, 500), what);
        let totals = responder.job(&lookups(20)).run(2, 100);
        assert_eq!(totals.kinds(), ["malformed"], "{what:?}");
        assert_eq!(totals.of("lookup").clock(Clock::Censored).len(), totals.count("lookup"));
        assert!(totals.count("connect") >= totals.count("lookup"), "each costs the connection");
    }
}

#[test]
fn a_refused_bind_is_retried_after_a_pause() {
    let responder = Responder::only(
        &people(Profile::Paper, 500),
        op::BIND_REQUEST,
        Do::Code(ResultCode::INVALID_CREDENTIALS),
    );
    let totals = responder.job(&lookups(20)).run(1, 300);
    assert_eq!(totals.kinds(), ["result:invalidCredentials"]);
    let example = &totals.of("bind").examples["result:invalidCredentials"];
    assert!(example.starts_with("bind as "), "{example}");
    assert_eq!(totals.count("lookup"), 0);
    // With pauses of 10, 20, 40, 80 and 160 ms five tries fit into 300 ms, not hundreds.
    assert!((2..=6).contains(&totals.count("bind")), "{totals:?}");
}
