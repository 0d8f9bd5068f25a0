//! Patches: unified diffs whose context has to stand in the file exactly, applied without git.

/// Applies a patch to the files that it names.
///
/// `read` gives a file's text. The result has each file with its new text.
///
/// # Errors
/// A hunk whose old lines do not stand in the file, or stand there twice, or a malformed patch.
pub(crate) fn apply(
    patch: &str,
    read: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, String> {
    let mut changed: Vec<(String, String)> = Vec::new();
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            let text = read(path).ok_or_else(|| format!("there is no `{path}`"))?;
            changed.push((path.to_owned(), text));
        } else if line.starts_with("@@ ") {
            let (mut old, mut new) = (String::new(), String::new());
            while let Some(line) =
                lines.next_if(|line| !line.starts_with("@@ ") && !line.starts_with("--- "))
            {
                // An editor may have taken the blank of an empty line.
                let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                for (here, side) in [(kind != "+", &mut old), (kind != "-", &mut new)] {
                    if here {
                        side.push_str(text);
                        side.push('\n');
                    }
                }
                if !matches!(kind, " " | "+" | "-") {
                    return Err(format!("`{line}` is no line of a hunk"));
                }
            }
            let (path, text) = changed.last_mut().ok_or("a hunk before a file")?;
            match text.matches(&old).count() {
                1 => *text = text.replacen(&old, &new, 1),
                found => return Err(format!("{path} has the lines of `{line}` {found} times")),
            }
        }
    }
    if changed.is_empty() { Err("the patch changes no file".to_owned()) } else { Ok(changed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "what it does\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn\n one\n-two\n\
                         +2\n+and\n three\n@@ -9,1 +9,1 @@\n-nine\n+9\n";

    fn applied(text: &str) -> Result<String, String> {
        let read = |path: &str| (path == "x.rs").then(|| text.to_owned());
        apply(PATCH, read).map(|files| files[0].1.clone())
    }

    #[test]
    fn hunks_replace_their_lines() {
        let text = "zero\none\ntwo\nthree\nnine\n";
        assert_eq!(applied(text).as_deref(), Ok("zero\none\n2\nand\nthree\n9\n"));
    }

    #[test]
    fn lines_that_are_not_there_or_not_clear_are_refused() {
        assert!(applied("one\nthree\nnine\n").unwrap_err().contains("0 times"));
        assert!(applied("one\ntwo\nthree\nnine\nnine\n").unwrap_err().contains("2 times"));
        assert!(apply(PATCH, |_| None).unwrap_err().contains("no `x.rs`"));
        assert!(apply("", |_| None).is_err());
        assert!(apply("@@ -1 +1 @@\n-a\n", |_| None).unwrap_err().contains("before a file"));
    }
}
