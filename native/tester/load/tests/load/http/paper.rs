//! Visitors of the tests' site as scenario files: paper 002's scenario, and its single requests.

pub const IMAGE: &str = "{ name = 'image', get = '/image', expect.length = 5480 }";

pub const CREATE: &str =
    "{ name = 'create', post = '/users', expect.status = 201, capture.id = { cookie = 'user' },
    form = { given = '{newcomer.given}', city = '{newcomer.city}' } }";

pub const PAGE: &str = r#"{ name = "page", get = "/", headers.Cookie = "user={visitor.id}", expect = { length = 8290,
    contains = "<h1>Hello, {visitor.given}</h1>",
    identity = { before = 'data-user="', value = "{visitor.id}" } } }"#;

pub const UPDATE: &str = "{ name = 'update', post = '/preferences', headers.Cookie = 'user={owner.id}',
    form = { background = '{colour}', city = '{city}' }, expect.status = 204 }";

pub const UPDATED_PAGE: &str = r#"{ name = "updated page", get = "/", headers.Cookie = "user={owner.id}", expect = {
    length = 8290, contains = "<h1>Hello, {owner.given}</h1>",
    identity = { before = 'data-user="', value = "{owner.id}" },
    fresh = ['data-background="{colour}"', 'data-city="{city}"'] } }"#;

/// The data of the steps above, by the name that refers to it.
const DATA: [(&str, &str); 5] = [
    ("{visitor.", "data.visitor.people = 'seeded'\n"),
    ("{newcomer.", "data.newcomer.people = 'new'\n"),
    ("{owner.", "data.owner = { people = 'seeded', deal = 'exclusive' }\n"),
    ("{colour}", "values.colour = '#{random:6:0-9a-f}'\n"),
    ("{city}", "values.city = '{elsewhere}'\ndata.elsewhere.values = ['Aa & \"Bb\"', 'Cc']\n"),
];

/// A file whose operations have these weights and steps.
pub fn deck(operations: &[(u32, &[&str])]) -> String {
    let operation = |(number, (weight, steps)): (usize, &(u32, &[&str]))| {
        // An inline table must be on one line.
        let steps = steps.join(", ").replace('\n', " ");
        format!("[[operation]]\nname = 'o{number}'\nweight = {weight}\nstep = [{steps}]\n")
    };
    let text: String = operations.iter().enumerate().map(operation).collect();
    let used = DATA.iter().filter(|(field, _)| text.contains(field)).map(|(_, line)| *line);
    used.collect::<String>() + &text
}

/// A file with one operation.
pub fn one(steps: &[&str]) -> String {
    deck(&[(1, steps)])
}

/// A mix of 5 % new users, 91 % pages, and 4 % updates, each followed by the updated page.
pub fn paper() -> String {
    deck(&[(5, &[CREATE]), (91, &[PAGE]), (4, &[UPDATE, UPDATED_PAGE])])
}
