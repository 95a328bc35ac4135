//! Values with several spellings that compare equal in directories.

/// Three spellings of each value, and the normal form that the model compares.
pub const WORDS: [([&str; 3], &str); 8] = [
    (["Anna Lee", "ANNA LEE", "anna   lee"], "anna lee"),
    (["Ёлкин", "ёлкин", "ЁЛКИН"], "ёлкин"),
    (["Ψυχής", "ψυχήσ", "ΨΥΧΉΣ"], "ψυχήσ"),
    (["山田 太郎", "山田  太郎", "山田 太郎"], "山田 太郎"),
    (["Straße", "STRASSE", "strasse"], "strasse"),
    (["O'Neil, Pat", "o'neil,  pat", "O'NEIL, PAT"], "o'neil, pat"),
    (["a+b=c", "A+B=C", "a+B=c"], "a+b=c"),
    (["#1", "#1", "#1"], "#1"),
];

/// Pieces of `WORDS` as a filter spells them, and in the model's normal form.
pub const PIECES: [(&str, &str); 10] = [
    ("AN", "an"),
    ("lee", "lee"),
    ("ёЛ", "ёл"),
    ("ΨΥ", "ψυ"),
    ("Σ", "σ"),
    ("山", "山"),
    ("郎", "郎"),
    ("SS", "ss"),
    ("pat", "pat"),
    ("C", "c"),
];

/// A value: the number of a word, and the number of one of its spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word(pub usize, pub usize);

impl Word {
    pub fn spelled(self) -> &'static str {
        WORDS[self.0].0[self.1]
    }

    pub fn form(self) -> &'static str {
        WORDS[self.0].1
    }

    /// `cn=...`, escaped.
    pub fn rdn(self) -> Vec<u8> {
        let mut rdn = b"cn=".to_vec();
        wire::dn::escape_value(self.spelled().as_bytes(), &mut rdn);
        rdn
    }
}
