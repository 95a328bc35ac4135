//! Decimal digits without a formatter, on the stack.

/// The numbers below 100, with two digits each. Writing two digits at once halves the number of divisions.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    digits: [u8; 20],
    start: u8,
}

impl Decimal {
    #[inline]
    pub fn new(mut number: u64) -> Self {
        let mut digits = [0; 20];
        let mut start = digits.len();
        for pair in digits.as_chunks_mut().0.iter_mut().rev() {
            *pair = PAIRS[(number % 100) as usize];
            start -= 2;
            number /= 100;
            if number == 0 {
                break;
            }
        }
        // The first pair may begin with a zero.
        start += usize::from(digits[start] == b'0');
        Self { digits, start: start as u8 }
    }

    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.digits[usize::from(self.start)..]
    }

    #[inline]
    pub const fn length(&self) -> usize {
        20 - self.start as usize
    }
}

/// Reads the output of [`Decimal`]: no sign, no leading zero, no overflow.
pub fn parse(digits: &[u8]) -> Option<u64> {
    let well_formed = match digits {
        [] => false,
        [b'0', _, ..] => false,
        _ => digits.iter().all(u8::is_ascii_digit),
    };
    if !well_formed {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, &digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decimal_digits_equal_those_of_the_standard_formatter(number: u64) {
            let decimal = Decimal::new(number);
            let expected = number.to_string();
            prop_assert_eq!(decimal.as_bytes(), expected.as_bytes());
            prop_assert_eq!(decimal.length(), decimal.as_bytes().len());
            prop_assert_eq!(parse(decimal.as_bytes()), Some(number));
        }
    }

    #[test]
    fn only_canonical_decimal_numbers_are_read() {
        for text in ["", "007", "00", "+1", "1 ", "1x", "18446744073709551616"] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parse(b"0"), Some(0));
        assert_eq!(parse(b"18446744073709551615"), Some(u64::MAX));
    }
}
