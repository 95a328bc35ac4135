//! Controls (RFC 4511 section 4.1.11).

use crate::ber::{self, BerError, Reader, tag};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control<'a> {
    /// The object identifier, in dotted form.
    pub oid: &'a [u8],
    /// Whether a server that does not support the control must refuse the request.
    pub critical: bool,
    pub value: Option<&'a [u8]>,
}

/// The validated content of a message's controls; empty without controls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Controls<'a>(&'a [u8]);

/// The tag of the controls in an LDAPMessage.
pub const CONTROLS: u8 = tag::context_constructed(0);

impl<'a> Controls<'a> {
    /// Validates `content`.
    pub fn decode(content: &'a [u8]) -> Result<Self, BerError> {
        let mut reader = Reader::new(content);
        while !reader.is_empty() {
            read_control(&mut reader)?;
        }
        Ok(Self(content))
    }

    pub fn iter(&self) -> impl Iterator<Item = Control<'a>> + use<'a> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || read_control(&mut reader).ok())
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn read_control<'a>(reader: &mut Reader<'a>) -> Result<Control<'a>, BerError> {
    let mut fields = reader.sequence()?;
    let oid = fields.octets()?;
    let critical = match fields.optional(tag::BOOLEAN)? {
        Some(content) => ber::boolean(content)?,
        None => false,
    };
    let value = fields.optional(tag::OCTET_STRING)?;
    fields.finish()?;
    Ok(Control { oid, critical, value })
}

pub fn write_control(out: &mut Vec<u8>, control: &Control<'_>) {
    ber::write_nested(out, tag::SEQUENCE, |out| {
        ber::write_octets(out, control.oid);
        if control.critical {
            ber::write_boolean(out, true);
        }
        if let Some(value) = control.value {
            ber::write_octets(out, value);
        }
    });
}

/// Simple paged results (RFC 2696): requests and answers have the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagedResults<'a> {
    /// In a request, the number of entries per page. In an answer, an estimate of the number of all entries,
    /// or zero if the server has no estimate.
    pub size: i64,
    /// Empty in the first request and in the last answer.
    pub cookie: &'a [u8],
}

impl<'a> PagedResults<'a> {
    pub fn decode(value: &'a [u8]) -> Result<Self, BerError> {
        let mut outer = Reader::new(value);
        let mut fields = outer.sequence()?;
        let paged = Self { size: fields.integer(tag::INTEGER)?, cookie: fields.octets()? };
        fields.finish()?;
        outer.finish()?;
        Ok(paged)
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        ber::write_nested(out, tag::SEQUENCE, |out| {
            ber::write_integer(out, tag::INTEGER, self.size);
            ber::write_octets(out, self.cookie);
        });
    }
}
