//! The cost of reading any text grows linearly with its length.

use rustix::time::{ClockId, clock_gettime};
use scenario::read;

/// Hostile texts whose length is proportional to `n`.
fn hostile(n: usize) -> Vec<(&'static str, String)> {
    let many = |each: &str| each.repeat(n);
    let numbered = |each: fn(usize) -> String| (0..n).map(each).collect::<String>();
    let operation = "[[operation]]\nname = \"x\"\nsearch = \"(a=b)\"\n";
    vec![
        ("keys", numbered(|n| format!("k{n}=1\n"))),
        ("keys of a step", format!("{operation}{}", numbered(|n| format!("k{n}=1\n")))),
        (
            "attributes",
            format!(
                "[[operation]]\nadd=\"cn=x\"\nkeep=true\n[operation.entry]\n{}",
                numbered(|n| format!("k{n}=\"{{x{n}}}\"\n"))
            ),
        ),
        ("operations", numbered(|n| format!("[[operation]]\nname=\"x{n}\"\nsearch=\"(a={{b}})\"\n"))),
        ("operations of one name", many(operation)),
        (
            "captures",
            format!(
                "[[operation]]\nname=\"x\"\nstep=[{}]",
                numbered(|n| format!("{{search=\"(a=b)\",capture.c{n}=\"d\"}},{{search=\"(a={{c{n}}})\"}},"))
            ),
        ),
        (
            "steps of headers",
            format!(
                "headers={{a=\"{{uuid}}{{x}}{{y}}\"}}\n[[operation]]\nname=\"x\"\nstep=[{}]",
                many("{get=\"/\"},")
            ),
        ),
        (
            "connections that are none",
            format!(
                "[[operation]]\nname=\"x\"\nstep=[{}]",
                many("{search=\"(a=b)\",on=\"connection-that-is-none\"},")
            ),
        ),
        (
            "classes",
            format!(
                "[files.s]\n{}[[operation]]\nname=\"x\"\nstep=[{}]",
                numbered(|n| format!("c{n}={{sizes=[1]}}\n")),
                numbered(|n| format!("{{file=\"c{n}\"}},"))
            ),
        ),
        ("errors", format!("a={{{}}}", many(","))),
        ("brackets", many("[")),
        ("braces", format!("a={}", many("{a="))),
        ("dots", format!("a{}=1", many(".a").repeat(20))),
        ("dots of a header", format!("[a{}]", many(".a").repeat(20))),
        ("a filter that is deep", format!("[[operation]]\nsearch=\"{}\"", many("(&"))),
        ("a template of braces", format!("[[operation]]\npost=\"/\"\nbody='{}'", many("{a:"))),
        ("a template of fields", format!("[[operation]]\npost=\"/\"\nbody='{}'", many("{user}"))),
        ("a template of escaped fields", format!("[[operation]]\npost=\"/\"\nbody='{}'", many("{{user}"))),
        ("a name that is long", format!("[[operation]]\ndelete=\"{}\"", many("a=b,"))),
        ("a number that is long", format!("load.users={}", many("9"))),
        ("a key that is long", format!("{}=1", many("a"))),
        ("a value that is long", format!("load.arrivals=\"{}\"", many("\\u0000"))),
        ("columns", format!("[data.a]\nfile=\"x\"\ncolumns=[{}]", many("\"a\","))),
        ("values", format!("[values]\n{}{operation}", numbered(|n| format!("v{n}=\"{{v{}}}\"\n", n + 1)))),
        ("one line", format!("{operation}# {}", many("é"))),
    ]
}

/// The processor time of this thread for one read, which other programs do not affect.
fn cost_us(text: &str) -> i64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    };
    let costs = (0..3).map(|_| {
        let begun = now();
        let _ = read(text);
        now() - begun
    });
    costs.min().unwrap()
}

#[test]
fn the_cost_of_reading_grows_linearly_with_the_length() {
    for ((name, small), (_, large)) in hostile(2_000).iter().zip(&hostile(16_000)) {
        // The large text is eight times as long: quadratic work would take 64 times as long.
        let (little, much) = (cost_us(small), cost_us(large));
        assert!(much < 24 * little + 20_000, "{name}: {little} us, then {much} us");
    }
}

#[test]
fn the_deepest_allowed_nesting_needs_little_stack() {
    let nested = |each: &str, end: &str, n: usize| format!("{}1{}", each.repeat(n), end.repeat(n));
    let steps = format!("{}{{get=\"/\"}}{}", "{repeat=2,step=[".repeat(10), "]}".repeat(10));
    let json = nested("{a.a.a.a.a.a.a.a.a=", "}", 22);
    let text = format!("operation=[{{name=\"a\",step=[{steps}]}},{{post=\"/\",json={json}}}]");
    // A thread of tokio or of a test has a stack of two megabytes.
    let reading = std::thread::Builder::new().stack_size(512 << 10).spawn(move || read(&text)).unwrap();
    reading.join().expect("the stack suffices").unwrap();
}

#[test]
fn column_names_are_quoted_without_control_characters() {
    let columns = |_: &scenario::Data| Some(vec!["\u{1b}[2J".to_owned(), "uid".to_owned()]);
    let text = "data.a.file=\"x\"\n[[operation]]\nsearch=\"(a={a.uyd})\"\n[[operation]]\ndelete=\"cn={a}\"";
    let said = scenario::read_with(text, &columns).unwrap_err().to_string();
    assert!(said.contains("a has uid") && said.contains("write {a.uid}"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}
