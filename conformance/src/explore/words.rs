//! Valid and invalid input as raw JSON. `{p}` stands for the program's own text, `{n*c}` for n times the character c.
//! An empty word leaves the member out. Good input comes first in each row. Every valid name, title and tag carries
//! `{p}`, so that programs do not meet.

pub(super) const NAMES: &[&str] = &[
    r#""{p}new""#,
    r#""Zoë {p}""#,
    r#""{p}Жук""#,
    r#""  {p}trim  ""#,
    r#""{p}NEW""#,
    r#""{p}0""#,
    r#""{P}1""#,
    "",
    "null",
    r#""""#,
    r#""   ""#,
    "5",
    "[]",
    r#""{p}/x""#,
    r#""{p}%""#,
    r#""a\u0000{p}""#,
    r#""{p}\n""#,
    r#""{p}{60*x}""#,
    r#""..""#,
    r#""{p}жУК""#,
];

pub(super) const EMAILS: &[&str] = &[
    r#""{p}@new.test""#,
    r#""A.{p}@ex.test""#,
    r#""  {p}@trim.test ""#,
    r#""{p}.2@ex.test""#,
    r#""a.{p}@EX.test""#,
    r#""{p}0@explore.test""#,
    r#""{P}1@EXPLORE.test""#,
    "",
    "null",
    r#""""#,
    "true",
    r#""plain""#,
    r#""@{p}""#,
    r#""{p}@""#,
    r#""a {p}@x""#,
    r#""{p}@{250*x}""#,
    r#""{p}\u0000@x""#,
    r#""a@{p}@x""#,
];

pub(super) const PASSWORDS: &[&str] = &[
    r#""{p}pass""#,
    r#"" pass {p} ""#,
    r#""пароль12""#,
    r#""{p}word""#,
    "",
    "null",
    r#""""#,
    r#""        ""#,
    r#""short""#,
    r#""{257*x}""#,
    "12345678",
    r#""pass\u0000word""#,
];

/// Of the account's true password (`{secret}`), and others.
pub(super) const LOGINS: &[&str] = &["{secret}", r#""wrong {p}""#, r#""""#, "null"];

pub(super) const BIOS: &[&str] = &[
    "",
    r#""Bio {p}""#,
    r#""  línea\n<b>x</b> 🦀 ""#,
    "null",
    r#""""#,
    r#""   ""#,
    "7",
    r#""a\u0000b""#,
    r#""{2000*é}""#,
    r#""{2001*é}""#,
];

pub(super) const IMAGES: &[&str] = &[
    "",
    r#""https://img.test/{p}.png""#,
    r#""  trimmed ""#,
    "null",
    r#""""#,
    r#"" ""#,
    "{}",
    r#""{2049*i}""#,
    r#""\u0000""#,
];

pub(super) const TITLES: &[&str] = &[
    r#""Bread {p}""#,
    r#""bread! {p}""#,
    r#""Crème/Brûlée: {p}""#,
    r#""Привет {p} мир""#,
    r#""Bread {p} 2""#,
    r#""日本語 {p} 🦀""#,
    r#""  Bread   {p}  ""#,
    r#""-- {p} --""#,
    r#""{p}{200*a}""#,
    r#""{p}{200*中}""#,
    "",
    "null",
    r#""""#,
    r#""  ""#,
    "5",
    "[]",
    r#""{p}\u0000""#,
    r#""{256*t}""#,
    r#""{p} ÉÀ""#,
    r#""\u00e9 {p} e\u0301""#,
];

/// As [`TITLES`], with "unchanged" first.
pub(super) const NEW_TITLES: &[&str] = &[
    "",
    r#""Bread {p}""#,
    r#""BREAD {p}?""#,
    r#""Rye {p}""#,
    r#""Bread {p} 3""#,
    "null",
    r#""""#,
    r#""  ""#,
    "{}",
    r#""{256*t}""#,
    r#""\u0000""#,
    r#""Привет {p} мир""#,
];

pub(super) const DESCRIPTIONS: &[&str] = &[
    r#""About {p}""#,
    r#""  trimmed ""#,
    r#""ü <i> & \"q\"""#,
    r#""{1000*d}""#,
    "",
    "null",
    r#""""#,
    r#"" ""#,
    "true",
    r#""{1001*d}""#,
    r#""x\u0000""#,
];

pub(super) const NEW_DESCRIPTIONS: &[&str] = &[
    "",
    r#""Changed {p}""#,
    r#"" trimmed  ""#,
    "null",
    r#""""#,
    "[]",
    r#""{1001*d}""#,
];

pub(super) const BODIES: &[&str] = &[
    r#""Body {p}""#,
    r##""# Md\r\n<script>x</script> 🦀\n ""##,
    r#""{5000*b}""#,
    r#""  kept  ""#,
    "",
    "null",
    r#""""#,
    r#"" \n ""#,
    "7",
    "{}",
    r#""\u0000""#,
    r#""\u2028\ud83e\udd80/""#,
];

pub(super) const NEW_BODIES: &[&str] = &[
    "",
    r#""Other {p}""#,
    r#""  kept too ""#,
    "null",
    r#""""#,
    "7",
    r#""\u0000""#,
];

pub(super) const TAG_LISTS: &[&str] = &[
    r#"["{p}a","{p}B"]"#,
    r#"["{p}a"]"#,
    "",
    "[]",
    r#"["{p}ü","{p}a","{p}C++"," {p}a ","","  "]"#,
    r#"["{p}b","{p} c"]"#,
    r#"["{p}B","{p}b","{p}Z"]"#,
    "null",
    r#""{p}a""#,
    "[1]",
    "[null]",
    "{}",
    r#"["{p}{60*t}"]"#,
    r#"["a\u0000"]"#,
    r#"[["{p}a"]]"#,
];

pub(super) const NEW_TAG_LISTS: &[&str] = &[
    "",
    "[]",
    r#"["{p}z","{p}a"]"#,
    r#"["{p}B"]"#,
    r#"["{p}a","{p}a"]"#,
    "null",
    r#""x""#,
    "[5]",
    r#"["{65*t}"]"#,
];

/// Tags as filters, to be encoded.
pub(super) const TAGS: &[&str] = &[
    "{p}a", "{p}B", "{p}b", "{p} c", "{p}ü", "{p}C++", " {p}a ", "{p}none",
];

pub(super) const COMMENTS: &[&str] = &[
    r#""Comment {p}""#,
    r#""  a\n🦀 ""#,
    r#""{9000*c}""#,
    r#""x""#,
    "",
    "null",
    r#""""#,
    r#"" \n ""#,
    "7",
    "[]",
    r#""{10001*c}""#,
    r#""\u0000""#,
];

pub(super) const LIMITS: &[&str] = &[
    "",
    "limit=1",
    "limit=2",
    "limit=3",
    "limit=100",
    "limit=5000",
    "limit=0",
    "limit=-1",
    "limit=abc",
    "limit=1.5",
    "limit=",
    "limit=1&limit=2",
    "limit=999999999999999999999999999999",
    "limit=%31",
    "limit=+1",
    "limit=01",
];

pub(super) const OFFSETS: &[&str] = &[
    "",
    "offset=1",
    "offset=2",
    "offset=0",
    "offset=7",
    "offset=99",
    "offset=-1",
    "offset=x",
    "offset=",
    "offset=999999999999999999999999999999",
    "offset=-0",
    "offset=1&offset=0",
];

/// Whole bodies that are no JSON, no object, or lack the wrapper.
pub(super) const WHOLES: &[&str] = &[
    "",
    "{",
    r#"{"user":{},"article":{},"comment":{}}"#,
    "[]",
    "null",
    r#"{"user":null,"article":null,"comment":null}"#,
    r#"{"user":5,"article":5,"comment":5}"#,
    r#"{"a":"\ud800"}"#,
];

/// The word at a place, texts filled in.
pub(super) fn word(words: &[&str], place: usize, p: &str) -> String {
    let raw = words.get(place % words.len().max(1)).copied().unwrap_or_default();
    expanded(&raw.replace("{p}", p).replace("{P}", &p.to_uppercase()))
}

/// Writes out `{n*c}`.
fn expanded(text: &str) -> String {
    let Some((before, rest)) = text.split_once('*') else {
        return text.to_owned();
    };
    let (Some((head, count)), Some((character, tail))) = (before.rsplit_once('{'), rest.split_once('}'))
    else {
        return text.to_owned();
    };
    match count.parse() {
        Ok(count) => format!("{head}{}{tail}", character.repeat(count)),
        Err(_) => text.to_owned(),
    }
}

/// An object of the members that are not left out.
pub(super) fn object(wrapper: &str, members: &[(&str, String)]) -> String {
    let present = members.iter().filter(|(_, value)| !value.is_empty());
    let inner: Vec<String> = present
        .map(|(name, value)| format!(r#""{name}":{value}"#))
        .collect();
    format!(r#"{{"{wrapper}":{{{}}}}}"#, inner.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn every_word_is_json_or_nothing() {
        let rows = [
            NAMES,
            EMAILS,
            PASSWORDS,
            BIOS,
            IMAGES,
            TITLES,
            NEW_TITLES,
            DESCRIPTIONS,
            NEW_DESCRIPTIONS,
            BODIES,
            NEW_BODIES,
            TAG_LISTS,
            NEW_TAG_LISTS,
            COMMENTS,
        ];
        for words in rows {
            for place in 0..words.len() {
                let word = word(words, place, "abc");
                assert!(word.is_empty() || json::parse(word.as_bytes()).is_ok(), "{word}");
                assert!(!word.contains("{p}") && !word.contains('*'), "{word}");
            }
        }
    }

    #[test]
    fn repetition_is_written_out() {
        assert_eq!(word(&[r#""{p}{3*é}""#], 0, "x"), r#""xééé""#);
    }
}
