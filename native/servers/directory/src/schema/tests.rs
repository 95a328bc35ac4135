use super::*;

fn schema() -> Schema {
    let mut schema = Schema::default();
    schema.load(include_str!("definitions/standard.schema")).unwrap();
    schema
}

#[test]
fn the_built_in_definitions_are_valid_and_name_only_defined_types() {
    let schema = schema();
    for class in schema.classes() {
        for name in class.must.iter().chain(&class.may) {
            assert!(schema.resolve(name.as_bytes()).is_some(), "{} of {}", name, class.name());
        }
    }
    for (_, kind) in schema.attributes() {
        let listed =
            syntax::SYNTAXES.iter().any(|(last, _)| kind.syntax_oid == format!("{}{last}", syntax::ARC));
        assert!(listed || kind.syntax_oid == syntax::UUID, "{}", kind.name());
    }
}

#[test]
fn a_type_lookup_accepts_name_alias_or_identifier_in_any_case_with_any_option() {
    let schema = schema();
    let cn = schema.resolve(b"cn").unwrap();
    for description in ["CN", "commonName", "COMMONNAME", "2.5.4.3", "cn;lang-de", "Cn;x;y"] {
        assert_eq!(schema.resolve(description.as_bytes()), Some(cn), "{description}");
    }
    assert_eq!(schema.canonical_name(cn), "cn");
    assert!(schema.is_a(cn, schema.resolve(b"name").unwrap()));
    assert_eq!(schema.attribute(cn).equality.unwrap().name, "caseIgnoreMatch");
    assert_eq!(schema.resolve(b"nothing"), None);
}

#[test]
fn object_classes_list_their_superclasses() {
    let schema = schema();
    let chain: Vec<&str> = schema.class_chain(b"INETORGPERSON").iter().map(|class| class.name()).collect();
    assert_eq!(chain, ["inetOrgPerson", "organizationalPerson", "person", "top"]);
    assert!(schema.class_chain(b"unheardOf").is_empty());
}

#[test]
fn the_published_subschema_can_be_loaded_into_an_equal_schema() {
    let first = schema();
    let mut second = Schema::default();
    for (attribute, values) in first.subschema() {
        let keyword = match attribute {
            "attributeTypes" => "attributetype",
            "objectClasses" => "objectclass",
            _ => continue,
        };
        for value in values {
            second.load(&format!("{keyword} {value}")).unwrap();
        }
    }
    assert_eq!(first.subschema(), second.subschema());
}

#[test]
fn entries_may_declare_new_types_up_to_a_limit() {
    let mut schema = schema();
    let id = schema.resolve_or_declare(b"favouriteColour;x-a").unwrap();
    assert_eq!(schema.resolve(b"FAVOURITECOLOUR"), Some(id));
    assert_eq!(schema.undeclared().collect::<Vec<_>>(), ["favouriteColour"]);
    assert_eq!(schema.resolve_or_declare(b"not a name"), None);
    assert_eq!(schema.resolve_or_declare(b""), None);
    let declared =
        (0..2 * MAX_UNDECLARED).filter(|i| schema.resolve_or_declare(format!("x{i}").as_bytes()).is_some());
    assert_eq!(declared.count(), MAX_UNDECLARED - 1);
}

#[test]
fn a_schema_error_names_its_line_and_its_cause() {
    let mut schema = schema();
    let line = |text: &str, schema: &mut Schema| schema.load(text).unwrap_err().to_string();
    let unknown = line("\n\nattributetype ( 1.2.3 NAME 'x' EQUALITY noSuchMatch SYNTAX 1.2 )", &mut schema);
    assert!(unknown.starts_with("schema line 3: unknown matching rule \"noSuchMatch\""), "{unknown}");
    for text in
        ["attributetype ( 1.2", "attributetype 1.2", "( 1.2 )", "attributetype ( 1.2 NAME 'x )", "x ( 1 )"]
    {
        assert!(schema.load(text).is_err(), "{text}");
    }
}

#[test]
fn a_schema_file_may_define_names_for_object_identifiers() {
    let mut schema = schema();
    let text = "objectidentifier root 1.3.6.1.4.1.4203.666\nobjectIdentifier kinds root:7\n\
                attributetype ( kinds:1 NAME ( 'colour' 'color' ) SUP name )";
    schema.load(text).unwrap();
    assert_eq!(schema.resolve(b"1.3.6.1.4.1.4203.666.7.1"), schema.resolve(b"color"));
}
