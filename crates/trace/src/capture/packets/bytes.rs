//! Values of the protocol, one behind the other.

/// Takes values off the front of a packet; None where it has no more.
pub struct Bytes<'p>(pub &'p [u8]);

impl<'p> Bytes<'p> {
    pub fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (array, rest) = self.0.split_first_chunk::<COUNT>()?;
        self.0 = rest;
        Some(*array)
    }

    pub fn take(&mut self, count: u64) -> Option<&'p [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number as long as its first byte says.
    pub fn number(&mut self) -> Option<u64> {
        let [first] = self.array()?;
        Some(match first {
            0xfc => u16::from_le_bytes(self.array()?).into(),
            0xfd => {
                let [low, middle, high] = self.array()?;
                u32::from_le_bytes([low, middle, high, 0]).into()
            }
            0xfe => u64::from_le_bytes(self.array()?),
            0xfb | 0xff => return None,
            small => small.into(),
        })
    }

    pub fn text(&mut self) -> Option<&'p [u8]> {
        let count = self.number()?;
        self.take(count)
    }

    pub fn until_zero(&mut self) -> &'p [u8] {
        let end = memchr::memchr(0, self.0).unwrap_or(self.0.len());
        let text = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        text
    }
}
