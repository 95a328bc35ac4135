//! Valid tables and their cells, and the error positions of invalid tables.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test they help")]

use std::io::Write as _;

use proptest::prelude::*;
use table::{Form, Head, MAX_COLUMNS, ReadError, Table, TableError};

type Rows = Vec<Vec<String>>;

fn any_cell(_: usize, _: &[u8]) -> Result<(), String> {
    Ok(())
}

fn parse(text: &[u8]) -> Result<Table, TableError> {
    Table::parse(text.to_vec(), &Form::default(), any_cell)
}

fn given(columns: &[&str]) -> Form {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    Form { columns: Some(columns), ..Form::default() }
}

fn rows_of(table: &Table) -> Rows {
    let cell = |row, column| String::from_utf8(table.cell(row, column).unwrap().to_vec()).unwrap();
    (0..table.rows())
        .map(|row| (0..table.columns().len()).map(|column| cell(row, column)).collect())
        .collect()
}

#[track_caller]
fn holds(text: &str, columns: &[&str], rows: &[&[&str]]) {
    let table = parse(text.as_bytes()).unwrap();
    assert_eq!(table.columns(), columns);
    assert_eq!(rows_of(&table), rows);
}

#[track_caller]
fn refused(text: &[u8], message: &str) {
    let error = parse(text).unwrap_err().to_string();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn the_examples_of_rfc_4180_are_read() {
    // RFC 4180 sections 2.1, 2.2, 2.5, 2.6 and 2.7.
    holds(
        "a,b,c\r\naaa,bbb,ccc\r\nzzz,yyy,xxx\r\n",
        &["a", "b", "c"],
        &[&["aaa", "bbb", "ccc"], &["zzz", "yyy", "xxx"]],
    );
    holds("a,b\r\naaa,bbb", &["a", "b"], &[&["aaa", "bbb"]]);
    holds("a,b\n\"aaa\",\"b\r\nbb\"\nzzz,yyy", &["a", "b"], &[&["aaa", "b\r\nbb"], &["zzz", "yyy"]]);
    holds("a,b\n\"aaa\",\"b\"\"bb\"\"\"\"\"\n", &["a", "b"], &[&["aaa", "b\"bb\"\""]]);
}

#[test]
fn byte_order_marks_empty_lines_and_inner_quotes_are_read_as_by_other_readers() {
    holds("\u{feff}\n\r\na\n\n1\n\r\n2\n\n", &["a"], &[&["1"], &["2"]]);
    holds("\u{feff}\"a\",\n\"\",\n,\"\"\n", &["a", ""], &[&["", ""], &["", ""]]);
    holds("a\n6\" \"x\n\" \"\n", &["a"], &[&["6\" \"x"], &[" "]]);
}

#[test]
fn columns_can_be_named_and_any_ascii_character_can_separate_cells() {
    let form = Form { separator: b'\t', ..given(&["uid", "mail"]) };
    let table = Table::parse(b"a,b\tc\nd\t\"e\tf\"\n".to_vec(), &form, any_cell).unwrap();
    assert_eq!(rows_of(&table), [["a,b", "c"], ["d", "e\tf"]]);
}

#[test]
fn a_cell_outside_the_table_is_none() {
    let table = parse(b"a,b\n1,2\n3,4").unwrap();
    assert_eq!(table.cell(1, 1), Some(&b"4"[..]));
    for (row, column) in [(0, 2), (2, 0), (usize::MAX, 0), (usize::MAX, 1), (0, usize::MAX)] {
        assert_eq!(table.cell(row, column), None);
    }
}

#[test]
fn a_table_error_is_reported_with_line_and_column() {
    refused(b"", "line 1, column 1: the file ends without a row");
    refused(b"\n\n", "line 3, column 1: the file ends without a row");
    refused(b"a,b", "line 1, column 4: the file ends without a row");
    refused(b"a,b\r\n\n", "line 3, column 1: the file ends without a row");
    refused(b"a,b\n1,2\n3\n", "line 3, column 2: the line ends after 1 of 2 fields");
    refused(b"a,b\n\n\"1\n\",2\n\"3\"\n", "line 5, column 4: the line ends after 1 of 2 fields");
    refused("a,b\nä,ö,ü\n".as_bytes(), "line 2, column 5: a field more than the 2 expected");
    refused("a,b\nü,\"c\nd\n".as_bytes(), "line 2, column 3: a quote without an end");
    refused(b"a,b\n\"c\n\"\"d\" e,f", "line 3, column 5: text behind a closing quote");
    refused(b"a\nb\r\nc\rd\n", "line 3, column 2: a carriage return without a line feed");
    refused(b"a\nb\r", "line 2, column 2: a carriage return without a line feed");
    refused(b"a\n\"b\"\r", "line 2, column 4: a carriage return without a line feed");
    refused(b"\xef\xbb\xbfa\n\xc3\xa4\xe4\n", "line 2, column 2: not UTF-8");
    refused(b"\xef\xbb\xbfa\xe4\n", "line 1, column 2: not UTF-8");
    refused(b"a,b,\"a\"\n1,2,3\n", "line 1, column 5: a second column \"a\"");
    refused(",".repeat(MAX_COLUMNS).as_bytes(), "line 1, column 1001: the columns are not 1 to 1000");
}

#[test]
fn an_invalid_separator_or_list_of_columns_is_refused() {
    let of = |form: &Form| Table::parse(b"a,b\n".to_vec(), form, any_cell).unwrap_err().to_string();
    for separator in [b'"', b'\r', b'\n', 0xe4] {
        let error = of(&Form { separator, columns: None });
        assert!(error.contains("cannot separate cells"), "{error}");
    }
    assert!(of(&given(&["a", "a"])).contains("a second column \"a\""));
    assert!(of(&given(&[])).contains("the columns are not 1 to 1000"));
}

#[test]
fn a_check_receives_each_unquoted_cell_and_its_error_is_reported() {
    let mut seen = Vec::new();
    let mut check = |column: usize, cell: &[u8]| {
        seen.push((column, String::from_utf8(cell.to_vec()).unwrap()));
        if cell == b"q\"\"r\"" { Err("no code; use a number".to_owned()) } else { Ok(()) }
    };
    let text = b"a,b\n1,\"2\"\"\n\"\n\xc3\xa4,\"q\"\"\"\"r\"\"\"\n".to_vec();
    let error = Table::parse(text, &Form::default(), &mut check).unwrap_err();
    assert_eq!(error.to_string(), "line 4, column 3: no code; use a number");
    let seen: Vec<_> = seen.iter().map(|(column, cell)| (*column, cell.as_str())).collect();
    assert_eq!(seen, [(0, "1"), (1, "2\"\n"), (0, "ä"), (1, "q\"\"r\"")]);
}

#[test]
fn the_head_is_the_first_line_that_is_not_empty() {
    let head = |text: &[u8]| Head::parse(text.to_vec(), b';').unwrap();
    assert_eq!(head(b"\n\r\n"), None);
    let fields = vec!["a \"b\"".to_owned(), " c".to_owned(), String::new()];
    assert_eq!(head(b"\n\"a \"\"b\"\"\"; c;\nd\n"), Some(Head { line: 2, fields }));
}

#[test]
fn a_head_of_any_length_is_read_completely() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let head = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Head::read(&path, b',').map(|head| head.map(|head| head.fields))
    };
    let long = "ä\n".repeat(40_000);
    assert_eq!(head(&format!("a,b\n{long}")).unwrap().unwrap(), ["a", "b"]);
    assert_eq!(head(&format!("a,\"{long}\"\n")).unwrap().unwrap(), ["a", &long]);
    let long = "ä".repeat(40_000);
    assert_eq!(head(&format!("{long},b")).unwrap().unwrap(), [long.as_str(), "b"]);
    assert_eq!(head(&format!("{}{long}", "\n".repeat(70_000))).unwrap().unwrap(), [long.as_str()]);
    assert_eq!(head("").unwrap(), None);
    let error = head(&format!("\n\"{long}")).unwrap_err().to_string();
    assert!(error.contains("people.csv, line 2, column 1: a quote without an end"), "{error}");
}

#[test]
fn the_digest_of_a_column_is_the_sha_256_of_its_lines() {
    let table = parse(b"mail,uid\nx,\"a\"\ny,b\n").unwrap();
    // printf 'uid\na\nb' | sha256sum
    assert_eq!(table.digest("uid", 1), "7689263bd37a51e6fb4e48326cda3236823a27277635c37f14a5286b9e36182b");
    assert_ne!(table.digest("uid", 1), table.digest("uid", 0));
    assert_ne!(table.digest("uid", 1), table.digest("cn", 1));
}

#[test]
fn files_are_read_and_an_unreadable_path_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let read = |path: &std::path::Path| Table::read(path, &Form::default(), any_cell);
    let missing = read(&path).unwrap_err();
    assert!(matches!(missing, ReadError::File { .. }), "{missing}");
    assert!(missing.to_string().contains("people.csv"));
    assert!(matches!(read(folder.path()), Err(ReadError::NotRegular(_))));
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(b"a\n1\n\"2").unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("people.csv, line 3, column 1: a quote without an end; "), "{error}");
    file.write_all(b"\"").unwrap();
    assert_eq!(rows_of(&read(&path).unwrap()), [["1"], ["2"]]);
    assert_eq!(Head::read(&path, b',').unwrap().unwrap().fields, ["a"]);
    // The file is sparse: none of its bytes is read or written.
    file.set_len(5 << 30).unwrap();
    assert!(matches!(read(&path), Err(ReadError::TooLong(_))));
}

/// A naive reader: one character at a time, nothing in place. Returns `None` for a refused text.
fn reference(text: &str, separator: char) -> Option<Rows> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    let (mut rows, mut row) = (Rows::new(), Vec::new());
    while rest.peek().is_some() {
        let (mut cell, quoted) = (String::new(), rest.next_if_eq(&'"').is_some());
        if quoted {
            loop {
                match rest.next()? {
                    '"' if rest.next_if_eq(&'"').is_none() => break,
                    other => cell.push(other),
                }
            }
        } else {
            while let Some(other) = rest.next_if(|c| ![separator, '\r', '\n'].contains(c)) {
                cell.push(other);
            }
        }
        let empty = row.is_empty() && cell.is_empty() && !quoted;
        row.push(cell);
        match rest.next() {
            Some(other) if other == separator => {
                if rest.peek().is_some() {
                    continue;
                }
                row.push(String::new());
            }
            Some('\r') if rest.next() == Some('\n') => {}
            Some('\n') | None => {}
            Some(_) => return None,
        }
        let ended = std::mem::take(&mut row);
        if !empty || ended.len() > 1 {
            rows.push(ended);
        }
    }
    let width = rows.first()?.len();
    rows.iter().all(|row| row.len() == width).then_some(rows)
}

/// Texts made of significant characters and of whole rows, so that many are tables.
fn texts() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        "[a-cä☂ ]{0,4}",
        "[a;, \"ä\n\r]{0,5}".prop_map(|text| format!("\"{}\"", text.replace('"', "\"\""))),
    ];
    let row = prop::collection::vec(cell, 2).prop_map(|cells| cells.join(","));
    let line = prop_oneof![8 => row, 1 => "[a\",;\r\n\u{feff}ä]{0,6}"];
    let ended = (line, prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")]);
    (any::<bool>(), prop::collection::vec(ended, 0..6), any::<bool>()).prop_map(|(mark, lines, end)| {
        let mut text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
        if !end {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        if mark { format!("\u{feff}{text}") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn cells_equal_those_of_a_naive_reader(text in texts()) {
        for (separator, sign) in [(b',', ','), (b';', ';')] {
            let expected = reference(&text, sign);
            let width = expected.as_ref().map_or(2, |rows| rows[0].len());
            let names: Vec<String> = (0..width).map(|n| n.to_string()).collect();
            let form = Form { separator, columns: Some(names) };
            let found = Table::parse(text.clone().into_bytes(), &form, any_cell);
            prop_assert_eq!(found.ok().map(|table| rows_of(&table)), expected);
        }
    }
}
