//! The JSON Schema accepts the same keys and values as the reader, as far as a schema can.

use scenario::{FORM, VERBS, VerbForm, schema};

#[test]
fn every_schema_reference_is_defined_and_every_key_is_in_the_schema() {
    let schema = schema();
    let text = schema.to_string();
    let definitions = schema["definitions"].as_object().unwrap();
    for part in text.split("\"#/definitions/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
    for (table, keys) in FORM.iter().filter(|(table, _)| *table != "value") {
        for key in *keys {
            assert!(text.contains(&format!("\"{}\":{{", key.name)), "{table}.{}", key.name);
        }
    }
    assert!(text.len() < 32 << 10, "{} bytes: flat", text.len());
    assert_eq!(definitions["step"]["properties"]["search"]["description"], "a filter");
}

#[test]
fn a_step_has_the_keys_of_all_verbs_and_no_other_keys() {
    let schema = schema();
    let step = &schema["definitions"]["step"];
    assert_eq!(step["additionalProperties"], false);
    for VerbForm { name: verb, tables, .. } in VERBS {
        assert!(step["properties"][verb].is_object(), "{verb}");
        assert!(tables.iter().all(|table| FORM.iter().any(|(known, _)| known == table)), "{verb}");
    }
    assert!(step["properties"]["serach"].is_null());
    // If a value fits none of several forms, an editor's message names no key. Therefore several forms are
    // used only where a word and a number are allowed.
    let text = schema.to_string();
    assert_eq!(text.matches("anyOf").count(), 1, "the life of a connection");
}
