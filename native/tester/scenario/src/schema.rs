//! The JSON Schema of scenario files, by which text editors complete and check them.

use serde_json::{Map, Value, json};

use crate::form::{Kind, REQUIRED, VERBS, keys};

/// The JSON Schema of scenario files.
///
/// The schema follows draft 4, which the checker of TOML editors (taplo) reads. It is flat: one object with
/// the keys of all verbs. With a schema per verb (`anyOf`) an editor could only report that a step with a
/// misspelled key fits none of them.
pub fn schema() -> Value {
    let mut step: Vec<&str> = Vec::new();
    for table in VERBS.iter().flat_map(|verb| verb.tables) {
        if !step.contains(table) {
            step.push(table);
        }
    }
    let operation = [&["operation", "card"], &step[..]].concat();
    let mut definitions = Map::new();
    for table in ["load", "connection", "data", "class", "start", "expect", "identity", "control", "change"] {
        definitions.insert(table.to_owned(), object(&[table], true));
    }
    definitions.insert("step".to_owned(), object(&step, false));
    definitions.insert("operation".to_owned(), object(&operation, false));
    // The keywords of objects apply to objects only, so a second type needs no `anyOf`.
    let mut capture = object(&["capture"], true);
    capture["type"] = json!(["string", "object"]);
    definitions.insert("capture".to_owned(), capture);
    let mut schema = object(&["scenario"], true);
    schema["$schema"] = json!("http://json-schema.org/draft-04/schema#");
    schema["title"] = json!("sitebench scenario");
    schema["definitions"] = Value::Object(definitions);
    schema
}

fn object(tables: &[&str], with_required: bool) -> Value {
    let mut properties = Map::new();
    for key in keys(tables) {
        // A key of several verbs is written once, with its first meaning.
        if !properties.contains_key(key.name) {
            let mut property = of(key.kind);
            property["description"] = json!(key.about);
            properties.insert(key.name.to_owned(), property);
        }
    }
    let mut object = json!({"type": "object", "additionalProperties": false, "properties": properties});
    let required: Vec<_> = keys(tables).filter(|key| key.default == REQUIRED).map(|key| key.name).collect();
    if with_required && !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn of(kind: Kind) -> Value {
    match kind {
        Kind::Table(name) => json!({"$ref": format!("#/definitions/{name}")}),
        Kind::Capture => json!({"$ref": "#/definitions/capture"}),
        Kind::Map(kind) => json!({"type": "object", "additionalProperties": of(*kind)}),
        Kind::Steps => json!({"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/step"}}),
        Kind::Operations => {
            json!({"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/operation"}})
        }
        Kind::Word(words) => json!({"enum": words}),
        Kind::Int(least, _) => json!({"type": "integer", "minimum": least}),
        Kind::Number => json!({"type": "number"}),
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Texts | Kind::Stages => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Ints => json!({"type": "array", "items": {"type": "integer"}}),
        Kind::Per => {
            json!({"anyOf": [{"enum": ["user", "iteration", "step"]}, {"type": "integer", "minimum": 1}]})
        }
        Kind::Tls => json!({"enum": [true, false, "starttls"]}),
        Kind::Times | Kind::Count => json!({"type": ["integer", "string"]}),
        Kind::Templates => json!({"type": ["string", "array"]}),
        Kind::Results | Kind::Statuses => json!({"type": ["integer", "string", "array"]}),
        Kind::Entry => json!({"type": ["string", "object"]}),
        Kind::Changes => {
            let mut changes = object(&["change"], true);
            changes["type"] = json!(["object", "array"]);
            changes["items"] = json!({"$ref": "#/definitions/change"});
            changes
        }
        Kind::Controls => {
            let mut controls = object(&["controls"], false);
            controls["patternProperties"] = json!({r"^[0-2](\.[0-9]+)+$": {"$ref": "#/definitions/control"}});
            controls
        }
        Kind::Value | Kind::Values | Kind::Json | Kind::Default => json!({}),
        _ => json!({"type": "string"}),
    }
}
