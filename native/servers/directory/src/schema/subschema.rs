//! The schema in the form that clients read (RFC 4512 section 4.1).

use std::fmt::{self, Display, Write};

use super::definition::{AttributeType, ClassKind, ObjectClass, Usage};
use super::matching_rule::{MATCHING_RULES, rule};
use super::syntax::{ARC, SYNTAXES, UUID};
use super::{AttributeId, Schema};

impl Schema {
    /// The attributes of the subschema subentry (RFC 4512 section 4.2) with their values. Undeclared types
    /// are omitted: they have no identifier.
    pub fn subschema(&self) -> Vec<(&'static str, Vec<String>)> {
        let types = self.attributes().filter(|(_, kind)| kind.declared);
        let rules = MATCHING_RULES.iter();
        vec![
            ("attributeTypes", types.map(|(_, kind)| TypeText(self, kind).to_string()).collect()),
            ("objectClasses", self.classes().map(|class| ClassText(class).to_string()).collect()),
            ("ldapSyntaxes", syntaxes().collect()),
            (
                "matchingRules",
                rules.map(|r| format!("( {} NAME '{}' SYNTAX {} )", r.oid, r.name, r.syntax)).collect(),
            ),
            ("matchingRuleUse", MATCHING_RULES.iter().filter_map(|rule| self.rule_use(rule.name)).collect()),
        ]
    }

    fn rule_use(&self, name: &str) -> Option<String> {
        let rule = rule(name.as_bytes())?;
        let used = self.attributes().filter(|(_, kind)| {
            let rules = [kind.equality, kind.ordering, kind.substrings];
            kind.declared && rules.into_iter().flatten().any(|used| used.oid == rule.oid)
        });
        let names: Vec<&str> = used.map(|(_, kind)| kind.name()).collect();
        (!names.is_empty()).then(|| format!("( {} NAME '{}' APPLIES {} )", rule.oid, rule.name, List(&names)))
    }

    fn superior_name(&self, id: Option<AttributeId>) -> Option<&str> {
        id.map(|id| self.canonical_name(id))
    }
}

fn syntaxes() -> impl Iterator<Item = String> {
    let listed = SYNTAXES.iter().map(|(last, text)| format!("( {ARC}{last} DESC '{text}' )"));
    listed.chain(std::iter::once(format!("( {UUID} DESC 'UUID' )")))
}

struct TypeText<'s>(&'s Schema, &'s AttributeType);

impl Display for TypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(schema, kind) = self;
        write_head(f, &kind.oid, &kind.names, kind.description.as_deref())?;
        if let Some(superior) = schema.superior_name(kind.superior) {
            write!(f, " SUP {superior}")?;
        }
        let rules = [("EQUALITY", kind.equality), ("ORDERING", kind.ordering), ("SUBSTR", kind.substrings)];
        for (keyword, rule) in rules {
            if let Some(rule) = rule {
                write!(f, " {keyword} {}", rule.name)?;
            }
        }
        write!(f, " SYNTAX {}", kind.syntax_oid)?;
        f.write_str(if kind.single_valued { " SINGLE-VALUE" } else { "" })?;
        f.write_str(if kind.read_only { " NO-USER-MODIFICATION" } else { "" })?;
        f.write_str(match kind.usage {
            Usage::UserApplications => " )",
            Usage::DirectoryOperation => " USAGE directoryOperation )",
            Usage::DistributedOperation => " USAGE distributedOperation )",
            Usage::DsaOperation => " USAGE dSAOperation )",
        })
    }
}

struct ClassText<'s>(&'s ObjectClass);

impl Display for ClassText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = self.0;
        write_head(f, &class.oid, &class.names, class.description.as_deref())?;
        let lists = [("MUST", &class.must), ("MAY", &class.may)];
        if !class.superiors.is_empty() {
            write!(f, " SUP {}", List(&class.superiors))?;
        }
        f.write_str(match class.kind {
            ClassKind::Abstract => " ABSTRACT",
            ClassKind::Structural => " STRUCTURAL",
            ClassKind::Auxiliary => " AUXILIARY",
        })?;
        for (keyword, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            write!(f, " {keyword} {}", List(list))?;
        }
        f.write_str(" )")
    }
}

fn write_head(
    f: &mut fmt::Formatter<'_>,
    oid: &str,
    names: &[String],
    description: Option<&str>,
) -> fmt::Result {
    write!(f, "( {oid}")?;
    match names {
        [] => {}
        [name] => write!(f, " NAME '{name}'")?,
        names => {
            f.write_str(" NAME (")?;
            names.iter().try_for_each(|name| write!(f, " '{name}'"))?;
            f.write_str(" )")?;
        }
    }
    match description {
        Some(text) => write!(f, " DESC '{text}'"),
        None => Ok(()),
    }
}

/// A single name is written bare, several names in parentheses with dollars between them.
struct List<'l, S>(&'l [S]);

impl<S: AsRef<str>> Display for List<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = self.0.iter().map(AsRef::as_ref);
        match self.0 {
            [name] => f.write_str(name.as_ref()),
            _ => {
                f.write_str("( ")?;
                if let Some(first) = names.next() {
                    f.write_str(first)?;
                }
                for name in names {
                    f.write_str(" $ ")?;
                    f.write_str(name)?;
                }
                f.write_char(' ')?;
                f.write_char(')')
            }
        }
    }
}
