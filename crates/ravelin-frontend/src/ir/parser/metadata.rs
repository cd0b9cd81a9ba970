//! Metadata: the nodes that [`DebugInfo`](crate::ir::debug::DebugInfo) keeps; others are skipped.

use super::{Kind, Parse, Parser, Token};
use crate::ir::debug::{Node, TypeNode};

/// Variables with longer names, in bytes, have none.
const LONGEST_NAME: usize = 1000;

/// The fields of a node, by name, each with the first token of its value.
struct Fields(Vec<(String, Token)>);

impl Parser<'_> {
    /// `!dbg !12`, perhaps after a comma. `Some(None)`: an attachment that is not kept.
    pub fn attachment(&mut self) -> Option<Option<u32>> {
        let comma = usize::from(self.cursor.is(b','));
        let token = self.cursor.ahead(comma);
        if token.kind != Kind::MetadataName {
            return None;
        }
        self.cursor.at += comma + 1;
        let value = self.cursor.bump();
        match value.kind {
            Kind::Metadata if self.cursor.text_of(token) == "!dbg" => return Some(self.metadata_number(value)),
            // A node in place: `!DILocation(…)` or `!{…}`.
            Kind::MetadataName | Kind::Symbol(b'!') if self.cursor.is(b'(') || self.cursor.is(b'{') => {
                self.skip_balanced()
            }
            _ => {}
        }
        Some(None)
    }

    pub fn metadata_number(&self, token: Token) -> Option<u32> {
        self.cursor.text_of(token).get(1..)?.parse().ok()
    }

    pub fn metadata_definition(&mut self) -> Parse<()> {
        let token = self.cursor.bump();
        self.expect(b'=')?;
        self.cursor.eat_word("distinct");
        if self.cursor.is_end() {
            return self.unexpected("metadata");
        }
        if let Some(node) = self.node()
            && let Some(number) = self.metadata_number(token)
        {
            self.module.debug.nodes.insert(number, node);
        }
        self.skip_statement();
        Ok(())
    }

    fn node(&mut self) -> Option<Node> {
        let token = self.cursor.token();
        match token.kind {
            Kind::Symbol(b'!') => {
                self.cursor.at += 1;
                self.list()
            }
            Kind::MetadataName => {
                self.cursor.at += 1;
                let kind = self.cursor.text_of(token);
                let kept = matches!(
                    kind,
                    "!DILocation"
                        | "!DISubprogram"
                        | "!DILexicalBlock"
                        | "!DILexicalBlockFile"
                        | "!DICompileUnit"
                        | "!DINamespace"
                        | "!DIModule"
                        | "!DIFile"
                        | "!DILocalVariable"
                        | "!DIGlobalVariable"
                        | "!DIGlobalVariableExpression"
                        | "!DICompositeType"
                        | "!DIDerivedType"
                        | "!DIBasicType"
                        | "!DIStringType"
                        | "!DISubrange"
                );
                if !kept || !self.cursor.is(b'(') {
                    return None;
                }
                let fields = self.fields_of_node();
                self.build(kind, &fields)
            }
            _ => None,
        }
    }

    /// A list in which all elements are nodes or null; others are of no use here.
    fn list(&mut self) -> Option<Node> {
        if !self.cursor.eat(b'{') {
            return None;
        }
        let mut elements = Vec::new();
        while !self.cursor.is_end() && !self.cursor.eat(b'}') {
            let token = self.cursor.bump();
            match token.kind {
                Kind::Metadata => elements.extend(self.metadata_number(token)),
                Kind::Symbol(b',') => {}
                Kind::Word if self.cursor.text_of(token) == "null" => {}
                _ => {
                    self.cursor.at -= 1;
                    while !self.cursor.is_end() && !self.cursor.is(b'}') {
                        self.skip_balanced();
                    }
                    self.cursor.eat(b'}');
                    return None;
                }
            }
        }
        Some(Node::List(elements))
    }

    fn fields_of_node(&mut self) -> Fields {
        self.cursor.at += 1;
        let mut fields = Vec::new();
        while !self.cursor.is_end() && !self.cursor.eat(b')') {
            let token = self.cursor.token();
            if token.kind == Kind::Label {
                self.cursor.at += 1;
                let name = self.cursor.text_of(token).trim_end_matches(':').to_owned();
                fields.push((name, self.cursor.token()));
            } else {
                self.skip_balanced();
            }
        }
        Fields(fields)
    }

    fn build(&self, kind: &str, fields: &Fields) -> Option<Node> {
        let field = |name: &str| fields.0.iter().find(|(field, _)| field == name).map(|(_, value)| *value);
        let node = |name: &str| {
            let token = field(name).filter(|token| token.kind == Kind::Metadata)?;
            self.metadata_number(token)
        };
        let number = |name: &str| field(name).and_then(|token| self.cursor.text_of(token).parse::<u64>().ok());
        let text = |name: &str| {
            let token = field(name).filter(|token| token.kind == Kind::String)?;
            let bytes = super::lexer::unescape(self.cursor.text_of(token).trim_matches('"'));
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let small = |name: &str| number(name).and_then(|value| u32::try_from(value).ok()).unwrap_or(0);
        Some(match kind {
            "!DILocation" => Node::Location {
                line: small("line"),
                column: small("column"),
                scope: node("scope"),
                inlined_at: node("inlinedAt"),
            },
            "!DIFile" => {
                let name = text("filename")?;
                let directory = text("directory").unwrap_or_default();
                let path = match name.starts_with('/') || directory.is_empty() {
                    true => name,
                    false => format!("{}/{name}", directory.trim_end_matches('/')),
                };
                Node::File { path }
            }
            "!DILocalVariable" | "!DIGlobalVariable" => {
                // Every use of a variable copies its name.
                let name = text("name").filter(|name| name.len() <= LONGEST_NAME).unwrap_or_default();
                Node::Variable { name, ty: node("type"), scope: node("scope") }
            }
            "!DIGlobalVariableExpression" => Node::GlobalExpression { variable: node("var") },
            "!DISubrange" => {
                // Fortran and Ada have other bounds; -1 is an array whose size is not known.
                Node::Subrange { count: number("count") }
            }
            "!DICompositeType" | "!DIDerivedType" | "!DIBasicType" | "!DIStringType" => {
                let tag = field("tag").map_or("", |token| self.cursor.text_of(token));
                Node::Type(TypeNode {
                    tag: tag.trim_start_matches("DW_TAG_").to_owned(),
                    name: text("name").unwrap_or_default(),
                    base: node("baseType"),
                    elements: node("elements"),
                    size_bits: number("size").unwrap_or(0),
                    offset_bits: number("offset").unwrap_or(0),
                })
            }
            // Blocks have no name, and what a unit or a namespace is called does not help to find a function.
            _ => Node::Scope {
                name: if kind == "!DISubprogram" { text("name") } else { None },
                file: node("file"),
                parent: node("scope"),
                line: small("line"),
            },
        })
    }
}
