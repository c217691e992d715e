//! What serde's attributes say of a struct, an enum, a field or a variant.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The attributes that decide what is read. Those that only decide what is
/// written are left out.
#[derive(Default)]
pub struct Attributes {
    pub rename: Option<String>,
    pub rename_all: Option<String>,
    pub aliases: Vec<String>,
    pub default: bool,
    pub skip: bool,
    pub flatten: bool,
    pub untagged: bool,
    pub deny_unknown_fields: bool,
    pub deserialize_with: Option<String>,
    /// The type that serde reads instead ("from" and "try_from").
    pub from: Option<String>,
    /// Attributes that are not known here: they might change what is read.
    pub unknown: Vec<String>,
}

impl Attributes {
    pub fn of(attributes: &[Attribute]) -> Self {
        let mut found = Self::default();
        for attribute in attributes {
            if !attribute.path().is_ident("serde") {
                continue;
            }
            let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
            match attribute.parse_args_with(parser) {
                Ok(list) => list.iter().for_each(|one| found.add(one)),
                Err(error) => found.unknown.push(error.to_string()),
            }
        }
        found
    }

    fn add(&mut self, meta: &Meta) {
        let name = meta
            .path()
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        match (name.as_str(), text(meta)) {
            ("rename", Some(value)) => self.rename = Some(value),
            ("rename_all", Some(value)) => self.rename_all = Some(value),
            ("alias", Some(value)) => self.aliases.push(value),
            ("default", _) => self.default = true,
            ("skip" | "skip_deserializing", None) => self.skip = true,
            ("flatten", None) => self.flatten = true,
            ("untagged", None) => self.untagged = true,
            ("deny_unknown_fields", None) => self.deny_unknown_fields = true,
            ("deserialize_with", Some(value)) => {
                self.deserialize_with = Some(last(&value));
            }
            ("from" | "try_from", Some(value)) => self.from = Some(value),
            // These are about writing only.
            ("skip_serializing" | "skip_serializing_if" | "serialize_with" | "into", _) => {}
            _ => self.unknown.push(name),
        }
    }
}

fn text(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(value),
            ..
        }) => Some(value.value()),
        _ => None,
    }
}

fn last(path: &str) -> String {
    path.rsplit("::").next().unwrap_or(path).to_string()
}
