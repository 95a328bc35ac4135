//! One attribute for each syntax, with values whose order is known without a matching rule.

/// An attribute's matching rules and its possible values.
pub struct Kind {
    pub name: &'static str,
    /// The schema definition, if the standard schema lacks the attribute.
    pub definition: Option<&'static str>,
    /// Values in ascending order, each with spellings that are equal by the equality rule.
    pub ranks: &'static [&'static [&'static str]],
    pub equality: Option<&'static str>,
    pub ordering: Option<&'static str>,
    /// Normalises the first spelling of a value for substring matching.
    pub pieces: Option<fn(&str) -> String>,
    /// A value that is invalid in the syntax.
    pub broken: Option<&'static str>,
    /// The kind of the supertype, whose name also matches this attribute.
    pub supertype: Option<&'static str>,
}

const PLAIN: Kind = Kind {
    name: "",
    definition: None,
    ranks: &[],
    equality: None,
    ordering: None,
    pieces: None,
    broken: None,
    supertype: None,
};

fn dense(text: &str) -> String {
    text.chars().filter(|letter| !" -".contains(*letter)).collect()
}

const NAMES: &[&[&str]] = &[
    &["Anna Lee", "ANNA  LEE", "anna lee"],
    &["Bo", "bo", "BO"],
    &["Stra(ße)*", "STRA(SSE)*"],
    &["Ёлкин", "ёлкин"],
    &["山田 太郎", "山田  太郎"],
];

/// `ß` is compared as `ss`.
fn name(text: &str) -> String {
    text.to_lowercase().replace('ß', "ss")
}

pub const KINDS: &[Kind] = &[
    // `cn` is indexed from the start, `sn` after searches that lacked the index.
    Kind { name: "cn", ranks: NAMES, equality: Some("caseIgnoreMatch"), pieces: Some(name), ..PLAIN },
    Kind { name: "sn", ranks: NAMES, equality: Some("caseIgnoreMatch"), pieces: Some(name), ..PLAIN },
    Kind {
        name: "maidenName",
        definition: Some("( 1.2.3.1 NAME 'maidenName' SUP sn )"),
        ranks: NAMES,
        equality: Some("caseIgnoreMatch"),
        pieces: Some(name),
        supertype: Some("sn"),
        ..PLAIN
    },
    Kind {
        name: "telephoneNumber",
        ranks: &[&["+1 555-0100", "+15550100"], &["+1 555 0101", "+1-555-0101"], &["007", "0 0 7"]],
        equality: Some("telephoneNumberMatch"),
        pieces: Some(dense),
        ..PLAIN
    },
    Kind {
        name: "mail",
        ranks: &[&["a@x.example", "A@X.EXAMPLE"], &["b@x.example"], &["b@y.example"]],
        equality: Some("caseIgnoreIA5Match"),
        pieces: Some(str::to_lowercase),
        ..PLAIN
    },
    // `dnQualifier` is never indexed.
    Kind {
        name: "dnQualifier",
        ranks: NAMES,
        equality: Some("caseIgnoreMatch"),
        ordering: Some("caseIgnoreOrderingMatch"),
        pieces: Some(name),
        ..PLAIN
    },
    Kind {
        name: "exact",
        definition: Some(
            "( 1.2.3.2 NAME 'exact' EQUALITY caseExactMatch ORDERING caseExactOrderingMatch \
             SUBSTR caseExactSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )",
        ),
        ranks: &[&["Anna", " Anna "], &["Zoe"], &["anna"], &["anna lee", "anna  lee"]],
        equality: Some("caseExactMatch"),
        ordering: Some("caseExactOrderingMatch"),
        pieces: Some(str::to_owned),
        ..PLAIN
    },
    Kind {
        name: "number",
        definition: Some(
            "( 1.2.3.3 NAME 'number' EQUALITY integerMatch ORDERING integerOrderingMatch \
             SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )",
        ),
        ranks: &[
            &["-100000000000000000000"],
            &["-20", "-020"],
            &["-3"],
            &["0", "-0", "000"],
            &["9", "09"],
            &["10"],
            &["100000000000000000000"],
        ],
        equality: Some("integerMatch"),
        ordering: Some("integerOrderingMatch"),
        broken: Some("1.5"),
        ..PLAIN
    },
    Kind {
        name: "digits",
        definition: Some(
            "( 1.2.3.4 NAME 'digits' EQUALITY numericStringMatch ORDERING numericStringOrderingMatch \
             SUBSTR numericStringSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.36 )",
        ),
        ranks: &[&["0 12", "012"], &["12", "1 2"], &["123", "12 3"], &["2"], &["20"]],
        equality: Some("numericStringMatch"),
        ordering: Some("numericStringOrderingMatch"),
        pieces: Some(dense),
        ..PLAIN
    },
    Kind {
        name: "moment",
        definition: Some(
            "( 1.2.3.5 NAME 'moment' EQUALITY generalizedTimeMatch \
             ORDERING generalizedTimeOrderingMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 )",
        ),
        ranks: &[
            &["00000101000000Z"],
            &["19691231235959.9Z"],
            &["19700101000000Z", "1970010100Z", "19700101013000+0130", "19691231230000-01"],
            &["19700101000000.5Z", "19700101000000,50Z"],
            &["20000229120000Z", "2000022912Z"],
            &["20000301000000Z", "20000229235960Z"],
            &["99991231235959Z"],
        ],
        equality: Some("generalizedTimeMatch"),
        ordering: Some("generalizedTimeOrderingMatch"),
        broken: Some("19990229000000Z"),
        ..PLAIN
    },
    Kind {
        name: "flag",
        definition: Some("( 1.2.3.6 NAME 'flag' EQUALITY booleanMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.7 )"),
        ranks: &[&["FALSE"], &["TRUE"]],
        equality: Some("booleanMatch"),
        broken: Some("perhaps"),
        ..PLAIN
    },
    Kind {
        name: "seeAlso",
        ranks: &[
            &["cn=a,o=b", "CN = A ; O = B", "2.5.4.3=a,organizationName=b"],
            &["cn=b+sn=c,o=b", "SN=C+CN=B,o=b"],
            &["o=b"],
        ],
        equality: Some("distinguishedNameMatch"),
        broken: Some("nobody"),
        ..PLAIN
    },
    Kind {
        name: "identifier",
        definition: Some(
            "( 1.2.3.7 NAME 'identifier' EQUALITY objectIdentifierMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.38 )",
        ),
        ranks: &[&["cn", "commonName", "2.5.4.3"], &["person", "PERSON", "2.5.6.6"], &["1.2.3.99"]],
        equality: Some("objectIdentifierMatch"),
        ..PLAIN
    },
    Kind {
        name: "octets",
        definition: Some(
            "( 1.2.3.8 NAME 'octets' EQUALITY octetStringMatch ORDERING octetStringOrderingMatch \
             SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )",
        ),
        ranks: &[&["A"], &["a"], &["a "], &["aa"], &["b"]],
        equality: Some("octetStringMatch"),
        ordering: Some("octetStringOrderingMatch"),
        ..PLAIN
    },
    Kind { name: "jpegPhoto", ranks: &[&["x"], &["y"]], ..PLAIN },
];
