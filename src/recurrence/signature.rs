//! Signatures: the coefficients of a recurrence and how people write them.
//!
//! `0.04 : 1.6, -0.64` is y\[i\] = 0.04·x\[i\] + 1.6·y\[i−1\] − 0.64·y\[i−2\]: feed-forward
//! coefficients a0, a1, …, a colon, feedback coefficients b1, b2, …. Parentheses around it all are
//! allowed, since the literature prints them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Most samples a recurrence looks back, on either side of its signature.
pub const MAX_ORDER: usize = 16;

/// The coefficients of y\[i\] = Σ a_j·x\[i−j\] + Σ b_j·y\[i−j\]. All are finite; the last of either list is not zero,
/// unless it is a0.
///
/// ```
/// use monoscan::recurrence::Signature;
///
/// let low_pass: Signature = "(0.04 : 1.6, -0.64)".parse()?;
/// assert_eq!(low_pass.feed_forward(), [0.04]);
/// assert_eq!(low_pass.feedback(), [1.6, -0.64]);
/// assert_eq!(low_pass.order(), 2);
/// assert_eq!(low_pass.to_string(), "0.04 : 1.6, -0.64");
/// # Ok::<(), monoscan::recurrence::SignatureError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    feed_forward: Vec<f64>,
    feedback: Vec<f64>,
}

/// Why something is no signature. Places are bytes from the start of the text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// Something else stands where a coefficient should be.
    #[error("at byte {place}: expected a finite number, found {}", found_in_words(.found))]
    Number {
        /// Where it starts.
        place: usize,
        /// The text found there.
        found: String,
    },
    /// There is no colon.
    #[error("expected a `:` before the feedback coefficients, found none up to byte {place}")]
    NoColon {
        /// Where the text ends.
        place: usize,
    },
    /// There is more than one colon.
    #[error("at byte {place}: expected one `:`, found a second")]
    SecondColon {
        /// Where the second one is.
        place: usize,
    },
    /// A parenthesis has no partner.
    #[error("at byte {place}: expected the signature inside one pair of parentheses, or without any")]
    Parenthesis {
        /// Where it is.
        place: usize,
    },
    /// Before the colon there is no coefficient.
    #[error("expected at least one feed-forward coefficient before the `:`")]
    NoFeedForward,
    /// A coefficient given as a number is infinite or NaN.
    #[error("coefficient {coefficient} is not finite")]
    NotFinite {
        /// Its name: a0, a1, … or b1, b2, ….
        coefficient: String,
    },
    /// The recurrence looks back too far.
    #[error("the recurrence looks back {order} samples, and at most {MAX_ORDER} are supported")]
    Order {
        /// How far.
        order: usize,
    },
}

fn found_in_words(found: &str) -> String {
    if found.is_empty() { "nothing".into() } else { format!("`{found}`") }
}

impl Signature {
    /// The recurrence with coefficients a0, a1, … and b1, b2, …. Zeros at the end of either list are dropped.
    ///
    /// ```
    /// use monoscan::recurrence::{Signature, SignatureError};
    ///
    /// assert_eq!(Signature::new([1.0], [0.5, 0.0])?.order(), 1); // zeros at the end are dropped
    /// assert_eq!(Signature::new([], [0.5]), Err(SignatureError::NoFeedForward));
    /// # Ok::<(), monoscan::recurrence::SignatureError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoFeedForward`](SignatureError::NoFeedForward), [`NotFinite`](SignatureError::NotFinite),
    /// [`Order`](SignatureError::Order).
    pub fn new(feed_forward: impl Into<Vec<f64>>, feedback: impl Into<Vec<f64>>) -> Result<Signature, SignatureError> {
        let (mut feed_forward, mut feedback) = (feed_forward.into(), feedback.into());
        if feed_forward.is_empty() {
            return Err(SignatureError::NoFeedForward);
        }
        for (list, name, first) in [(&feed_forward, 'a', 0), (&feedback, 'b', 1)] {
            if let Some(place) = list.iter().position(|coefficient| !coefficient.is_finite()) {
                return Err(SignatureError::NotFinite { coefficient: format!("{name}{}", first + place) });
            }
        }
        drop_zeros(&mut feed_forward, 1);
        drop_zeros(&mut feedback, 0);
        let signature = Signature { feed_forward, feedback };
        match signature.order() {
            order if order > MAX_ORDER => Err(SignatureError::Order { order }),
            _ => Ok(signature),
        }
    }

    /// The coefficients of x\[i\], x\[i−1\], …; at least one.
    pub fn feed_forward(&self) -> &[f64] {
        &self.feed_forward
    }

    /// The coefficients of y\[i−1\], y\[i−2\], …; there may be none.
    pub fn feedback(&self) -> &[f64] {
        &self.feedback
    }

    /// How many samples the recurrence looks back.
    pub fn order(&self) -> usize {
        self.feedback.len().max(self.feed_forward.len() - 1)
    }
}

fn drop_zeros(list: &mut Vec<f64>, keep: usize) {
    while list.len() > keep && list.last() == Some(&0.0) {
        list.pop();
    }
}

impl FromStr for Signature {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Signature, SignatureError> {
        let (inside, start) = without_parentheses(text)?;
        let Some(colon) = inside.find(':') else {
            // What is no number may stand where the colon should.
            if !inside.trim().is_empty() {
                numbers(inside, start)?;
            }
            return Err(SignatureError::NoColon { place: start + inside.len() });
        };
        let (before, after) = (&inside[..colon], &inside[colon + 1..]);
        if let Some(second) = after.find(':') {
            return Err(SignatureError::SecondColon { place: start + colon + 1 + second });
        }
        if before.trim().is_empty() {
            return Err(SignatureError::NoFeedForward);
        }
        let feedback = if after.trim().is_empty() { Vec::new() } else { numbers(after, start + colon + 1)? };
        Signature::new(numbers(before, start)?, feedback)
    }
}

/// The text inside the parentheses, if there are any, and where it starts.
fn without_parentheses(text: &str) -> Result<(&str, usize), SignatureError> {
    let body = text.trim();
    let start = text.len() - text.trim_start().len();
    match (body.strip_prefix('('), body.strip_suffix(')')) {
        (Some(_), Some(_)) if body.len() >= 2 => Ok((&body[1..body.len() - 1], start + 1)),
        (None, None) => Ok((body, start)),
        (Some(_), _) => Err(SignatureError::Parenthesis { place: start }),
        (None, Some(rest)) => Err(SignatureError::Parenthesis { place: start + rest.len() }),
    }
}

/// Numbers separated by commas; `start` is the place of the list in the whole text.
fn numbers(list: &str, start: usize) -> Result<Vec<f64>, SignatureError> {
    let mut place = start;
    let mut numbers = Vec::new();
    for item in list.split(',') {
        let found = item.trim();
        match found.parse::<f64>() {
            Ok(number) if number.is_finite() => numbers.push(number),
            _ => {
                let indent = item.len() - item.trim_start().len();
                return Err(SignatureError::Number { place: place + indent, found: found.into() });
            }
        }
        place += item.len() + 1;
    }
    Ok(numbers)
}

/// As it is written, `0.04 : 1.6, -0.64`; parsing that gives the same signature.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |list: &[f64]| list.iter().map(|&number| shortest(number)).collect::<Vec<_>>().join(", ");
        let text = format!("{} : {}", list(&self.feed_forward), list(&self.feedback));
        f.write_str(text.trim_end())
    }
}

fn shortest(number: f64) -> String {
    let plain = number == 0.0 || (1e-5..1e16).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Signature, SignatureError> {
        text.parse()
    }

    #[test]
    fn printing_and_parsing_are_inverse() {
        for text in ["1 :", "1 : 2, -1", "0.9, -0.9 : 0.8", "0, 0, 3 :", "1e-300, 2.5e17 : -1e-7", "-0 : 0, 1"] {
            let signature = parse(text).unwrap();
            assert_eq!(signature.to_string(), text);
            assert_eq!(parse(&signature.to_string()), Ok(signature));
        }
    }

    #[test]
    fn parentheses_and_spaces_do_not_matter_and_zeros_at_the_end_are_dropped() {
        let expected = Signature::new([1.0], [0.0, 1.0]).unwrap();
        for text in ["(1:0,1)", " 1 : 0 , 1 ", "( 1, 0.0 : 0, 1, 0 )"] {
            assert_eq!(parse(text), Ok(expected.clone()), "{text}");
        }
        assert_eq!(parse("0 :").unwrap().feed_forward(), [0.0]);
    }

    #[test]
    fn errors_name_the_place_and_what_was_expected() {
        let number = |place, found: &str| SignatureError::Number { place, found: found.into() };
        let wrong = [
            ("", SignatureError::NoColon { place: 0 }),
            ("1, 2", SignatureError::NoColon { place: 4 }),
            ("1 ; 2", number(0, "1 ; 2")),
            (" : 1", SignatureError::NoFeedForward),
            ("1 : 2 : 3", SignatureError::SecondColon { place: 6 }),
            ("(1 : 2", SignatureError::Parenthesis { place: 0 }),
            ("1 : 2)", SignatureError::Parenthesis { place: 5 }),
            ("1, , 2 : 1", number(3, "")),
            ("1 : 2, x1", number(7, "x1")),
            ("(1 : 0.5 0.25)", number(5, "0.5 0.25")),
            ("nan : 1", number(0, "nan")),
            ("1 : 1e999", number(4, "1e999")),
        ];
        for (text, error) in wrong {
            assert_eq!(parse(text), Err(error), "{text}");
        }
        assert_eq!(number(3, "").to_string(), "at byte 3: expected a finite number, found nothing");
        assert_eq!(
            Signature::new([1.0], [0.5, f64::INFINITY]),
            Err(SignatureError::NotFinite { coefficient: "b2".into() })
        );
        assert_eq!(Signature::new([1.0], vec![0.1; 17]), Err(SignatureError::Order { order: 17 }));
        assert!(Signature::new(vec![1.0; 17], vec![0.1; 16]).is_ok());
    }
}
