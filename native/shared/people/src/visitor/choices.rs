//! The lists that visitors' properties are drawn from. The lists and their order are part of the visitors'
//! identity.

/// Background colours of a page: light, so that dark text is readable on them.
pub const BACKGROUNDS: [&str; 16] = [
    "#f4f1ea", "#eef3f8", "#f1f6ec", "#f9efef", "#f3eff8", "#edf6f5", "#fbf5e6", "#eef0f3", "#f7f0e8",
    "#e9f1f7", "#f2f5e7", "#f8ecf1", "#efeefa", "#e8f4ee", "#fdf3ec", "#eceff1",
];

/// Colours of headings, links and buttons: dark, so that they stand out from any background.
pub const ACCENTS: [&str; 16] = [
    "#8c2f39", "#1f4e79", "#3f6b2a", "#7a4b12", "#5b3a8c", "#14656b", "#9a4a00", "#37474f", "#a3195b",
    "#00539c", "#556b2f", "#6d214f", "#3c3b8a", "#1b6b4a", "#b23a1e", "#263238",
];

/// Sections of a personalized page.
pub const SECTIONS: [&str; 10] =
    ["news", "weather", "markets", "sports", "travel", "science", "culture", "health", "technology", "local"];

pub const INTERESTS: [&str; 24] = [
    "astronomy",
    "baking",
    "chess",
    "cinema",
    "climbing",
    "cycling",
    "football",
    "gardening",
    "hiking",
    "history",
    "jazz",
    "knitting",
    "languages",
    "maps",
    "opera",
    "painting",
    "photography",
    "poetry",
    "radio",
    "railways",
    "rowing",
    "sailing",
    "tennis",
    "woodwork",
];

/// Ticker symbols of companies of the paper's time.
pub const STOCKS: [&str; 24] = [
    "AAPL", "ADBE", "AMD", "AMZN", "BAY", "COMS", "CPQ", "CSCO", "DEC", "DELL", "GTW", "HWP", "IBM", "INTC",
    "MOT", "MSFT", "NN", "NOVL", "NSCP", "ORCL", "SGI", "SUNW", "TXN", "YHOO",
];

/// The minimum and maximum number of chosen sections.
pub const SECTION_COUNTS: (usize, usize) = (3, 5);
/// The minimum and maximum number of interests.
pub const INTEREST_COUNTS: (usize, usize) = (2, 5);
/// The minimum and maximum number of watched stocks.
pub const STOCK_COUNTS: (usize, usize) = (0, 5);

/// The first of 60 years of birth.
pub(super) const FIRST_BIRTH_YEAR: i64 = 1945;
pub(super) const BIRTH_YEARS: usize = 60;

/// The upper bound of a person's visits so far.
pub(super) const VISITS: usize = 2_000;

/// Last visits are in the year before this time (2026-01-01T00:00:00Z). The time is fixed, because a person
/// must not change from one day to the next.
pub(super) const VISITED_BEFORE_UNIX_S: i64 = 1_767_225_600;
pub(super) const VISIT_SPAN_S: usize = 365 * 86_400;
