//! Values that can be written in more than one way.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{
    Argument, ArgumentTable, FileSource, FileTable, Formula, Literal, Names, Number, Real, Target,
};
use crate::element::ElementType;
use crate::expression::Expression;
use crate::real;

impl fmt::Display for Literal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(formatter),
            Self::Real(value) => write!(formatter, "{value:?}"),
        }
    }
}

struct FileSourceVisitor;

impl<'de> Visitor<'de> for FileSourceVisitor {
    type Value = FileSource;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a file's name or a table such as { path = \"x.npz\", member = \"x\" }")
    }

    fn visit_str<E: Error>(self, path: &str) -> Result<FileSource, E> {
        let (path, format, member) = (path.to_owned(), None, None);
        Ok(FileSource(FileTable { path, format, member, column: None, header: false }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FileSource, A::Error> {
        FileTable::deserialize(MapAccessDeserializer::new(map)).map(FileSource)
    }
}

impl<'de> Deserialize<'de> for FileSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FileSourceVisitor)
    }
}

struct TargetVisitor;

impl<'de> Visitor<'de> for TargetVisitor {
    type Value = Target;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a buffer's name or a table such as { buffer = \"x\", offset = 4 }")
    }

    fn visit_str<E: Error>(self, buffer: &str) -> Result<Target, E> {
        Ok(Target { buffer: buffer.to_owned(), offset: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Target, A::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            buffer: String,
            offset: Option<Formula>,
        }
        let Table { buffer, offset } = Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Target { buffer, offset })
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TargetVisitor)
    }
}

struct FormulaVisitor;

impl Visitor<'_> for FormulaVisitor {
    type Value = Formula;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an integer or an expression in quotes")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Formula, E> {
        Ok(Formula(Expression::number(value)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Formula, E> {
        Expression::parse(text).map(Formula).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FormulaVisitor)
    }
}

struct RealVisitor;

impl Visitor<'_> for RealVisitor {
    type Value = Real;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, or a number or integer expression in quotes")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Real, E> {
        Ok(Real::Formula(Expression::number(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Real, E> {
        Ok(Real::Number(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Real, E> {
        let numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'e');
        let is_real = text.bytes().all(numeric) && text.contains(['.', 'e']);
        match text.parse::<f64>() {
            Ok(value) if is_real && value.is_infinite() => {
                Err(E::custom(format!("`{text}` does not fit 64 bits: it would become infinite")))
            }
            Ok(value) if is_real => Ok(Real::Number(value)),
            _ => Expression::parse(text).map(Real::Formula).map_err(E::custom),
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RealVisitor)
    }
}

struct LiteralVisitor;

impl Visitor<'_> for LiteralVisitor {
    type Value = Literal;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Literal, E> {
        Ok(Literal::Integer(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Literal, E> {
        Ok(Literal::Real(value))
    }
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LiteralVisitor)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Literal::deserialize(deserializer)? {
            Literal::Integer(value) => real::of_integer(value, ElementType::F64).map(Self),
            Literal::Real(value) => Ok(Self(value)),
        }
        .map_err(D::Error::custom)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a buffer's name or a list of names")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Names, E> {
        Ok(Names(vec![name.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = sequence.next_element()? {
            names.push(name);
        }
        Ok(Names(names))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct ArgumentVisitor;

impl<'de> Visitor<'de> for ArgumentVisitor {
    type Value = Argument;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a buffer's name, a number or a table such as { u32 = \"n\" }")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Argument, E> {
        Ok(Argument::Number(Literal::Integer(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Argument, E> {
        Ok(Argument::Number(Literal::Real(value)))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Argument, E> {
        Ok(Argument::Buffer(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Argument, A::Error> {
        let table = ArgumentTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Argument::Table(Box::new(table)))
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgumentVisitor)
    }
}
