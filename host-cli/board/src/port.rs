//! Port: a line to a board, whose bytes come and go without waiting long.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use strata_core::prototype::regmap::LINE_BAUD;

use super::error::FpgaError;

/// How long a read waits for the first byte, and a write for room.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(3);

/// A line.
pub trait Line: Send {
    /// Reads what has come; 0 if nothing does in a few milliseconds.
    ///
    /// # Errors
    ///
    /// The line is gone.
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize>;

    /// Writes as much as there is room for.
    ///
    /// # Errors
    ///
    /// The line is gone.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
}

/// Opens what the user named: `HOST:PORT`, also with `tcp:` before it, or a serial device.
///
/// # Errors
///
/// There is nothing of that name, or it does not answer.
pub fn open(name: &str, baud: u32) -> Result<Box<dyn Line>, FpgaError> {
    match address(name) {
        Some(address) => Ok(Box::new(Tcp::connect(name, address)?)),
        None => Ok(Box::new(Serial::open(name, baud)?)),
    }
}

/// Whether a port is a serial device, whose bytes take time.
pub(super) fn is_serial(name: &str) -> bool {
    address(name).is_none()
}

/// The speed of a port.
///
/// # Errors
///
/// One is asked for, and the port is no serial device.
pub(super) fn speed(name: &str, asked: Option<u32>) -> Result<u32, FpgaError> {
    match asked {
        Some(_) if !is_serial(name) => Err(FpgaError::Speed { port: name.to_owned() }),
        asked => Ok(asked.unwrap_or(LINE_BAUD)),
    }
}

/// The address in the name of a port; `None` if it names a device.
fn address(name: &str) -> Option<&str> {
    if let Some(address) = name.strip_prefix("tcp:") {
        return Some(address);
    }
    let is_address = !name.contains('/')
        && name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    is_address.then_some(name)
}

/// A TCP connection.
#[derive(Debug)]
pub(super) struct Tcp(TcpStream);

impl Tcp {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(stream))
    }

    fn connect(name: &str, address: &str) -> Result<Self, FpgaError> {
        let fail = |error: &io::Error| FpgaError::Port {
            port: name.to_owned(),
            reason: error.to_string(),
        };
        let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
        for address in address.to_socket_addrs().map_err(|error| fail(&error))? {
            match TcpStream::connect_timeout(&address, CONNECT).and_then(Self::new) {
                Ok(tcp) => return Ok(tcp),
                Err(error) => last = error,
            }
        }
        Err(fail(&last))
    }
}

impl Line for Tcp {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            other => patiently(other),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(self.0.write(bytes))
    }
}

/// A serial device.
struct Serial(Box<dyn serialport::SerialPort>);

impl Serial {
    fn open(name: &str, baud: u32) -> Result<Self, FpgaError> {
        let port = serialport::new(name, baud).timeout(PATIENCE).open();
        port.map(Self)
            .map_err(|error| FpgaError::Port { port: name.to_owned(), reason: error.to_string() })
    }
}

impl Line for Serial {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to) {
            // The other end of a pseudo-terminal is closed.
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            other => patiently(other),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(self.0.write(bytes))
    }
}

/// Nothing moved, which is no error.
fn patiently(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
            ) =>
        {
            Ok(0)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_an_address_and_what_a_device() {
        assert_eq!(address("127.0.0.1:4000"), Some("127.0.0.1:4000"));
        assert_eq!(address("localhost:1"), Some("localhost:1"));
        assert_eq!(address("[::1]:4000"), Some("[::1]:4000"));
        assert_eq!(address("tcp:board:4000"), Some("board:4000"));
        for device in ["/dev/ttyUSB0", "/dev/pts/3", "COM3", "board:70000", "/dev/by-path/a:1"] {
            assert_eq!(address(device), None, "{device}");
        }
    }
}
