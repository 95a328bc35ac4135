//! Attribute types and object classes (RFC 4512).
//!
//! Entries may hold attribute types that the schema does not define, so that any LDIF loads. The first entry
//! with such a type declares it; its values are compared by caseIgnoreMatch.

mod definition;
mod matching_rule;
mod names;
mod parse;
mod subschema;
mod syntax;

pub use definition::{AttributeType, ClassKind, ObjectClass, Usage};
pub(crate) use matching_rule::IN_CHAIN;
pub use matching_rule::{MATCHING_RULES, Matching, MatchingRule, Role, rule};
pub use syntax::Syntax;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use matching_rule::{CATEGORY_RULE, SID_RULE};
use names::Names;
use parse::Definition;

/// The number of an attribute type within its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeId(pub(crate) u16);

/// The limit of undeclared types that entries may add to the schema. Each type takes memory that is never
/// freed; the directories examined had less than a tenth of this number.
pub const MAX_UNDECLARED: usize = 4096;

/// entryTtl (RFC 2589 section 7): clients may set it, yet it is computed from the deadline.
const ENTRY_TTL: &str = "1.3.6.1.4.1.1466.101.119.3";

/// The types and classes of Active Directory; they extend the standard definitions and replace some of them.
pub(crate) const ACTIVE_DIRECTORY: &str = include_str!("definitions/active_directory.schema");

/// objectCategory and objectSid, whose values are compared by Active Directory's own rules.
const OBJECT_CATEGORY: &str = "1.2.840.113556.1.4.782";
const OBJECT_SID: &str = "1.2.840.113556.1.4.146";

/// objectClass (RFC 4512 section 3.3).
const OBJECT_CLASS: &str = "2.5.4.0";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A definition that follows neither RFC 4512 section 4.1 nor the format of OpenLDAP's schema files.
    #[error("schema line {line}: {problem}; write it as RFC 4512 section 4.1 has it")]
    Malformed { line: usize, problem: String },
}

#[derive(Debug, Clone, Default)]
pub struct Schema {
    types: Vec<AttributeType>,
    type_names: Names,
    classes: Vec<ObjectClass>,
    class_names: Names,
    undeclared: usize,
    /// By type: the type itself and its subtypes.
    subtypes: Vec<Vec<AttributeId>>,
    /// By class: the class itself and its superclasses.
    superclasses: Vec<Vec<u16>>,
    object_class: Option<AttributeId>,
    /// Schemas with the same stamp have the same types and classes under the same numbers.
    pub(crate) stamp: u64,
}

/// A stamp that no other schema of this process has.
fn next_stamp() -> u64 {
    static STAMPS: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only uniqueness of the numbers matters.
    STAMPS.fetch_add(1, Ordering::Relaxed)
}

impl Schema {
    /// The types and classes of RFC 4512, 4519, 4524, 2798 and 2589, and the types and classes that common
    /// tools request.
    pub fn standard() -> Self {
        let mut schema = Self::default();
        // A test checks that the text is valid. If the text were invalid, its types would count as
        // undeclared.
        let _ = schema.load(include_str!("definitions/standard.schema"));
        schema
    }

    /// Adds the definitions of an OpenLDAP schema file (`attributetype`, `objectclass`,
    /// `objectidentifier`). A definition of a known identifier replaces it.
    pub fn load(&mut self, text: &str) -> Result<(), SchemaError> {
        for definition in parse::definitions(text)? {
            match definition.keyword.to_ascii_lowercase().as_str() {
                "attributetype" => self.define_type(&definition)?,
                "objectclass" => self.define_class(&definition)?,
                other => return Err(definition.malformed(format!("unknown keyword {other:?}"))),
            }
        }
        Ok(())
    }

    /// The type of a description, by name, alias or OID; options are ignored.
    #[inline]
    pub fn resolve(&self, description: &[u8]) -> Option<AttributeId> {
        let name = base(description);
        if name.len() < description.len() && has_too_many_options(description) {
            return None;
        }
        self.type_names.get(name).map(AttributeId)
    }

    #[inline]
    pub fn attribute(&self, id: AttributeId) -> &AttributeType {
        &self.types[usize::from(id.0)]
    }

    /// The spelling in stored entries.
    #[inline]
    pub fn canonical_name(&self, id: AttributeId) -> &str {
        self.attribute(id).name()
    }

    /// The number of types; valid type numbers are smaller.
    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// All types with their numbers.
    pub fn attributes(&self) -> impl Iterator<Item = (AttributeId, &AttributeType)> {
        self.types.iter().enumerate().map(|(number, kind)| (AttributeId(number as u16), kind))
    }

    /// Whether `id` is `ancestor` or derives from it.
    pub fn is_a(&self, id: AttributeId, ancestor: AttributeId) -> bool {
        let mut current = Some(id);
        while let Some(kind) = current {
            if kind == ancestor {
                return true;
            }
            current = self.attribute(kind).superior;
        }
        false
    }

    /// A type and its subtypes.
    #[inline]
    pub(crate) fn subtypes(&self, id: AttributeId) -> &[AttributeId] {
        &self.subtypes[usize::from(id.0)]
    }

    #[inline]
    pub(crate) fn is_object_class(&self, id: AttributeId) -> bool {
        self.object_class == Some(id)
    }

    /// The number of the class of this name or OID.
    #[inline]
    pub(crate) fn class_number(&self, name: &[u8]) -> Option<u16> {
        self.class_names.get(name)
    }

    /// The canonical name of the class of this number.
    pub(crate) fn class_name(&self, class: u16) -> &[u8] {
        self.classes[usize::from(class)].name().as_bytes()
    }

    /// Whether the class of this name is `ancestor` or derives from it.
    #[inline]
    pub(crate) fn class_derives(&self, name: &[u8], ancestor: u16) -> bool {
        self.class_number(name).is_some_and(|class| self.superclasses[usize::from(class)].contains(&ancestor))
    }

    /// The class of this name or OID.
    pub fn class(&self, name: &[u8]) -> Option<&ObjectClass> {
        self.class_names.get(name).map(|number| &self.classes[usize::from(number)])
    }

    pub fn classes(&self) -> impl Iterator<Item = &ObjectClass> {
        self.classes.iter()
    }

    /// A class and its superclasses, each once.
    pub fn class_chain(&self, name: &[u8]) -> Vec<&ObjectClass> {
        let numbers = self.class_number(name).map(|class| self.superclasses[usize::from(class)].iter());
        numbers.into_iter().flatten().map(|&class| &self.classes[usize::from(class)]).collect()
    }

    /// Whether the server constructs memberOf, as Active Directory does.
    pub(crate) fn has_member_of(&self) -> bool {
        self.resolve(b"memberOf").is_some_and(|id| self.attribute(id).computed)
    }

    /// Undeclared types of entries, treated as directory strings with caseIgnoreMatch.
    pub fn undeclared(&self) -> impl Iterator<Item = &str> {
        self.types.iter().filter(|kind| !kind.declared).map(AttributeType::name)
    }

    /// The matching rule for values of a type in names: caseIgnoreMatch for types without an equality rule.
    #[inline]
    pub(crate) fn naming_rule(&self, id: AttributeId) -> Matching {
        self.attribute(id).equality.map_or(Matching::CaseIgnore, |rule| rule.matching)
    }

    /// The type of a description, declared if unknown; `None` if the description is malformed or there are
    /// too many undeclared types.
    pub(crate) fn resolve_or_declare(&mut self, description: &[u8]) -> Option<AttributeId> {
        if let Some(id) = self.resolve(description) {
            return Some(id);
        }
        let name = self.declarable(description)?;
        self.undeclared += 1;
        Some(self.insert_type(undeclared_type(name)))
    }

    /// The name of the type that a description would declare, if there is room for another type.
    fn declarable<'d>(&self, description: &'d [u8]) -> Option<&'d str> {
        let has_room = self.undeclared < MAX_UNDECLARED && !has_too_many_options(description);
        std::str::from_utf8(base(description)).ok().filter(|name| has_room && is_descriptor(name))
    }

    /// Whether a description has an unknown type that can be declared.
    pub(crate) fn may_declare(&self, description: &[u8]) -> bool {
        self.resolve(description).is_none() && self.declarable(description).is_some()
    }

    fn define_type(&mut self, definition: &Definition) -> Result<(), SchemaError> {
        let superior = match definition.word("SUP") {
            Some(name) => Some(
                self.resolve(name.as_bytes())
                    .ok_or_else(|| definition.malformed(format!("unknown superior type {name:?}")))?,
            ),
            None => None,
        };
        let inherited = superior.map(|id| self.attribute(id));
        let named_rule = |field: &str, inherited: Option<&'static MatchingRule>| {
            let Some(name) = definition.word(field) else {
                return Ok(inherited);
            };
            rule(name.as_bytes())
                .map(Some)
                .ok_or_else(|| definition.malformed(format!("unknown matching rule {name:?}")))
        };
        let syntax_oid = match (definition.word("SYNTAX"), inherited) {
            // A bound on the length, as in SYNTAX 1.2.3{64}, is a recommendation (RFC 4512 4.1.2).
            (Some(oid), _) => oid.split('{').next().unwrap_or(oid).to_owned(),
            (None, Some(superior)) => superior.syntax_oid.clone(),
            (None, None) => return Err(definition.malformed("neither SUP nor SYNTAX")),
        };
        let kind = AttributeType {
            oid: definition.oid.clone(),
            names: definition.words("NAME").to_vec(),
            description: definition.word("DESC").map(str::to_owned),
            superior,
            equality: match definition.oid.as_str() {
                OBJECT_CATEGORY => Some(&CATEGORY_RULE),
                OBJECT_SID => Some(&SID_RULE),
                _ => named_rule("EQUALITY", inherited.and_then(|kind| kind.equality))?,
            },
            ordering: named_rule("ORDERING", inherited.and_then(|kind| kind.ordering))?,
            substrings: named_rule("SUBSTR", inherited.and_then(|kind| kind.substrings))?,
            syntax: Syntax::of(&syntax_oid),
            syntax_oid,
            single_valued: definition.has("SINGLE-VALUE"),
            read_only: definition.has("NO-USER-MODIFICATION"),
            computed: definition.has("NO-USER-MODIFICATION") || definition.oid == ENTRY_TTL,
            usage: usage(definition, inherited)?,
            declared: true,
        };
        self.insert_type(kind);
        Ok(())
    }

    fn define_class(&mut self, definition: &Definition) -> Result<(), SchemaError> {
        let kind = match (definition.has("ABSTRACT"), definition.has("AUXILIARY")) {
            (true, _) => ClassKind::Abstract,
            (_, true) => ClassKind::Auxiliary,
            _ => ClassKind::Structural,
        };
        let superiors = definition.words("SUP").to_vec();
        if let Some(unknown) = superiors.iter().find(|name| self.class(name.as_bytes()).is_none()) {
            return Err(definition.malformed(format!("unknown superior class {unknown:?}")));
        }
        let class = ObjectClass {
            oid: definition.oid.clone(),
            names: definition.words("NAME").to_vec(),
            description: definition.word("DESC").map(str::to_owned),
            superiors,
            kind,
            must: definition.words("MUST").to_vec(),
            may: definition.words("MAY").to_vec(),
        };
        let number = self.class_names.get(class.oid.as_bytes()).unwrap_or(self.classes.len() as u16);
        for name in class.names.iter().chain([&class.oid]) {
            self.class_names.insert(name.as_bytes(), number);
        }
        let chain = self.superclasses_of(number, &class.superiors);
        self.stamp = next_stamp();
        match self.classes.get_mut(usize::from(number)) {
            Some(known) => {
                *known = class;
                self.superclasses[usize::from(number)] = chain;
            }
            None => {
                self.classes.push(class);
                self.superclasses.push(chain);
            }
        }
        Ok(())
    }

    /// The class and all its direct and indirect superclasses, each once.
    fn superclasses_of(&self, number: u16, superiors: &[String]) -> Vec<u16> {
        let direct = superiors.iter().filter_map(|name| self.class_number(name.as_bytes()));
        let mut chain: Vec<u16> = std::iter::once(number).chain(direct).collect();
        let mut at = 1;
        while let Some(&class) = chain.get(at) {
            for &superior in &self.superclasses[usize::from(class)] {
                if !chain.contains(&superior) {
                    chain.push(superior);
                }
            }
            at += 1;
        }
        chain
    }

    fn insert_type(&mut self, kind: AttributeType) -> AttributeId {
        let number = self.type_names.get(kind.oid.as_bytes()).unwrap_or(self.types.len() as u16);
        for name in kind.names.iter().chain([&kind.oid]) {
            self.type_names.insert(name.as_bytes(), number);
        }
        let id = AttributeId(number);
        if kind.oid == OBJECT_CLASS {
            self.object_class = Some(id);
        }
        match self.types.get_mut(usize::from(number)) {
            Some(known) => {
                *known = kind;
                // The replaced definition may have had another supertype.
                self.subtypes.iter_mut().for_each(|listed| listed.retain(|subtype| *subtype != id));
            }
            None => {
                self.types.push(kind);
                self.subtypes.push(Vec::new());
            }
        }
        self.list_subtype(id);
        self.stamp = next_stamp();
        id
    }

    /// Adds a type to the subtypes of itself and of each of its supertypes.
    fn list_subtype(&mut self, id: AttributeId) {
        let mut current = Some(id);
        while let Some(ancestor) = current {
            let listed = &mut self.subtypes[usize::from(ancestor.0)];
            if !listed.contains(&id) {
                listed.push(id);
            }
            current = self.attribute(ancestor).superior;
        }
    }
}

/// A description without its options (RFC 4512 section 2.5).
#[inline]
pub(crate) fn base(description: &[u8]) -> &[u8] {
    let end = description.iter().position(|&byte| byte == b';').unwrap_or(description.len());
    &description[..end]
}

/// The most options of one description. Each requested option is searched among the stored options. In
/// practice, descriptions have a language option and a transfer option at most.
const MAX_OPTIONS: usize = 32;

/// Whether a description has more options than [`MAX_OPTIONS`].
fn has_too_many_options(description: &[u8]) -> bool {
    description.iter().filter(|byte| **byte == b';').nth(MAX_OPTIONS).is_some()
}

/// Whether a name is a descriptor by RFC 4512 section 1.4. Underscores are allowed too: they are common.
fn is_descriptor(name: &str) -> bool {
    let numeric = name.starts_with(|c: char| c.is_ascii_digit());
    let allowed = |c: char| match numeric {
        true => c.is_ascii_digit() || c == '.',
        false => c.is_ascii_alphanumeric() || c == '-' || c == '_',
    };
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed) && name.len() <= 128
}

fn usage(definition: &Definition, inherited: Option<&AttributeType>) -> Result<Usage, SchemaError> {
    match definition.word("USAGE").map(str::to_ascii_lowercase).as_deref() {
        None => Ok(inherited.map_or(Usage::UserApplications, |kind| kind.usage)),
        Some("userapplications") => Ok(Usage::UserApplications),
        Some("directoryoperation") => Ok(Usage::DirectoryOperation),
        Some("distributedoperation") => Ok(Usage::DistributedOperation),
        Some("dsaoperation") => Ok(Usage::DsaOperation),
        Some(other) => Err(definition.malformed(format!("unknown usage {other:?}"))),
    }
}

fn undeclared_type(name: &str) -> AttributeType {
    AttributeType {
        oid: name.to_owned(),
        names: vec![name.to_owned()],
        description: None,
        superior: None,
        equality: rule(b"caseIgnoreMatch"),
        ordering: rule(b"caseIgnoreOrderingMatch"),
        substrings: rule(b"caseIgnoreSubstringsMatch"),
        syntax_oid: format!("{}15", syntax::ARC),
        syntax: Syntax::Anything,
        single_valued: false,
        read_only: false,
        computed: false,
        usage: Usage::UserApplications,
        declared: false,
    }
}
