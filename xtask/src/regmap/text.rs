//! Names, sentences and wrapped lines for the files that are written.

/// `snake_case` or `UPPER_CASE` as `UpperCamel`.
pub(super) fn camel(name: &str) -> String {
    let capital = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + &rest.to_lowercase(),
        None => String::new(),
    };
    name.split('_').map(capital).collect()
}

/// A text with a capital at its beginning and a full stop at its end.
pub(super) fn sentence(says: &str) -> String {
    match says.split_at_checked(1) {
        Some((first, rest)) => format!("{}{rest}.", first.to_uppercase()),
        None => String::new(),
    }
}

/// Lines of at most `width` columns, each after `prefix`.
pub(super) fn wrapped(prefix: &str, text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = prefix.to_owned();
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > width && line.len() > prefix.len() {
            lines += &line;
            lines.push('\n');
            prefix.clone_into(&mut line);
        }
        line.push(' ');
        line += word;
    }
    lines + &line + "\n"
}
