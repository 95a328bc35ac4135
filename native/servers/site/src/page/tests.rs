//! Every page has exactly the size given in paper 002, and no person's text breaks the page.

use super::*;
use proptest::prelude::*;

fn page(person: &Person<'_>) -> String {
    let mut out = b"head".to_vec();
    push_page(&mut out, person);
    String::from_utf8(out.split_off(4)).unwrap()
}

fn longest() -> String {
    "\"".repeat(400)
}

/// The person with the page that leaves the least room: all texts are at their limits, and the sections are
/// the longest.
fn fullest<'a>(text: &'a str, items: &'a str, sections: &'a str) -> Person<'a> {
    Person {
        id: u64::MAX,
        name: text,
        given: text,
        city: text,
        country: text,
        language: text,
        occupation: text,
        company: text,
        sections,
        interests: items,
        stocks: items,
        visits: i64::MIN,
        newsletter: true,
        ..Person::default()
    }
}

proptest! {
    #[test]
    fn a_page_has_the_papers_size_whatever_the_properties_of_its_user(
        texts in prop::collection::vec(any::<String>(), 12),
        id: u64, newsletter: bool, visits: i64, last_visit: i64,
    ) {
        let [name, given, city, country, language, occupation, company, background, accent, sections,
            interests, stocks] = &texts[..] else { unreachable!() };
        let page = page(&Person {
            id, name, given, city, country, language, occupation, company, background, accent, sections,
            interests, stocks, newsletter, visits, last_visit,
        });
        prop_assert_eq!(page.len(), PAGE_BYTES);
        prop_assert!(page.ends_with("</html>\n"));
    }

    #[test]
    fn long_texts_of_any_script_do_not_change_the_size_of_a_page(
        text in "[\\PC&<>\"']{0,900}",
        items in prop::collection::vec(".{0,60}", 0..20),
        sections in prop::collection::vec(prop::sample::select(&people::visitor::SECTIONS), 0..14),
    ) {
        let (items, sections) = (crate::upd::write_strings(items), crate::upd::write_strings(sections));
        prop_assert_eq!(page(&fullest(&text, &items, &sections)).len(), PAGE_BYTES);
    }
}

#[test]
fn the_fullest_page_still_shows_an_archive_section() {
    let items = crate::upd::write_strings(vec![longest(); 20]);
    let mut keys: Vec<&Section> = SECTIONS.iter().collect();
    keys.sort_by_key(|section| std::cmp::Reverse(section.text.len() + section.title.len()));
    let sections = crate::upd::write_strings(keys.iter().map(|section| section.key));
    let page = page(&fullest(&longest(), &items, &sections));
    assert_eq!(page.len(), PAGE_BYTES);
    let (_, archive) = page.split_once("From the archive</h2><p>").unwrap();
    assert!(archive.len() > 150 && archive.contains(MORE), "little room is left: {}", archive.len());
}

#[test]
fn the_emptiest_page_is_filled_up_with_text() {
    let page = page(&Person::default());
    assert_eq!(page.len(), PAGE_BYTES);
    assert!(!page.contains(&" ".repeat(40)), "a hole");
    assert!(ARCHIVE.is_ascii());
}

#[test]
fn a_page_shows_the_properties_of_its_user() {
    let page = page(&Person {
        id: 42,
        name: "Zoë <b> 42",
        given: "Zoë <b>",
        background: "#f4f1ea",
        accent: "#8c2f39",
        city: "L'Aquila",
        language: "it",
        sections: r#"["science","news","nonsense","science"]"#,
        stocks: r#"["IBM"]"#,
        ..Person::default()
    });
    for part in [
        "<body data-user=\"42\" ",
        " data-background=\"#f4f1ea\" data-accent=\"#8c2f39\" data-city=\"L&#39;Aquila\" data-language=\"it\" ",
        "<h1>Hello, Zoë &lt;b&gt;</h1>",
        " data-sections=\"science news\" ",
        "<i>IBM</i>",
        "value=science checked>",
        "value=sports>",
        "<option value=it selected>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let place = |id: &str| page.find(&format!("<article id={id}>")).unwrap();
    assert!(place("science") < place("news"));
    assert_eq!(page.matches("<article id").count(), 2);
    assert_eq!(page.matches("<img src=/image/").count(), 4);
}

#[test]
fn an_invalid_colour_is_not_written_into_the_style() {
    let page = page(&Person { background: "red;}", accent: "url(x)", ..Person::default() });
    assert!(page.contains("data-background=\"#ffffff\" data-accent=\"#444444\""));
    assert!(!page.contains("url(x)") && !page.contains("red;}"));
}

#[test]
fn the_section_keys_of_a_page_equal_those_of_generated_visitors() {
    assert_eq!(SECTIONS.each_ref().map(|section| section.key), people::visitor::SECTIONS);
}
