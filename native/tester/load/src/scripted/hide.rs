//! Hides secrets in output.

use std::cmp::Reverse;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wire::dn::escape_value;

/// Shorter parts of a secret are not hidden, because too much other text would be hidden as well. A shorter
/// secret is hidden if it is a whole word.
const LEAST_PART: usize = 4;

/// Longer secrets are hidden in both upper and lower case.
const MOST_EXACT: usize = 6;

/// Replaces secrets by their names, in every spelling in which they are sent or servers repeat them.
pub(crate) fn hide(text: &str, secrets: &[(Vec<u8>, &str)]) -> String {
    let mut forms: Vec<_> = secrets
        .iter()
        .flat_map(|(secret, name)| spellings(secret).into_iter().map(|form| (form, *name)))
        .filter(|(form, _)| !form.is_empty())
        .collect();
    // Longer forms come first, because a form may be part of another form.
    forms.sort_by_key(|(form, _)| Reverse(form.len()));
    let mut begins = [false; 256];
    for first in forms.iter().filter_map(|(form, _)| form.chars().next()) {
        for c in first.to_lowercase().chain(first.to_uppercase()).chain([first]) {
            begins[usize::from(c.encode_utf8(&mut [0; 4]).as_bytes()[0])] = true;
        }
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let is_first = begins[usize::from(rest.as_bytes()[0])];
        let hidden = if is_first {
            let before = text[..text.len() - rest.len()].chars().next_back();
            forms.iter().find_map(|(form, name)| Some((prefix(rest, form, before)?, *name)))
        } else {
            None
        };
        match hidden {
            Some((length, name)) => {
                shown.push_str(name);
                rest = &rest[length..];
            }
            None => {
                shown.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    shown
}

/// If a text begins with a form of a secret: the number of bytes of this beginning. `before` is the
/// character before the text.
fn prefix(text: &str, form: &str, before: Option<char>) -> Option<usize> {
    if let Some(after) = text.strip_prefix(form) {
        let in_word = before.into_iter().chain(after.chars().next()).any(char::is_alphanumeric);
        return (form.len() >= LEAST_PART || !in_word).then_some(form.len());
    }
    if form.chars().count() <= MOST_EXACT {
        return None;
    }
    let mut characters = text.char_indices();
    let same = form.chars().all(|wanted| {
        characters.next().is_some_and(|(_, c)| c == wanted || c.to_lowercase().eq(wanted.to_lowercase()))
    });
    same.then(|| characters.offset())
}

/// All spellings of a secret. If the secret is a name and a password in base64 (RFC 7617), the result
/// contains the spellings of these parts, too.
fn spellings(secret: &[u8]) -> Vec<String> {
    let encoded = secret.strip_prefix(b"Basic ").unwrap_or(secret);
    let decoded = STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let mut forms = spelled(secret);
    if let Some((name, password)) = decoded.as_deref().and_then(|both| both.split_once(':')) {
        let parts = [&format!("{name}:{password}"), name, password];
        let parts = parts.into_iter().filter(|part| part.len() >= LEAST_PART);
        forms.extend(parts.flat_map(|part| spelled(part.as_bytes())));
    }
    forms
}

fn spelled(secret: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(secret).into_owned();
    let mut percent = String::new();
    for &byte in secret {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            percent.push(char::from(byte));
        } else {
            let _ = write!(percent, "%{byte:02X}");
        }
    }
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#39;");
    let json = serde_json::Value::from(text.as_str()).to_string();
    let mut dn = Vec::new();
    escape_value(secret, &mut dn);
    let base64 = STANDARD.encode(secret);
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![
        percent.replace("%20", "+"),
        percent.to_lowercase(),
        percent,
        html.replace('"', "&#34;"),
        html.replace('"', "&quot;"),
        json[1..json.len() - 1].to_owned(),
        String::from_utf8_lossy(&dn).into_owned(),
        base64.replace('+', "-").replace('/', "_"),
        base64.trim_end_matches('=').to_owned(),
        base64,
        hex.to_uppercase(),
        hex,
        text,
    ];
    // Servers' messages are shown as quoted strings.
    let quoted: Vec<_> = forms.iter().map(|form| form.escape_debug().to_string()).collect();
    forms.extend(quoted);
    forms.sort_unstable();
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_every_spelling_that_is_sent() {
        let secret = "Csv-P@ss wörd's \"1\"";
        for text in [
            "Csv-P@ss wörd's \"1\"",
            "Csv-P%40ss+w%C3%B6rd%27s+%221%22",
            "Csv-P%40ss%20w%C3%B6rd%27s%20%221%22",
            "Csv-P%40ss%20w%c3%b6rd%27s%20%221%22",
            "Csv-P@ss wörd&#39;s &quot;1&quot;",
            "Csv-P@ss wörd's \\\"1\\\"",
            "CSV-P@SS WÖRD'S \"1\"",
            "Q3N2LVBAc3Mgd8O2cmQncyAiMSI=",
            "Q3N2LVBAc3Mgd8O2cmQncyAiMSI",
            "4373762d504073732077c3b67264277320223122",
        ] {
            let shown = hide(&format!("500 bad <{text}> 1"), &[(secret.into(), "{u.word}")]);
            assert_eq!(shown, "500 bad <{u.word}> 1", "{text}");
        }
    }

    #[test]
    fn user_and_password_of_a_basic_auth_header_are_hidden() {
        // The secret is `service:basic-pass-99` in base64.
        for secret in ["c2VydmljZTpiYXNpYy1wYXNzLTk5", "Basic c2VydmljZTpiYXNpYy1wYXNzLTk5"] {
            let hide = |text: &str| hide(text, &[(secret.into(), "{env.BAS}")]);
            assert_eq!(hide("no service:basic-pass-99"), "no {env.BAS}");
            assert_eq!(hide("service has not BASIC-PASS-99"), "{env.BAS} has not {env.BAS}");
            assert_eq!(hide("c2VydmljZTpiYXNpYy1wYXNzLTk5"), "{env.BAS}");
        }
    }

    #[test]
    fn a_short_secret_is_hidden_only_as_a_whole_word() {
        let shown = hide("GET /groups/2/change?a=2&b=\"2\": 302 Found", &[(b"2".to_vec(), "{group}")]);
        assert_eq!(shown, "GET /groups/{group}/change?a={group}&b=\"{group}\": 302 Found");
    }

    #[test]
    fn names_of_secrets_are_not_hidden() {
        let secrets: [(Vec<u8>, &str); 2] = [("password".into(), "{u.password}"), ("u".into(), "{u.name}")];
        assert_eq!(hide("password of u", &secrets), "{u.password} of {u.name}");
        // The secret is too short to be hidden in upper case.
        assert_eq!(hide("U", &secrets), "U");
    }
}
