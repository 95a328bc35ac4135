//! Reads the verbs of steps.

use std::collections::HashMap;

use toml::de::DeValue;
use wire::ldap::Scope;
use wire::ldap::oid::WHO_AM_I;

use super::Reader;
use super::table::{Item, Table};
use crate::form::Protocol;
use crate::grammar;
use crate::problem::{did_you_mean, nearest, quoted};
use crate::shape::{in_order, int, number, within};
use crate::template::Template;
use crate::types::{Body, Entry, Json, PAGED_RESULTS, Request, Rows, Sasl, Search, Times, Verb};

impl<'d, 't> Reader<'_, 'd, 't> {
    pub(super) fn verb(&mut self, step: Table<'d, 't>, verb: &'static str) -> Verb {
        match verb {
            "bind" => self.bind(step),
            "search" => Verb::Search(Box::new(self.search(step))),
            "compare" => Verb::Compare { dn: self.dn_of(step, "compare"), entry: self.assertion(step) },
            "add" => self.add(step),
            "modify" => Verb::Modify { dn: self.entry_dn(step, "modify"), changes: self.changes(step) },
            "modify_dn" => self.modify_dn(step),
            "delete" if self.protocol == Protocol::Ldap => {
                let dn = self.entry_dn(step, "delete");
                self.done.deletes.insert(dn.clone());
                Verb::Delete { dn }
            }
            "password_modify" => Verb::PasswordModify {
                dn: self.dn_of(step, "password_modify"),
                old_password: step.get("old_password").map(|value| self.secret(value)),
                new_password: step.get("new_password").map(|value| self.secret(value)),
            },
            "refresh" => {
                let ttl = step.duration("ttl").unwrap_or_default();
                Verb::Refresh { dn: self.entry_dn(step, "refresh"), ttl }
            }
            "extended" => {
                let oid = step.text("extended").unwrap_or_default();
                Verb::Extended { oid, value: step.get("value").map(|value| self.value(value)) }
            }
            "who_am_i" => {
                if !step.flag("who_am_i", true) {
                    self.wrong(
                        step.at("who_am_i"),
                        "is not asked with false: write true, or leave the step out",
                    );
                }
                Verb::Extended { oid: String::from_utf8_lossy(WHO_AM_I).into_owned(), value: None }
            }
            "unbind" => self.unbind(step),
            "file" => {
                let class = step.text("file").unwrap_or_default();
                if !self.classes.contains(&class) {
                    let near = did_you_mean(&class, self.classes.iter().map(String::as_str));
                    let class = quoted(&class);
                    self.wrong(step.at("file"), format!("no class of [files] is called {class}{near}"));
                }
                Verb::File { class }
            }
            "program" => {
                if step.has("size") == step.has("size_about") {
                    self.wrong(step.at("program"), "has neither or both of size and size_about: write one");
                } else if step.str("program") == Some("cgi-env") && step.has("size") {
                    self.wrong(
                        step.at("size"),
                        "an environment differs from server to server: write size_about",
                    );
                }
                Verb::Program {
                    program: step.text("program").unwrap_or_default(),
                    size: step.int("size"),
                    size_about: step.int("size_about"),
                    random: step.str("content") == Some("random"),
                }
            }
            "think" => Verb::Think {
                mean: step.duration("think").unwrap_or_default(),
                constant: step.str("distribution") == Some("constant"),
            },
            method => Verb::Request(Box::new(self.request(step, method))),
        }
    }

    pub(super) fn bind(&mut self, step: Table<'d, 't>) -> Verb {
        let sasl = step.word("sasl");
        let anonymous = step.str("bind").is_none_or(str::is_empty);
        match sasl {
            Some(Sasl::External) if step.has("password") => {
                self.wrong(step.at("password"), "EXTERNAL takes no password: the certificate says who it is");
            }
            Some(Sasl::External) => {}
            _ if !anonymous && !step.has("password") => {
                let what = "a bind with a name needs a password; write password = \"\" for an unauthenticated one \
                            (RFC 4513 5.1.2)";
                self.wrong(step.at("bind"), what);
            }
            _ => {}
        }
        Verb::Bind {
            bind: step.get("bind").map_or_else(Template::default, |value| self.bind_name(value, sasl)),
            password: step.get("password").map(|value| self.secret(value)),
            sasl,
            version: step.int("version").unwrap_or(3),
        }
    }

    pub(super) fn search(&mut self, step: Table<'d, 't>) -> Search {
        let base = step.get("base").map(|value| self.dn(value));
        self.names.base |= base.is_none();
        if step.has("page_size") {
            self.needs("page_size", PAGED_RESULTS, step.at("page_size"));
        }
        Search {
            filter: step.get("search").map_or_else(Template::default, |value| self.whole(value, "filter")),
            base: base.unwrap_or_else(|| Template::read("{base}").unwrap_or_default()),
            scope: match step.str("scope") {
                Some("base") => Scope::Base,
                Some("one") => Scope::One,
                Some("children") => Scope::Children,
                _ => Scope::Subtree,
            },
            attributes: self.attributes(step, "attributes"),
            size_limit: step.int("size_limit").unwrap_or(0),
            time_limit: step.duration("time_limit").unwrap_or_default(),
            types_only: step.flag("types_only", false),
            deref: step.word("deref").unwrap_or_default(),
            page_size: step.int("page_size"),
        }
    }

    /// Attributes to return, including `*`, `+`, `1.1` and `@class`.
    pub(super) fn attributes(&self, table: Table<'d, 't>, key: &str) -> Vec<String> {
        let names = table.texts(key);
        let special = |name: &str| {
            matches!(name, "*" | "+") || name.strip_prefix('@').is_some_and(grammar::is_attribute)
        };
        if let Some(name) = names.iter().find(|name| !grammar::is_attribute(name) && !special(name)) {
            self.wrong(table.at(key), format!("{} is not an attribute", quoted(name)));
        }
        names
    }

    pub(super) fn add(&mut self, step: Table<'d, 't>) -> Verb {
        let (dn, keep) = (self.entry_dn(step, "add"), step.flag("keep", false));
        let entry = self.entry(step);
        // New people are removed when the test ends.
        let data = if let Entry::Row(data) = &entry { self.names.data.get(data) } else { None };
        if !keep && !data.is_some_and(|data| matches!(data.what.rows, Rows::New)) {
            self.done.adds.push((step.at("add"), dn.clone()));
        }
        Verb::Add { dn, entry, keep }
    }

    pub(super) fn modify_dn(&mut self, step: Table<'d, 't>) -> Verb {
        self.done.renames = true;
        let rdn = step.str("new_rdn").unwrap_or_default();
        if let (Err((byte, what)), Some(value)) = (grammar::rdn(rdn), step.get("new_rdn")) {
            self.wrong(within(self.text, value.span(), rdn, byte), what);
        }
        Verb::ModifyDn {
            dn: self.entry_dn(step, "modify_dn"),
            new_rdn: self.dn_of(step, "new_rdn"),
            delete_old_rdn: step.flag("delete_old_rdn", true),
            new_superior: step.get("new_superior").map(|value| self.dn(value)),
        }
    }

    pub(super) fn unbind(&mut self, step: Table<'d, 't>) -> Verb {
        let connection = step.text("unbind").unwrap_or_default();
        match self.names.connections.get(&connection) {
            None => {
                let near = did_you_mean(&connection, self.names.connections.keys().map(String::as_str));
                self.wrong(
                    step.at("unbind"),
                    format!("no connection is called {}{near}", quoted(&connection)),
                );
            }
            Some(known) if known.what.is_shared() => {
                self.wrong(step.at("unbind"), "a step cannot close a connection that users share");
            }
            Some(_) => {}
        }
        Verb::Unbind { connection }
    }

    pub(super) fn repeat(&mut self, step: Table<'d, 't>, number: usize) -> Verb {
        let mut scope = HashMap::new();
        let times = match step.str("repeat") {
            Some(name) => {
                match self.names.list(name) {
                    Some(true) => {}
                    Some(false) => self.wrong(
                        step.at("repeat"),
                        format!("{} is one value: capture it with take = \"all\"", quoted(name)),
                    ),
                    None => {
                        let near = nearest(name, self.names.captures.iter().map(String::as_str));
                        // Defines the suggested name, so that its uses are not reported, too.
                        scope.extend(near.map(|near| (near.to_owned(), false)));
                        let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                        let what = "is neither a number nor a list that was captured before";
                        self.wrong(step.at("repeat"), format!("{} {what}{near}", quoted(name)));
                    }
                }
                scope.insert(name.to_owned(), false);
                Times::Each(name.to_owned())
            }
            None => Times::Number(step.int("repeat").unwrap_or(1)),
        };
        self.names.scopes.push(scope);
        self.names.block.repeats.push(number);
        let steps = self.steps(step);
        self.names.block.repeats.pop();
        self.names.scopes.pop();
        Verb::Repeat { times, steps }
    }

    pub(super) fn request(&mut self, step: Table<'d, 't>, verb: &str) -> Request {
        let path = step.get(verb).map_or_else(Template::default, |value| self.whole(value, "path"));
        let headers = self.headers_of(step);
        for (name, value) in self.headers.clone() {
            if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
                self.sent_with(value, &format!("{verb} {}", quoted(&path.to_string())));
            }
        }
        let bodies: Vec<_> = ["form", "json", "body"].into_iter().filter(|key| step.has(key)).collect();
        if bodies.len() > 1 {
            self.wrong(step.at(bodies[1]), format!("has several bodies: {}", bodies.join(", ")));
        } else if step.has("content_type") && !step.has("body") {
            self.wrong(step.at("content_type"), "is for body: form and json have their own");
        }
        if let Err((_, what)) = grammar::header_value(step.str("content_type").unwrap_or_default()) {
            self.wrong(step.at("content_type"), what);
        }
        let body = match bodies.first() {
            Some(&"form") => Some(Body::Form(self.named_texts(step, "form"))),
            Some(&"json") => step.get("json").map(|value| Body::Json(self.json(value))),
            Some(_) => {
                step.get("body").map(|value| Body::Text(self.template(value), step.text("content_type")))
            }
            None => None,
        };
        Request {
            method: match verb {
                "head" => "HEAD",
                "post" => "POST",
                "put" => "PUT",
                "patch" => "PATCH",
                "delete" => "DELETE",
                _ => "GET",
            },
            path,
            headers,
            body,
            escaped: step.word("match").unwrap_or_default(),
            follow: step.flag("follow", false),
        }
    }

    pub(super) fn json(&mut self, value: &Item<'t>) -> Json {
        match value.get_ref() {
            DeValue::Table(table) => {
                let fields = in_order(table).into_iter();
                Json::Object(fields.map(|(name, _, value)| (name.to_owned(), self.json(value))).collect())
            }
            DeValue::Array(list) => Json::List(list.iter().map(|item| self.json(item)).collect()),
            DeValue::String(_) => Json::Text(self.template(value)),
            DeValue::Boolean(flag) => Json::Literal(flag.to_string()),
            other => Json::Literal(match int(other) {
                Some(int) => int.to_string(),
                None => number(other)
                    .and_then(serde_json::Number::from_f64)
                    .map_or_else(String::new, |n| n.to_string()),
            }),
        }
    }
}
