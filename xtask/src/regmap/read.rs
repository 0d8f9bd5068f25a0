//! Reads the table, or says what is wrong with it.

use toml::Table;

use super::map::{Codes, Counter, Field, Map, Register, SOURCE, Sum, Value};

impl Map {
    /// Reads the table, or says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error| format!("{SOURCE}: {error}"))?;
        let known = ["id", "version", "line_baud", "register", "code", "counter", "sum"];
        only(&table, &known, "the table")?;
        let map = Self {
            id: number(&table, "id", "the table")?,
            version: number(&table, "version", "the table")?,
            line_baud: number(&table, "line_baud", "the table")?,
            registers: list(&table, "register", register)?,
            codes: list(&table, "code", codes)?,
            counters: list(&table, "counter", |counter, place| {
                let name = string(counter, "name", place)?;
                only(counter, &["name", "says"], &name)?;
                Ok(Counter { says: string(counter, "says", &name)?, name })
            })?,
            sums: list(&table, "sum", sum)?,
        };
        map.check()?;
        Ok(map)
    }
}

fn register(table: &Table, place: &str) -> Result<Register, String> {
    let name = string(table, "name", place)?;
    only(table, &["name", "address", "words", "access", "says", "fields"], &name)?;
    let fields = match table.get("fields") {
        None => Vec::new(),
        Some(_) => list(table, "fields", |field, place| {
            let field_name = string(field, "name", place)?;
            only(field, &["name", "bit", "width", "codes", "says"], &field_name)?;
            let codes = field.contains_key("codes").then(|| string(field, "codes", &field_name));
            Ok(Field {
                bit: number(field, "bit", &field_name)?,
                width: number(field, "width", &field_name)?,
                codes: codes.transpose()?,
                says: string(field, "says", &field_name)?,
                name: field_name,
            })
        })?,
    };
    Ok(Register {
        address: number(table, "address", &name)?,
        words: if table.contains_key("words") { number(table, "words", &name)? } else { 1 },
        access: string(table, "access", &name)?,
        says: string(table, "says", &name)?,
        name,
        fields,
    })
}

fn codes(table: &Table, place: &str) -> Result<Codes, String> {
    let name = string(table, "name", place)?;
    only(table, &["name", "width", "says", "values"], &name)?;
    Ok(Codes {
        width: number(table, "width", &name)?,
        says: string(table, "says", &name)?,
        values: list(table, "values", |value, place| {
            let value_name = string(value, "name", place)?;
            only(value, &["name", "says"], &value_name)?;
            Ok(Value { says: string(value, "says", &value_name)?, name: value_name })
        })?,
        name,
    })
}

fn sum(table: &Table, place: &str) -> Result<Sum, String> {
    only(table, &["of", "counters", "events"], place)?;
    Ok(Sum {
        of: string(table, "of", place)?,
        counters: strings(table, "counters", place)?,
        events: strings(table, "events", place)?,
    })
}

fn list<T>(
    table: &Table,
    key: &str,
    read: impl Fn(&Table, &str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let items = table.get(key).and_then(toml::Value::as_array);
    let items = items.ok_or_else(|| format!("{SOURCE}: there is no list `{key}`"))?;
    let read = |(index, item): (usize, &toml::Value)| {
        let place = format!("{key} {}", index + 1);
        let item = item.as_table().ok_or_else(|| format!("{SOURCE}: {place} is not a table"))?;
        read(item, &place)
    };
    items.iter().enumerate().map(read).collect()
}

/// Refuses a key that nothing here knows.
fn only(table: &Table, known: &[&str], place: &str) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!(
            "{SOURCE}: {place} has `{key}`, which is not known; known are {}",
            known.join(", ")
        )),
        None => Ok(()),
    }
}

fn string(table: &Table, key: &str, place: &str) -> Result<String, String> {
    let text = table.get(key).and_then(toml::Value::as_str);
    Ok(text.ok_or_else(|| format!("{SOURCE}: {place} has no text `{key}`"))?.to_owned())
}

fn strings(table: &Table, key: &str, place: &str) -> Result<Vec<String>, String> {
    let texts = table.get(key).and_then(toml::Value::as_array);
    let texts = texts.and_then(|texts| {
        texts.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    match texts {
        Some(texts) if !texts.is_empty() => Ok(texts),
        _ => Err(format!("{SOURCE}: {place} has no list of texts `{key}`")),
    }
}

fn number(table: &Table, key: &str, place: &str) -> Result<u32, String> {
    let number = table.get(key).and_then(toml::Value::as_integer).map(u32::try_from);
    match number {
        Some(Ok(number)) => Ok(number),
        _ => Err(format!("{SOURCE}: {place} has no number `{key}` of 32 bits")),
    }
}
