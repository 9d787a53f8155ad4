// SPDX-License-Identifier: Apache-2.0
//! What a client and a run say to each other: `clients/c/packet.h`.

use crate::Error;

const VERSION: u32 = 2;
const NAME_BYTES: usize = 32;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Message,
    End,
    Refused,
}

/// What each packet after the welcome begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub kind: Kind,
    /// Of a message of the run's: one that comes again has the number that it had.
    pub number: u32,
}

impl Head {
    pub const BYTES: usize = 8;

    /// Of a client's packet.
    pub fn bytes(kind: Kind) -> [u8; Self::BYTES] {
        let kind: u32 = match kind {
            Kind::Message => 0,
            Kind::End => 1,
            Kind::Refused => 2,
        };
        let [a, b, c, d] = kind.to_ne_bytes();
        [a, b, c, d, 0, 0, 0, 0]
    }

    pub fn read(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, number @ ..] = bytes;
        let kind = match u32::from_ne_bytes([a, b, c, d]) {
            0 => Kind::Message,
            1 => Kind::End,
            _ => Kind::Refused,
        };
        Self { kind, number: u32::from_ne_bytes(number) }
    }
}

/// The first packet; `None`: the name is too long.
pub fn hello(port: &str, index: u32) -> Option<Vec<u8>> {
    let mut name = [0; NAME_BYTES];
    name.get_mut(..port.len())
        .filter(|name| name.len() < NAME_BYTES)?
        .copy_from_slice(port.as_bytes());
    Some([&VERSION.to_ne_bytes()[..], &index.to_ne_bytes(), &name].concat())
}

/// What answers it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Welcome {
    /// Of a message.
    pub slot_bytes: usize,
    /// Whether the client receives.
    pub is_receiver: bool,
    /// Drawn when the run began.
    pub run: u32,
}

impl Welcome {
    pub const BYTES: usize = 16;

    /// Whether it says that the port is closed: `WB_ERR_GONE`.
    pub fn is_closed(bytes: &[u8]) -> bool {
        bytes.len() == Self::BYTES && bytes.starts_with(&(-5_i32).to_ne_bytes())
    }

    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let four = |at: usize| bytes.get(at..at + 4)?.try_into().ok();
        let (Some(status), Some(slot_bytes), Some(receiver), Some(run)) =
            (four(0), four(4), four(8), four(12))
        else {
            return Err(Error::Gone);
        };
        let (slot_bytes, receiver) = (u32::from_ne_bytes(slot_bytes), u32::from_ne_bytes(receiver));
        match i32::from_ne_bytes(status) {
            0 => Ok(Self {
                slot_bytes: slot_bytes as usize,
                is_receiver: receiver != 0,
                run: u32::from_ne_bytes(run),
            }),
            -6 => Err(Error::Busy),
            -4 => Err(Error::Invalid),
            -9 => Err(Error::TooLarge),
            _ => Err(Error::Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_has_room_for_its_name_and_a_zero() {
        assert_eq!(hello("out", 3).unwrap().len(), 40);
        assert!(hello(&"o".repeat(31), 0).is_some());
        assert!(hello(&"o".repeat(32), 0).is_none());
    }

    #[test]
    fn a_welcome_is_whole_or_there_is_none() {
        let mut bytes = [0; Welcome::BYTES];
        bytes[4] = 64;
        let whole = Welcome { slot_bytes: 64, is_receiver: false, run: 0 };
        assert_eq!(Welcome::read(&bytes), Ok(whole));
        assert_eq!(Welcome::read(&bytes[..12]), Err(Error::Gone));
        bytes[..4].copy_from_slice(&(-6_i32).to_ne_bytes());
        assert_eq!(Welcome::read(&bytes), Err(Error::Busy));
    }
}
