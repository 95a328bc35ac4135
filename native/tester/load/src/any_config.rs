//! The configuration of an engine for either protocol.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::http::HttpConfig;
use crate::ldap::LdapConfig;

/// A configuration whose `target.protocol` is `ldap` (the default) or `http`.
#[derive(Debug, Clone)]
pub enum AnyConfig {
    Ldap(LdapConfig),
    Http(HttpConfig),
}

impl<'de> Deserialize<'de> for AnyConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut whole = Value::deserialize(deserializer)?;
        let target = whole.get_mut("target").and_then(Value::as_object_mut);
        match target.and_then(|target| target.remove("protocol")) {
            None => serde_json::from_value(whole).map(Self::Ldap),
            Some(Value::String(name)) if name == "ldap" => serde_json::from_value(whole).map(Self::Ldap),
            Some(Value::String(name)) if name == "http" => serde_json::from_value(whole).map(Self::Http),
            Some(other) => {
                return Err(D::Error::custom(format_args!(
                    "\"protocol\" is {other}: use \"ldap\" or \"http\""
                )));
            }
        }
        .map_err(D::Error::custom)
    }
}
