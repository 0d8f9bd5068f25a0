//! Pump: moves bytes between a link and a serial line, and waits for neither.

use embedded_io::{Read, ReadReady, Write, WriteReady};

use crate::link::Link;

/// Bytes that are taken from the line at once.
const PIECE: usize = 64;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes received.
    pub received: usize,
    /// Bytes sent.
    pub sent: usize,
}

/// Passes received bytes to the link, and the link's bytes to the line as far as the line takes
/// them now, up to two frames each. `log` gets the logs of the other end.
///
/// # Errors
///
/// The line's error. Bytes moved before it stay moved, and the next call goes on.
pub fn pump<L, const FRAME: usize, const WINDOW: usize>(
    link: &mut Link<FRAME, WINDOW>,
    line: &mut L,
    mut log: impl FnMut(&[u8]),
) -> Result<Moved, L::Error>
where
    L: Read + ReadReady + Write + WriteReady,
{
    let mut moved = Moved::default();
    let mut piece = [0; PIECE];
    while moved.received < 2 * FRAME && line.read_ready()? {
        let came = line.read(&mut piece)?.min(PIECE);
        if came == 0 {
            break;
        }
        link.received(&piece[..came], &mut log);
        moved.received += came;
    }
    while moved.sent < 2 * FRAME {
        let bytes = link.to_send();
        if bytes.is_empty() || !line.write_ready()? {
            break;
        }
        let went = line.write(bytes)?.min(bytes.len());
        if went == 0 {
            break;
        }
        link.sent(went);
        moved.sent += went;
    }
    Ok(moved)
}
