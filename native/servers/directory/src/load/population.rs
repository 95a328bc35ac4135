//! Loads a generated population: one thread generates people while another stores them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use people::{Population, Profile};
use wire::ber::{self, Reader, tag};
use wire::ldap::request::write_attribute;

use super::LoadError;
use crate::store::{Store, UnixSeconds};

/// People per message between the two threads: enough to make the message cheap, few enough to fit in the
/// cache.
const BATCH: u64 = 256;

/// The most batches that wait to be stored.
const AHEAD: usize = 8;

/// Several people, one after the other: names, and attributes in their stored form.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    /// The end of each name and of each attribute list.
    ends: Vec<(usize, usize)>,
}

/// Adds all people of the population below its base.
pub(super) fn load(store: &mut Store, people: &Population, now: UnixSeconds) -> Result<(), LoadError> {
    let size = people.spec().size;
    store.reserve(usize::try_from(size).unwrap_or(0));
    thread::scope(|scope| {
        let (full, batches) = sync_channel(AHEAD);
        let (give_back, empty) = sync_channel(AHEAD);
        scope.spawn(move || make(people, size, &full, &empty));
        while let Ok(batch) = batches.recv() {
            add(store, &batch, now)?;
            // If the thread that fills batches has ended, it cannot take the batch back, and nothing is lost.
            let _ = give_back.try_send(batch);
        }
        Ok(())
    })
}

fn make(people: &Population, size: u64, full: &SyncSender<Batch>, empty: &Receiver<Batch>) {
    let mut writer = Writer::new(people);
    let mut next = 0;
    while next < size {
        let mut batch: Batch = empty.try_recv().unwrap_or_default();
        batch.bytes.clear();
        batch.ends.clear();
        let end = size.min(next + BATCH);
        for person in next..end {
            people.write_dn(person, &mut batch.bytes);
            let name_end = batch.bytes.len();
            writer.write_attributes(person, &mut batch.bytes);
            batch.ends.push((name_end, batch.bytes.len()));
        }
        next = end;
        if full.send(batch).is_err() {
            return;
        }
    }
}

/// Writes attribute lists in the form of stored entries.
struct Writer<'p> {
    people: &'p Population,
    /// ILS clients register without a class, so the class of users is added here. It is not dynamicObject:
    /// these people stay until the end of the measurement.
    class: Vec<u8>,
    list: Vec<u8>,
}

impl<'p> Writer<'p> {
    fn new(people: &'p Population) -> Self {
        let mut class = Vec::new();
        if people.spec().profile == Profile::Ils {
            write_attribute(&mut class, b"objectClass", [&b"top"[..], b"rtPerson"]);
        }
        Self { people, class, list: Vec::new() }
    }

    fn write_attributes(&mut self, person: u64, out: &mut Vec<u8>) {
        if self.class.is_empty() {
            self.people.write_attributes(person, out);
            return;
        }
        self.list.clear();
        self.people.write_attributes(person, &mut self.list);
        let content = Reader::new(&self.list).expect(tag::SEQUENCE).unwrap_or_default();
        ber::write_header(out, tag::SEQUENCE, self.class.len() + content.len());
        out.extend_from_slice(&self.class);
        out.extend_from_slice(content);
    }
}

fn add(store: &mut Store, batch: &Batch, now: UnixSeconds) -> Result<(), LoadError> {
    let mut start = 0;
    for &(name_end, end) in &batch.ends {
        let dn = batch.bytes.get(start..name_end).unwrap_or_default();
        let list = batch.bytes.get(name_end..end).unwrap_or_default();
        start = end;
        super::add(store, dn, list, now).map_err(|why| LoadError::of_entry(dn, why))?;
    }
    Ok(())
}
