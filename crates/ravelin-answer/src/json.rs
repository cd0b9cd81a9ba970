//! JSON as a value, from which all answers are read.
//!
//! Reading is generic in serde: every type is compiled once for each way to read it. A text, a buffered answer with a
//! `kind` and a flattened field are three ways, and reading was most of the code of this crate. So a text becomes this
//! value first, and the types are compiled for it alone. Fields keep their order, since that of registers and cells is
//! the program's.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Error;
use std::fmt;
use std::vec::IntoIter;

/// Any JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Natural(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Whether it is an object with this field.
    pub fn has(&self, name: &str) -> bool {
        matches!(self, Json::Object(fields) if fields.iter().any(|(field, _)| field == name))
    }

    /// Takes a field out of an object.
    pub fn take(&mut self, name: &str) -> Option<Json> {
        let Json::Object(fields) = self else { return None };
        let place = fields.iter().position(|(field, _)| field == name)?;
        Some(fields.remove(place).1)
    }

    fn unless(&self, expected: &dyn Expected) -> Error {
        let found = match self {
            Json::Null => Unexpected::Unit,
            Json::Bool(value) => Unexpected::Bool(*value),
            Json::Natural(value) => Unexpected::Unsigned(*value),
            Json::Negative(value) => Unexpected::Signed(*value),
            Json::Float(value) => Unexpected::Float(*value),
            Json::Text(text) => Unexpected::Str(text),
            Json::List(_) => Unexpected::Seq,
            Json::Object(_) => Unexpected::Map,
        };
        Error::invalid_type(found, expected)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Natural(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(u64::try_from(value).map_or(Json::Negative(value), Json::Natural))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self {
                Json::Natural(value) => visitor.visit_u64(value),
                Json::Negative(value) => visitor.visit_i64(value),
                Json::Float(value) => visitor.visit_f64(value),
                _ => Err(self.unless(&visitor)),
            }
        })*
    };
}

/// Each method asks a visitor only for what the type can be: a struct is never a list here.
impl<'de> Deserializer<'de> for Json {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(value),
            Json::Natural(value) => visitor.visit_u64(value),
            Json::Negative(value) => visitor.visit_i64(value),
            Json::Float(value) => visitor.visit_f64(value),
            Json::Text(text) => visitor.visit_string(text),
            Json::List(values) => visitor.visit_seq(Elements(values.into_iter())),
            Json::Object(fields) => visitor.visit_map(Fields::new(fields)),
        }
    }

    numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Bool(value) => visitor.visit_bool(value),
            _ => Err(self.unless(&visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Text(text) => visitor.visit_string(text),
            _ => Err(self.unless(&visitor)),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::List(values) => visitor.visit_seq(Elements(values.into_iter())),
            _ => Err(self.unless(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::List(values) if values.len() != length => Err(Error::invalid_length(values.len(), &visitor)),
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Json::Object(fields) => visitor.visit_map(Fields::new(fields)),
            _ => Err(self.unless(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (name, content) = match self {
            Json::Text(name) => (name, None),
            Json::Object(mut fields) if fields.len() == 1 => {
                let (name, content) = fields.remove(0);
                (name, Some(content))
            }
            _ => return Err(self.unless(&visitor)),
        };
        visitor.visit_enum(Variant { name, content })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { i128 u128 char bytes byte_buf unit unit_struct tuple_struct }
}

struct Elements(IntoIter<Json>);

impl<'de> SeqAccess<'de> for Elements {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|value| seed.deserialize(value)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Fields {
    rest: IntoIter<(String, Json)>,
    /// Of the field whose name was read last.
    value: Json,
}

impl Fields {
    fn new(fields: Vec<(String, Json)>) -> Fields {
        Fields { rest: fields.into_iter(), value: Json::Null }
    }
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Error;

    #[inline(never)]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = value;
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    #[inline(never)]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(std::mem::replace(&mut self.value, Json::Null))
    }
}

/// `"name"` or `{ "name": content }`.
struct Variant {
    name: String,
    content: Option<Json>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Content;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Content), Error> {
        Ok((seed.deserialize(self.name.into_deserializer())?, Content(self.content)))
    }
}

struct Content(Option<Json>);

impl<'de> VariantAccess<'de> for Content {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.0 {
            None => Ok(()),
            Some(content) => Err(content.unless(&"a name alone")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.0.unwrap_or(Json::Null))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.0.unwrap_or(Json::Null).deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.0.unwrap_or(Json::Null).deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Sample {
        natural: u8,
        negative: i64,
        float: f64,
        text: String,
        yes: bool,
        #[serde(default)]
        absent: u64,
        null: Option<u64>,
        some: Option<Box<Shape>>,
        pair: (u64, String),
        map: BTreeMap<String, Vec<Shape>>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Shape {
        Point,
        Circle(u64),
        Line(u64, u64),
        Box { width: u64 },
    }

    const SAMPLE: &str = r#"{ "natural": 7, "negative": -7, "float": 2, "text": "a\n", "yes": true, "null": null,
        "unknown": [{}, []], "some": "Point", "pair": [1, "x"],
        "map": { "k": ["Point", { "Circle": 3 }, { "Line": [1, 2] }, { "Box": { "width": 4 } }] } }"#;

    #[test]
    fn what_serde_json_reads_from_a_text_is_read_from_a_value() {
        let json: Json = serde_json::from_str(SAMPLE).expect("JSON");
        let direct: Sample = serde_json::from_str(SAMPLE).expect("a sample");
        assert_eq!(Sample::deserialize(json).expect("a sample"), direct);
    }

    #[test]
    fn what_serde_json_refuses_is_refused() {
        let wrong = [
            ("\"natural\": 7", "\"natural\": 256"),
            ("\"natural\": 7", "\"natural\": -1"),
            ("\"natural\": 7", "\"natural\": 1.5"),
            ("\"natural\": 7,", ""),
            ("\"yes\": true", "\"yes\": 1"),
            ("\"text\": \"a\\n\"", "\"text\": 3"),
            ("\"pair\": [1, \"x\"]", "\"pair\": [1]"),
            ("\"pair\": [1, \"x\"]", "\"pair\": [1, \"x\", 2]"),
            ("\"some\": \"Point\"", "\"some\": \"Circle\""),
            ("\"some\": \"Point\"", "\"some\": { \"Point\": 3 }"),
            ("\"some\": \"Point\"", "\"some\": \"Oval\""),
            ("\"some\": \"Point\"", "\"some\": {}"),
            ("{ \"width\": 4 }", "[]"),
        ];
        for (part, replacement) in wrong {
            let text = SAMPLE.replace(part, replacement);
            assert_ne!(text, SAMPLE);
            assert!(serde_json::from_str::<Sample>(&text).is_err(), "{replacement}");
            let json: Json = serde_json::from_str(&text).expect("JSON");
            assert!(Sample::deserialize(json).is_err(), "{replacement}");
        }
    }

    #[test]
    fn fields_keep_their_order() {
        let json: Json = serde_json::from_str(r#"{ "b": 1, "a": 2 }"#).expect("JSON");
        assert_eq!(json, Json::Object(vec![("b".to_owned(), Json::Natural(1)), ("a".to_owned(), Json::Natural(2))]));
    }
}
