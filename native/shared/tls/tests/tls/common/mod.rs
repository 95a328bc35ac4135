//! Both sides of TLS on a wire that accepts few bytes at a time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

use tls::{Acceptor, ClientSpec, Connector, ServerSpec, Session};

pub type Bytes = Rc<RefCell<VecDeque<u8>>>;

/// One end of a wire that holds `room` bytes in each direction.
pub struct End {
    pub incoming: Bytes,
    pub outgoing: Bytes,
    pub room: usize,
    pub reads: usize,
    pub hung_up: Rc<RefCell<bool>>,
}

pub fn wire(room: usize) -> (End, End) {
    let (a, b, hung_up) = (Bytes::default(), Bytes::default(), Rc::default());
    let end = |incoming: &Bytes, outgoing: &Bytes, hung_up: &Rc<RefCell<bool>>| End {
        incoming: incoming.clone(),
        outgoing: outgoing.clone(),
        room,
        reads: 0,
        hung_up: hung_up.clone(),
    };
    (end(&a, &b, &hung_up), end(&b, &a, &hung_up))
}

impl Read for End {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        match self.incoming.borrow_mut().read(room)? {
            0 if *self.hung_up.borrow() => Ok(0),
            0 => Err(ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }
}

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut outgoing = self.outgoing.borrow_mut();
        match self.room.saturating_sub(outgoing.len()).min(bytes.len()) {
            0 => Err(ErrorKind::WouldBlock.into()),
            count => {
                outgoing.extend(&bytes[..count]);
                Ok(count)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn acceptor() -> Acceptor {
    Acceptor::new(&ServerSpec::default(), &[]).unwrap()
}

pub fn trusting(acceptor: &Acceptor) -> ClientSpec {
    ClientSpec { ca_pem: Some(acceptor.made_ca().unwrap().to_owned()), ..ClientSpec::default() }
}

/// Both sides after their handshake.
pub fn open(acceptor: &Acceptor, connector: &Connector, room: usize) -> ((Session, End), (Session, End)) {
    let (mut here, mut there) = wire(room);
    let mut client = Session::connect(connector).unwrap();
    let mut server = Session::accept(acceptor).unwrap();
    for _ in 0..1_000_000 {
        let done = client.shake(&mut here).unwrap();
        // Session tickets may still be unsent: they are sent with the next write.
        server.shake(&mut there).unwrap();
        if done && server.is_open() {
            return ((client, here), (server, there));
        }
    }
    panic!("no handshake");
}
