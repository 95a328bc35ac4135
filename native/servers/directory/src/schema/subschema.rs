//! The schema in the form that clients read (RFC 4512 section 4.1).

use std::borrow::Borrow;

use super::Schema;
use super::definition::{AttributeType, ClassKind, ObjectClass, Usage};
use super::matching_rule::{MATCHING_RULES, MatchingRule};
use super::syntax::{ARC, SYNTAXES, UUID};

impl Schema {
    /// The attributes of the subschema subentry (RFC 4512 section 4.2) with their values. Undeclared types
    /// are omitted: they have no identifier.
    pub fn subschema(&self) -> Vec<(&'static str, Vec<String>)> {
        let types = self.attributes().filter(|(_, kind)| kind.declared);
        let rules = MATCHING_RULES.iter();
        vec![
            ("attributeTypes", types.map(|(_, kind)| self.type_text(kind)).collect()),
            ("objectClasses", self.classes().map(class_text).collect()),
            ("ldapSyntaxes", syntaxes().collect()),
            (
                "matchingRules",
                rules.map(|r| format!("( {} NAME '{}' SYNTAX {} )", r.oid, r.name, r.syntax)).collect(),
            ),
            ("matchingRuleUse", MATCHING_RULES.iter().filter_map(|rule| self.rule_use(rule)).collect()),
        ]
    }

    fn rule_use(&self, rule: &MatchingRule) -> Option<String> {
        let used = self.attributes().filter(|(_, kind)| {
            let rules = [kind.equality, kind.ordering, kind.substrings];
            kind.declared && rules.into_iter().flatten().any(|used| used.oid == rule.oid)
        });
        let names: Vec<&str> = used.map(|(_, kind)| kind.name()).collect();
        (!names.is_empty()).then(|| format!("( {} NAME '{}' APPLIES {} )", rule.oid, rule.name, list(&names)))
    }

    fn type_text(&self, kind: &AttributeType) -> String {
        let mut text = head(&kind.oid, &kind.names, kind.description.as_deref());
        if let Some(superior) = kind.superior {
            text += &format!(" SUP {}", self.canonical_name(superior));
        }
        let rules = [("EQUALITY", kind.equality), ("ORDERING", kind.ordering), ("SUBSTR", kind.substrings)];
        for (keyword, rule) in rules {
            text += &rule.map_or(String::new(), |rule| format!(" {keyword} {}", rule.name));
        }
        text += &format!(" SYNTAX {}", kind.syntax_oid);
        text += if kind.single_valued { " SINGLE-VALUE" } else { "" };
        text += if kind.read_only { " NO-USER-MODIFICATION" } else { "" };
        text + match kind.usage {
            Usage::UserApplications => " )",
            Usage::DirectoryOperation => " USAGE directoryOperation )",
            Usage::DistributedOperation => " USAGE distributedOperation )",
            Usage::DsaOperation => " USAGE dSAOperation )",
        }
    }
}

fn syntaxes() -> impl Iterator<Item = String> {
    let listed = SYNTAXES.iter().map(|(last, text)| format!("( {ARC}{last} DESC '{text}' )"));
    listed.chain(std::iter::once(format!("( {UUID} DESC 'UUID' )")))
}

fn class_text(class: &ObjectClass) -> String {
    let mut text = head(&class.oid, &class.names, class.description.as_deref());
    if !class.superiors.is_empty() {
        text += &format!(" SUP {}", list(&class.superiors));
    }
    text += match class.kind {
        ClassKind::Abstract => " ABSTRACT",
        ClassKind::Structural => " STRUCTURAL",
        ClassKind::Auxiliary => " AUXILIARY",
    };
    for (keyword, names) in [("MUST", &class.must), ("MAY", &class.may)] {
        if !names.is_empty() {
            text += &format!(" {keyword} {}", list(names));
        }
    }
    text + " )"
}

fn head(oid: &str, names: &[String], description: Option<&str>) -> String {
    let names = match names {
        [] => String::new(),
        [name] => format!(" NAME '{name}'"),
        names => format!(" NAME ( '{}' )", names.join("' '")),
    };
    format!("( {oid}{names}{}", description.map_or(String::new(), |text| format!(" DESC '{text}'")))
}

/// A single name is written bare, several names in parentheses with dollars between them.
fn list<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [name] => name.borrow().to_owned(),
        names => format!("( {} )", names.join(" $ ")),
    }
}
