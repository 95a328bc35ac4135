//! From steps of scenarios to those of HTTP programs.

use std::sync::Arc;

use people::visitor::Visitors;
use scenario::{Connection, Expect, Protocol, Step, Tls, Verb};

use super::super::escape::Escape;
use super::super::field::{Field, FieldValues};
use super::super::spec::{FileSpec, Step as HttpStep};
use super::super::target::{SECURE, Target};
use super::ask::{Ask, Host};
use super::fill::Site;
use crate::program::{Connects, MAIN};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{self, Lower, Place, Preparation, later};
use crate::values::{People, Tables};

/// Steps of HTTP, for a target.
pub(crate) struct Requests<'t> {
    pub(crate) target: &'t Target,
    /// Whether properties of people are known.
    pub(crate) has_visitors: bool,
}

/// Properties of a site's people as columns.
#[derive(Debug)]
pub(crate) struct VisitorColumns {
    visitors: Option<Arc<Visitors>>,
    count: u64,
    columns: Vec<String>,
}

impl VisitorColumns {
    pub(crate) fn new(visitors: Option<Arc<Visitors>>, count: u64) -> Self {
        let columns = Field::columns().map(|(name, _)| name.to_owned()).collect();
        Self { visitors, count, columns }
    }
}

impl People for VisitorColumns {
    fn columns(&self, _added: bool) -> &[String] {
        &self.columns
    }

    fn count(&self) -> u64 {
        self.count
    }

    /// Where a thread has derived no one: values that are made of people, and what is shown.
    fn write(&self, number: u64, _added: bool, column: usize, out: &mut Vec<u8>) {
        let Some((_, field)) = Field::columns().nth(column) else { return };
        let mut visitor = people::visitor::Visitor::default();
        if let Some(visitors) = self.visitors.as_ref().filter(|_| field.needs_visitor()) {
            visitors.fill(number, &mut visitor);
        }
        let values =
            FieldValues { id: number, visitor: &visitor, captured: b"", draw: 0, moved_to: &visitor };
        field.write(&values, Escape::Plain, out);
    }
}

/// Says what of a scenario no lane could run, whatever its target.
pub fn check(spec: &ScenarioSpec, tables: &Tables) -> Result<(), String> {
    let target = Target::any();
    let people = Arc::new(VisitorColumns::new(None, 1));
    let lower = Requests { target: &target, has_visitors: true };
    scripted::check(&lower, spec, Some(people), tables).map(|_| ())
}

impl Requests<'_> {
    /// Where steps on a connection go.
    fn host(&self, connection: &Connection) -> Result<Host, String> {
        let Target { host, tls, secure, .. } = self.target;
        let Connection { name, tls: wanted, .. } = connection;
        let main = Host { name: host.as_str().into(), number: 0, secure: false, encrypted: tls.is_some() };
        match (*wanted, tls, secure) {
            (Some(Tls::StartTls), ..) => Err("a site has no StartTLS: write tls = true".to_owned()),
            (Some(Tls::Always), None, Some(endpoint)) => {
                let name = endpoint.host.as_deref().unwrap_or(host);
                let number = usize::from(!name.eq_ignore_ascii_case(host));
                Ok(Host { name: name.into(), number, secure: true, encrypted: true })
            }
            (Some(Tls::Always), None, None) => {
                Err(format!("the connection {name:?} has tls = true, but the target has no address for it"))
            }
            (Some(Tls::Never), Some(_), _) => {
                Err(format!("the connection {name:?} has tls = false, but the target's address has TLS"))
            }
            _ => Ok(main),
        }
    }
}

impl Lower for Requests<'_> {
    type Step = HttpStep;
    const PROTOCOL: Protocol = Protocol::Http;
    const CONNECTS: Connects = Connects::WhenDown;
    const CLOSE: &'static str = "close";

    fn endpoint(&self, connection: &Connection) -> Result<usize, String> {
        Ok(if self.host(connection)?.secure { SECURE } else { MAIN })
    }

    fn keeps(&self) -> bool {
        self.target.keepalive
    }

    fn prepare(&self, preparation: Arc<Preparation>) -> HttpStep {
        HttpStep::Prepare(preparation)
    }

    fn take(&self) -> Result<HttpStep, String> {
        Ok(HttpStep::Take)
    }

    fn request(&self, place: &Place<'_>, step: &Step) -> Result<HttpStep, String> {
        let Place { script, plan, block, scenario, .. } = place;
        let connection = scenario.connections.iter().find(|each| each.name == step.on);
        let host = self.host(connection.ok_or_else(|| format!("no connection is called {:?}", step.on))?)?;
        match &step.verb {
            Verb::Request(request) => {
                let site = Site { plan, block, has_visitors: self.has_visitors };
                let way = (self.target, host, scenario.cookies);
                let ask = Ask::new(*script, site, (step, request), &scenario.headers, way)?;
                Ok(HttpStep::Ask(Arc::new(ask)))
            }
            Verb::File { class } => {
                if step.expect != Expect::default() || !step.captures.is_empty() {
                    return Err("every byte of a file is compared: leave expect and capture out".to_owned());
                }
                Ok(HttpStep::File(FileSpec { class: class.clone(), tls: host.secure }))
            }
            Verb::Program { .. } => Err(later("program")),
            _ => Err("is no request of HTTP".to_owned()),
        }
    }
}
