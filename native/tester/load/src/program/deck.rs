//! Decks: exact shares of operations in random order (method rule 6).
//!
//! All lanes of a thread that run a program are dealt from one deck. So among every hundred operations that a
//! thread begins, each kind has exactly its share. With probabilities, a share of 5 % would be off by about a
//! tenth of itself after two thousand operations.

/// A deck while it is dealt.
#[derive(Debug)]
pub(crate) struct Deck {
    cards: Box<[u16]>,
    next: usize,
}

impl Deck {
    /// A deck in which each branch has as many cards as its weight.
    pub(crate) fn new(weights: &[u64]) -> Self {
        let cards = weights.iter().zip(0u16..);
        let cards = cards.flat_map(|(&weight, branch)| std::iter::repeat_n(branch, weight as usize));
        let cards: Box<[u16]> = cards.collect();
        Self { next: cards.len(), cards }
    }

    /// Deals a card; returns the index of its branch.
    #[inline]
    pub(crate) fn deal(&mut self, rng: &mut fastrand::Rng) -> usize {
        if self.next == self.cards.len() {
            rng.shuffle(&mut self.cards);
            self.next = 0;
        }
        let branch = usize::from(self.cards[self.next]);
        self.next += 1;
        branch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hundred_cards_have_the_exact_shares_in_a_new_order() {
        let (mut deck, mut rng) = (Deck::new(&[5, 91, 4]), fastrand::Rng::with_seed(1));
        let mut hundreds = Vec::new();
        for _ in 0..50 {
            let hundred: Vec<_> = (0..100).map(|_| deck.deal(&mut rng)).collect();
            let count = |branch| hundred.iter().filter(|&&dealt| dealt == branch).count();
            assert_eq!([count(0), count(1), count(2)], [5, 91, 4]);
            hundreds.push(hundred);
        }
        hundreds.dedup();
        assert_eq!(hundreds.len(), 50);
    }
}
