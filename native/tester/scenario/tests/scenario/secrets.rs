//! Columns that are secret and shown nowhere.

use scenario::{Scenario, VERBS};

/// The secret columns among `name` and `word` in a file that uses them in these lines.
fn secret(lines: &str) -> Vec<String> {
    let text = format!("data.u.file = \"u.csv\"\n{lines}");
    let columns = |_: &scenario::Data| Some(vec!["name".to_owned(), "word".to_owned()]);
    let scenario: Scenario =
        scenario::read_with(&text, &columns).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    scenario.secret_columns(&scenario.data[0])
}

/// Verbs, whether `word` is secret there, and steps that send or expect `word`.
const STEPS: &[(&str, bool, &str)] = &[
    ("bind", true, "bind = 'uid={u.name},dc=x', password = '{u.word}'"),
    ("bind", true, "bind = '{u.name}', password = '{u.word}', sasl = 'PLAIN'"),
    ("search", true, "search = '(&(cn={u.name})(userPassword={u.word}))'"),
    ("search", true, "search = '(|(userPassword;x-y:caseExactMatch:=a{u.word})(cn={u.name}))'"),
    ("search", true, "search = '(cn={u.name})', expect.entry.userPassword = '{u.word}'"),
    ("search", true, "search = '(cn={u.name})', control.assertion = '(userPassword={u.word})'"),
    ("search", true, "search = '(cn={u.name})', control.'1.2.3' = { value = '{u.word}' }"),
    ("search", false, "search = '(&(userPassword=*)(cn={u.name}{u.word}))'"),
    ("compare", true, "compare = 'uid={u.name},dc=x', entry.userPassword = '{u.word}'"),
    ("compare", false, "compare = 'uid={u.name},dc=x', entry.cn = '{u.word}'"),
    (
        "add",
        true,
        "add = 'uid={u.name},dc=x', keep = true, entry = { cn = 'x', unicodePwd = { utf16 = '{u.word}' } }",
    ),
    ("modify", true, "modify = 'uid={u.name},dc=x', change.add.userPassword = ['{u.word}']"),
    (
        "modify",
        true,
        "modify = 'uid={u.name},dc=x', change = [{ delete.userPassword = '{u.word}' }, { add.cn = 'x' }]",
    ),
    ("modify_dn", false, "modify_dn = 'uid={u.name},dc=x', new_rdn = 'uid={u.word}'"),
    ("delete", false, "delete = 'uid={u.name},ou={u.word},dc=x'"),
    ("password_modify", true, "password_modify = 'uid={u.name},dc=x', old_password = '{u.word}'"),
    ("password_modify", true, "password_modify = 'uid={u.name},dc=x', new_password = 'new-{u.word}'"),
    ("refresh", false, "refresh = 'uid={u.name},ou={u.word},dc=x', ttl = '1m'"),
    ("extended", true, "extended = '1.3.6.1.4.1.4203.1.11.1', value = '{u.word}'"),
    ("extended", true, "extended = '1.2.3', value = { base64 = '{u.word}' }"),
    ("who_am_i", false, "search = '(cn={u.name}{u.word})' }, { who_am_i = true, capture.me = 'authzId'"),
    ("get", true, "get = '/{u.name}?a=b&reset_token={u.word}'"),
    ("get", true, "get = '/{u.name}', headers.Authorization = 'Basic {u.word}'"),
    ("get", true, "get = '/{u.name}', headers.X-Auth-Token = '{u.word}'"),
    // A user's number in a cookie is not secret.
    ("get", false, "get = '/', headers.Cookie = '{u.name}={u.word}'"),
    ("get", false, "get = '/{u.name}', expect.contains = '{u.word}'"),
    ("head", true, "head = '/{u.name}?pin={u.word}'"),
    ("post", true, "post = '/{u.name}', form.pwd = '{u.word}'"),
    ("post", true, "post = '/', body = 'user={u.name}&password={u.word}'"),
    ("put", true, "put = '/{u.name}', json = { a = [{ secret = { b = '{u.word}' } }] }"),
    ("patch", true, "patch = '/{u.name}', json.passphrase = '{u.word}'"),
    ("file", false, "file = 'c', name = 'f' }, { get = '/{u.name}{u.word}'"),
    ("program", false, "program = 'cgi', size = 1, name = 'p' }, { get = '/{u.name}{u.word}'"),
    ("unbind", false, "search = '(cn={u.name}{u.word})' }, { unbind = 'main'"),
    ("think", false, "search = '(cn={u.name}{u.word})' }, { think = '1s'"),
    ("repeat", true, "repeat = 2, step = [{ search = '(&(cn={u.name})(userPassword={u.word}))' }]"),
];

#[test]
fn a_column_used_in_a_password_is_secret_for_every_verb() {
    for (verb, is_secret, step) in STEPS {
        let files = if *verb == "file" { "files.set.c = { sizes = [1] }\n" } else { "" };
        let expected: &[&str] = if *is_secret { &["word"] } else { &[] };
        assert_eq!(
            secret(&format!("{files}[[operation]]\nname = 'o'\nstep = [{{ {step} }}]")),
            expected,
            "{step}"
        );
    }
}

#[test]
fn every_verb_has_a_step_in_the_table_of_secrets() {
    for verb in VERBS.iter().map(|verb| verb.name) {
        assert!(STEPS.iter().any(|(known, ..)| *known == verb), "{verb}");
    }
}

#[test]
fn secrets_of_connections_and_headers_are_recognised_like_secrets_of_steps() {
    let operation = "[[operation]]\nsearch = '(cn={u.name})'";
    let bound = format!(
        "connection.main = {{ per = 'iteration', bind = '{{u.name}}', password = '{{u.word}}' }}\n{operation}"
    );
    assert_eq!(secret(&bound), ["word"]);
    assert_eq!(
        secret("headers.Authorization = 'Bearer {u.word}'\n[[operation]]\nget = '/{u.name}'"),
        ["word"]
    );
    assert_eq!(
        secret(
            "values.v = 'x{u.word}'\n[[operation]]\nname = 'o'\nstep = [{ bind = '{u.name}', password = '{v}' }]"
        ),
        ["word"]
    );
}
