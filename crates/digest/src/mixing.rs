//! Hashing: bytes eight at a time, mixed by multiplication.

/// Both halves of the product, one over the other.
#[inline(always)]
pub fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
pub fn eight(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Up to eight bytes, the first of them lowest, zeros above.
#[inline(always)]
pub fn few(bytes: &[u8]) -> u64 {
    match bytes.len() {
        8 => eight(bytes, 0),
        length @ 4..8 => {
            let four = |at: usize| {
                u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
            };
            four(0) | four(length - 4) << (8 * (length - 4))
        }
        length @ 1..4 => {
            let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
            byte(0) | byte(length / 2) | byte(length - 1)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_bytes_are_loaded_with_zeros_above(bytes in prop::collection::vec(any::<u8>(), 0..=8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(&bytes);
            prop_assert_eq!(few(&bytes), u64::from_le_bytes(padded));
        }
    }
}
