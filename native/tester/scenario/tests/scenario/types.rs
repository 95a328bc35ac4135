//! The values of a file are read into their types.

use std::time::Duration;

use scenario::*;
use wire::ldap::Scope;

fn example(name: &str) -> Scenario {
    let text = std::fs::read_to_string(crate::folder().join(format!("{name}.toml"))).unwrap();
    read(&text).unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

fn template(text: &str) -> Template {
    Template::read(text).unwrap()
}

fn text(text: &str) -> Value {
    Value { text: template(text), encoding: Encoding::Text }
}

#[test]
fn every_ldap_verb_is_read() {
    let scenario = example("everything-ldap");
    let steps = &scenario.operations[0].steps;
    let names: Vec<_> = steps.iter().map(|step| step.name.as_str()).collect();
    let expected = "add modify_dn password_modify modify refresh extended extended_2 delete search unbind";
    let expected = expected.split(" ").map(|name| name.replace("extended_", "extended "));
    assert!(names[..10].iter().copied().eq(expected), "{names:?}");
    let cn = template("cn={cn},ou={team},{base}");
    let Verb::Add { dn, entry: Entry::Attributes(attributes), keep: false } = &steps[0].verb else {
        panic!()
    };
    assert_eq!(*dn, cn);
    let photo = Value { text: template("photo.jpg"), encoding: Encoding::File };
    assert_eq!(
        attributes[..],
        [("objectClass", text("person")), ("cn", text("{cn}")), ("sn", text("x")), ("jpegPhoto", photo)]
            .map(|(name, value)| (name.to_owned(), vec![value]))
    );
    assert_eq!(
        steps[1].verb,
        Verb::ModifyDn {
            dn: cn,
            new_rdn: template("cn={cn}-2"),
            delete_old_rdn: true,
            new_superior: Some(template("ou=green,{base}")),
        }
    );
    let dn = template("cn={cn}-2,ou=green,{base}");
    let new_password = Some(template("{account.password}"));
    assert_eq!(steps[2].verb, Verb::PasswordModify { dn: dn.clone(), old_password: None, new_password });
    assert_eq!(
        steps[2].captures,
        [Capture {
            name: "generated".to_owned(),
            from: Source::Attribute("genPasswd".to_owned()),
            take: Take::First,
            default: None,
        }]
    );
    let change = |kind, attribute: &str, values| Change { kind, attribute: attribute.to_owned(), values };
    let changes = vec![
        change(ChangeKind::Delete, "description", vec![]),
        change(ChangeKind::Add, "description", vec![text("{now:ldap}")]),
        change(ChangeKind::Increment, "uidNumber", vec![text("1")]),
    ];
    assert_eq!(steps[3].verb, Verb::Modify { dn: dn.clone(), changes });
    assert_eq!(
        steps[3].controls,
        [
            Control::ProxiedAuthorization(template("dn:cn=a,{base}")),
            Control::Assertion(template("(sn=x)")),
            Control::PostRead(vec!["description".to_owned()]),
        ]
    );
    assert_eq!(steps[3].expect.results, [Code::Number(0), Code::Number(122)]);
    assert_eq!(steps[4].verb, Verb::Refresh { dn: dn.clone(), ttl: Duration::from_secs(600) });
    assert_eq!(steps[5].verb, Verb::Extended { oid: "1.3.6.1.4.1.4203.1.11.3".to_owned(), value: None });
    let value = |text, encoding| Some(Value { text: template(text), encoding });
    assert_eq!(
        steps[6].verb,
        Verb::Extended { oid: "1.2.3.4".to_owned(), value: value("3003", Encoding::Hex) }
    );
    assert_eq!(
        steps[6].controls,
        [Control::Other { oid: "1.2.3".to_owned(), critical: true, value: value("AAE=", Encoding::Base64) }]
    );
    assert_eq!((&steps[7].verb, &steps[7].controls[..]), (&Verb::Delete { dn }, &[Control::ManageDsaIt][..]));
    assert_eq!(
        steps[8].verb,
        Verb::Search(Box::new(Search {
            filter: template("(&(cn={cn})(ou={team}))"),
            base: template("{base}"),
            scope: Scope::One,
            attributes: vec!["1.1".to_owned()],
            size_limit: 10,
            time_limit: Duration::from_secs(5),
            types_only: true,
            deref: Deref::Always,
            page_size: None,
        }))
    );
    assert_eq!(steps[8].expect.entries, Some(Count::Exactly(0)));
    assert_eq!(steps[9].verb, Verb::Unbind { connection: "main".to_owned() });
    assert_eq!(steps[10].verb, Verb::Think { mean: Duration::from_millis(10), constant: false });
    let main = &scenario.connections[0];
    assert_eq!((main.sasl, main.bind.clone()), (Some(Sasl::Plain), Some(template("u:service"))));
    assert_eq!(
        scenario.data[1],
        Data {
            name: "account".to_owned(),
            rows: Rows::File { path: "accounts.tsv".to_owned(), separator: '\t', header: true },
            columns: None,
            deal: Some(Deal::Once),
            per_user: false,
            secret: vec![],
        }
    );
}

#[test]
fn http_bodies_headers_and_expectations_are_read() {
    let scenario = example("login-once");
    assert_eq!(scenario.headers, [("Authorization".to_owned(), template("Bearer {token}"))]);
    assert_eq!(scenario.load.users, Some(50));
    let Verb::Request(login) = &scenario.start[0].verb else { panic!() };
    assert_eq!((login.method, &login.path), ("POST", &template("/api/login")));
    let fields = [("user", "{account.user}"), ("password", "{account.password}")];
    let fields = fields.map(|(name, value)| (name.to_owned(), Json::Text(template(value))));
    assert_eq!(login.body, Some(Body::Json(Json::Object(fields.to_vec()))));
    assert_eq!(scenario.start[0].captures[0].from, Source::Json("/token".to_owned()));
    let order = &scenario.operations[1];
    // The weights in the file are 8 and 2.
    assert_eq!([scenario.operations[0].weight, order.weight], [4, 1]);
    assert_eq!(order.objective.as_deref(), Some("p99<200ms"));
    let Verb::Request(cancel) = &order.steps[2].verb else { panic!() };
    assert_eq!(
        (cancel.method, &order.steps[2].expect.statuses[..]),
        ("DELETE", &[Code::Number(200), Code::Number(204)][..])
    );

    let session = &example("login-csrf").operations[0];
    assert!(session.page);
    let identity = session.steps[2].expect.identity.clone().unwrap();
    assert_eq!((identity.before.as_str(), identity.until.as_str()), ("data-user=\"", "\""));
    assert_eq!(session.steps[1].expect.headers, [("Location".to_owned(), template("/"))]);
    let Verb::Repeat { times: Times::Number(2), steps } = &session.steps[3].verb else { panic!() };
    assert_eq!(steps.len(), 2);
}

#[test]
fn connections_stages_and_files_are_read() {
    let scenario = example("logins");
    assert_eq!(scenario.load.stages.as_deref(), Some("30s:100,60s:500"));
    let [login, service] = &scenario.connections[..] else { panic!("main is used by no step") };
    assert_eq!((login.lives, login.is_shared()), (Lifetime::Iteration, false));
    assert_eq!((service.lives, service.outstanding, service.is_shared()), (Lifetime::Pool(8), 4, true));
    assert_eq!(scenario.operations[0].steps[1].expect.results, [Code::Field(template("{account.expected}"))]);

    let scenario = example("ecommerce-cgi");
    assert!(scenario.connections.iter().all(|each| each.http_1_0 && each.lives == Lifetime::Step));
    assert_eq!(scenario.connections[1].tls, Some(Tls::Always));
    let files = scenario.files.unwrap();
    assert_eq!((files.name.as_str(), files.classes.len()), ("webbench3-like", 7));
    let first = &files.classes[0];
    assert_eq!((first.name.as_str(), first.spread, first.count), ("223b-1k", Some((223, 1000)), Some(1347)));
    let names: Vec<_> = scenario.operations.iter().map(|each| each.name.as_str()).collect();
    assert_eq!((names[0], names[7], names[14]), ("223b-1k", "223b-1k-tls", "cgi"));
    let Verb::Program { program, size: Some(6250), size_about: None, random: false } =
        &scenario.operations[14].steps[0].verb
    else {
        panic!()
    };
    assert_eq!(program, "cgi");
}

#[test]
fn repeats_over_lists_and_expected_rows_are_read() {
    let scenario = example("search-and-mod-rate");
    let steps = &scenario.operations[0].steps;
    assert_eq!(steps[0].captures[0].take, Take::All);
    let Verb::Repeat { times, steps } = &steps[1].verb else { panic!() };
    assert_eq!(*times, Times::Each("found".to_owned()));
    assert_eq!(steps[0].controls, [Control::PermissiveModify]);
    let row = Some(Entry::Row("person".to_owned()));
    assert_eq!(example("lookup").operations[0].steps[0].expect.entry, row);
    assert_eq!(example("lookup").connections[0].lives, Lifetime::Operations(100));
    let keys = [("sn", false), ("givenName", true)];
    let keys = keys.map(|(attribute, reverse)| SortKey { attribute: attribute.to_owned(), reverse });
    assert_eq!(example("paging").operations[0].steps[0].controls, [Control::Sort(keys.to_vec())]);
}

#[test]
fn a_value_is_drawn_after_the_rows_and_values_that_it_uses() {
    let scenario = read(
        r#"
        [data]
        person.people = "seeded"
        team.values = ["red", "green"]
        [values]
        mail = "{name}@{team}"
        name = "{person.cn}-{uuid}"
        [[operation]]
        name = "x"
        step = [
          { repeat = 2, step = [{ search = "(mail={mail})" }, { repeat = 3, step = [{ search = "(ou={team})" }] }] },
          { repeat = 2, step = [{ search = "(cn={name})" }, { search = "(uid={uuid})" }, { search = "(uid={uuid})" }] },
        ]
        "#,
    )
    .unwrap();
    let order: Vec<_> = scenario.values.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(order, ["name", "mail"], "each after those that it uses");
    let draws: Vec<_> = scenario
        .draws
        .iter()
        .map(|draw| match &draw.what {
            Drawn::Value(name) | Drawn::Row(name) => {
                format!("{name} at {}", scenario.block_name(&draw.block))
            }
            Drawn::Generator(field) => format!("{field} at {}", scenario.block_name(&draw.block)),
        })
        .collect();
    assert_eq!(
        draws,
        [
            "name at x",
            "person at x",
            "mail at x > repeat 1",
            "team at x > repeat 1",
            "{uuid} at x > repeat 2"
        ]
    );
}

#[test]
fn rows_used_by_a_connection_or_header_are_drawn_in_the_blocks_that_use_it() {
    let text = r#"
        data.account.file = "accounts.csv"
        [connection.login]
        per = "step"
        bind = "uid={account.uid},{base}"
        password = "{account.password}"
        [[operation]]
        name = "x"
        step = [{ repeat = 2, step = [{ search = "(a=b)", on = "login" }] }]
        [[operation]]
        search = "(a=b)"
        "#;
    let scenario = read(text).unwrap();
    let block = Block { operation: Some(0), repeats: vec![0] };
    assert_eq!(scenario.draws, [Draw { block, what: Drawn::Row("account".to_owned()) }]);
    // A connection of the iteration is bound once in the iteration.
    let scenario = read(&text.replace("\"step\"", "\"iteration\"")).unwrap();
    let block = Block { operation: Some(0), repeats: vec![] };
    assert_eq!(scenario.draws, [Draw { block, what: Drawn::Row("account".to_owned()) }]);

    let scenario = read(
        r#"
        headers.X-Id = "{uuid}"
        [[operation]]
        get = "/"
        [[operation]]
        name = "own"
        get = "/"
        headers.x-id = "1"
        "#,
    )
    .unwrap();
    let block = Block { operation: Some(0), repeats: vec![] };
    assert_eq!(scenario.draws, [Draw { block, what: Drawn::Generator(Field::Uuid) }]);
}

#[test]
fn an_operation_that_consists_of_a_repeat_is_a_block() {
    let scenario = read("[[operation]]\nrepeat = 2\nstep = [{ search = '(uid={uuid})' }]").unwrap();
    let block = Block { operation: Some(0), repeats: vec![0] };
    assert_eq!(scenario.operations[0].name, "repeat");
    assert_eq!(scenario.draws, [Draw { block, what: Drawn::Generator(Field::Uuid) }]);
}

#[test]
fn a_field_after_an_escaped_comma_belongs_to_the_value() {
    let scenario = read("[[operation]]\ndelete = 'cn=a\\,{user},{base}'").unwrap();
    assert_eq!(scenario.operations[0].steps[0].verb, Verb::Delete { dn: template("cn=a\\,{user},{base}") });
}

#[test]
fn an_added_entry_is_deleted_under_its_name_or_its_new_name() {
    for steps in [
        "{ add = 'cn=x', entry.cn = 'x' }, { delete = 'cn=x' }",
        "{ add = 'cn=x', entry.cn = 'x' }, { modify_dn = 'cn=x', new_rdn = 'cn=y' }, { delete = 'cn=y' }",
        "{ add = 'cn=x', entry.cn = 'x', keep = true }",
    ] {
        read(&format!("[[operation]]\nname = 'x'\nstep = [{steps}]")).unwrap();
    }
}

#[test]
fn who_am_i_is_read_only_and_other_extended_requests_may_change_data() {
    for (step, writes) in [
        ("who_am_i = true", false),
        ("extended = '1.3.6.1.4.1.4203.1.11.3'", false),
        ("extended = '1.2.3'", true),
    ] {
        let facts = read(&format!("[[operation]]\n{step}")).unwrap().facts();
        assert_eq!(facts["operations"][0]["writes"], writes, "{step}");
        assert_eq!(facts["operations"][0]["overwrites"], writes, "{step}");
    }
}
