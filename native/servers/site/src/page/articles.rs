//! The texts of a page. The size of a page is fixed, so its texts are, too: one file per section in
//! `articles/`.

/// A section of the page.
pub(super) struct Section {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

macro_rules! section {
    ($key:literal, $title:literal) => {
        Section {
            key: $key,
            title: $title,
            text: include_str!(concat!("articles/", $key, ".txt")).trim_ascii_end(),
        }
    };
}

/// The sections, in the order of [`people::visitor::SECTIONS`].
pub(super) const SECTIONS: [Section; 10] = [
    section!("news", "News"),
    section!("weather", "Weather"),
    section!("markets", "Markets"),
    section!("sports", "Sports"),
    section!("travel", "Travel"),
    section!("science", "Science"),
    section!("culture", "Culture"),
    section!("health", "Health"),
    section!("technology", "Technology"),
    section!("local", "Around the corner"),
];

/// Fills the rest of a page, cut at a space. The text is ASCII, so that it can be cut anywhere, and its tags
/// have no spaces, so that no tag is cut.
pub(super) const ARCHIVE: &str = include_str!("articles/archive.txt");

/// The greeting in a language.
pub(super) fn welcome(language: &str) -> &'static str {
    match language {
        "de" => "Schön, dass Sie wieder da sind.",
        "fr" => "Heureux de vous revoir.",
        "es" => "Qué alegría verle de nuevo.",
        "it" => "Che piacere rivederla.",
        "ru" => "Рады видеть вас снова.",
        "el" => "Χαιρόμαστε που σας ξαναβλέπουμε.",
        "ja" => "またお会いできてうれしいです。",
        _ => "Good to see you again.",
    }
}

/// The selectable languages, with their own names.
pub(crate) const LANGUAGES: [(&str, &str); 8] = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("it", "Italiano"),
    ("ru", "Русский"),
    ("el", "Ελληνικά"),
    ("ja", "日本語"),
];
