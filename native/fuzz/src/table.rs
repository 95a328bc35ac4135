//! A table is refused with an error position within its text, or read; its cells can be written and read
//! again.

use table::{Form, Head, MAX_COLUMNS, Table};

pub(crate) fn target(text: &[u8]) {
    let separator = if text.contains(&b'\t') { b'\t' } else { b',' };
    read(text, &Form { separator, columns: None });
    if let Ok(Some(head)) = Head::parse(text.to_vec(), separator) {
        let columns = (0..head.fields.len()).map(|number| number.to_string()).collect();
        read(text, &Form { separator, columns: Some(columns) });
    }
}

fn read(text: &[u8], form: &Form) {
    let table = match Table::parse(text.to_vec(), form, |_, _| Ok(())) {
        Ok(table) => table,
        Err(error) => {
            let text = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
            let line = text.split('\n').nth(error.line as usize - 1).expect("the line of an error");
            assert!((1..=line.chars().count() as u64 + 1).contains(&error.column), "{error}");
            return;
        }
    };
    let (rows, width) = (table.rows(), table.columns().len());
    assert!(rows > 0 && (1..=MAX_COLUMNS).contains(&width));
    let mut again = Vec::new();
    for row in 0..rows {
        for column in 0..width {
            let cell = table.cell(row, column).expect("a cell in each row and column");
            let cell = std::str::from_utf8(cell).expect("a cell is text");
            again.push(b'"');
            again.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
            again.extend_from_slice(if column + 1 == width { b"\"\r\n" } else { b"\"," });
        }
    }
    assert!(table.cell(rows, 0).is_none());
    let columns = Some((0..width).map(|number| number.to_string()).collect());
    let twin = Table::parse(again, &Form { separator: b',', columns }, |_, _| Ok(()));
    let twin = twin.expect("what is quoted is read");
    assert_eq!(twin.rows(), rows);
    for at in 0..rows * width {
        assert_eq!(twin.cell(at / width, at % width), table.cell(at / width, at % width));
    }
}
