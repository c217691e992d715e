//! The structs and enums of the crate that serde reads.

use std::collections::BTreeMap;
use std::path::Path;

use syn::{
    Attribute, Expr, ExprLit, Fields, GenericArgument, Item, ItemEnum, ItemStruct, Lit,
    PathArguments, Type,
};

use crate::attributes::Attributes;

/// What a key holds, as Rust says it.
#[derive(Clone)]
pub enum Kind {
    Plain(String),
    Optional(Box<Kind>),
    List(Box<Kind>),
    Map(Box<Kind>),
}

pub struct Field {
    pub key: String,
    pub attributes: Attributes,
    pub kind: Kind,
}

pub struct Struct {
    pub attributes: Attributes,
    pub fields: Vec<Field>,
}

pub struct Word {
    pub first: String,
    pub others: Vec<String>,
}

pub struct Enum {
    pub attributes: Attributes,
    /// open: any other text is a value of it, too.
    pub open: bool,
    pub words: Vec<Word>,
}

#[derive(Default)]
pub struct Source {
    pub structs: BTreeMap<String, Struct>,
    pub enums: BTreeMap<String, Enum>,
    /// The variants of `enum Interface`, by the word of their type.
    pub interfaces: BTreeMap<String, String>,
    /// The second names of ethtool's features.
    pub features: BTreeMap<String, String>,
    pub failures: Vec<String>,
}

/// read reads the crate's top and its interfaces: the rest talks to
/// NetworkManager and the kernel.
pub fn read(directory: &Path) -> Result<Source, String> {
    let mut source = Source::default();
    let mut variants = BTreeMap::new();
    for folder in [directory.to_path_buf(), directory.join("ifaces")] {
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("reading {}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("reading {}: {error}", path.display()))?;
            let file = syn::parse_file(&text)
                .map_err(|error| format!("parsing {}: {error}", path.display()))?;
            for item in file.items {
                source.add(item, &mut variants);
            }
        }
    }
    source.name_interfaces(&variants);
    if source.failures.is_empty() {
        return Ok(source);
    }
    Err(source.failures.join("\n"))
}

impl Source {
    fn add(&mut self, item: Item, variants: &mut BTreeMap<String, String>) {
        match item {
            Item::Enum(item) if item.ident == "Interface" => {
                for variant in item.variants {
                    if let Fields::Unnamed(fields) = variant.fields {
                        if let Some(held) = fields.unnamed.first() {
                            variants.insert(variant.ident.to_string(), plain(&kind(&held.ty)));
                        }
                    }
                }
            }
            Item::Const(item) if item.ident == "ETHTOOL_FEATURE_CLI_ALIAS" => {
                self.features = pairs(&item.expr);
                if self.features.is_empty() {
                    self.failures.push(format!("{} holds no pairs", item.ident));
                }
            }
            Item::Struct(item) if is_read(&item.attrs) => self.add_struct(item),
            Item::Enum(item) if is_read(&item.attrs) => self.add_enum(item),
            _ => {}
        }
    }

    fn add_struct(&mut self, item: ItemStruct) {
        let name = item.ident.to_string();
        let attributes = Attributes::of(&item.attrs);
        self.check(&name, &attributes);
        let mut fields = Vec::new();
        if let Fields::Named(named) = item.fields {
            for field in named.named {
                let own = Attributes::of(&field.attrs);
                let Some(ident) = field.ident.filter(|_| !own.skip) else {
                    continue;
                };
                let ident = ident.to_string();
                self.check(&format!("{name}.{ident}"), &own);
                let rule = attributes.rename_all.as_deref();
                fields.push(Field {
                    key: own
                        .rename
                        .clone()
                        .unwrap_or_else(|| cased(rule, ident.trim_start_matches("r#"))),
                    kind: kind(&field.ty),
                    attributes: own,
                });
            }
        }
        let made = Struct { attributes, fields };
        if self.structs.insert(name.clone(), made).is_some() {
            self.failures.push(format!("there are two structs {name}"));
        }
    }

    fn add_enum(&mut self, item: ItemEnum) {
        let name = item.ident.to_string();
        let attributes = Attributes::of(&item.attrs);
        self.check(&name, &attributes);
        let (mut words, mut open) = (Vec::new(), false);
        for variant in item.variants {
            let own = Attributes::of(&variant.attrs);
            let ident = variant.ident.to_string();
            self.check(&format!("{name}::{ident}"), &own);
            open |= own.untagged;
            if own.skip || own.untagged || !matches!(variant.fields, Fields::Unit) {
                continue; // Not a word.
            }
            let rule = attributes.rename_all.as_deref();
            words.push((
                ident.clone(),
                Word {
                    first: own.rename.unwrap_or_else(|| cased(rule, &spaced(&ident))),
                    others: own.aliases,
                },
            ));
        }
        if name == "InterfaceType" {
            for (ident, word) in &words {
                self.interfaces.insert(word.first.clone(), ident.clone());
            }
        }
        let words = words.into_iter().map(|(_, word)| word).collect();
        if self
            .enums
            .insert(
                name.clone(),
                Enum {
                    attributes,
                    open,
                    words,
                },
            )
            .is_some()
        {
            self.failures.push(format!("there are two enums {name}"));
        }
    }

    /// name_interfaces puts the struct of each type beside its word. A veth is
    /// an Ethernet interface to nmstate; a type without a struct is only reported.
    fn name_interfaces(&mut self, variants: &BTreeMap<String, String>) {
        for ident in self.interfaces.values_mut() {
            let variant = if ident == "Veth" {
                "Ethernet"
            } else {
                ident.as_str()
            };
            *ident = variants.get(variant).cloned().unwrap_or_default();
        }
    }

    fn check(&mut self, place: &str, attributes: &Attributes) {
        for unknown in &attributes.unknown {
            self.failures.push(format!(
                "{place}: the attribute {unknown:?} of serde is not known to nmstate-schema"
            ));
        }
    }
}

/// is_read tells the types for which serde derives how they are read.
fn is_read(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut found = false;
        if attribute.path().is_ident("derive") {
            // A derive that cannot be parsed is none of serde's.
            let _ = attribute.parse_nested_meta(|meta| {
                found |= meta
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "Deserialize");
                Ok(())
            });
        }
        found
    })
}

/// pairs are those of a list of pairs of texts.
fn pairs(list: &Expr) -> BTreeMap<String, String> {
    let Expr::Array(list) = list else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for element in &list.elems {
        let Expr::Tuple(pair) = element else { continue };
        let texts: Vec<String> = pair
            .elems
            .iter()
            .filter_map(|one| match one {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Some(text.value()),
                _ => None,
            })
            .collect();
        if let [from, to] = texts.as_slice() {
            found.insert(from.clone(), to.clone());
        }
    }
    found
}

fn kind(of: &Type) -> Kind {
    let Type::Path(path) = of else {
        return Kind::Plain("()".to_string());
    };
    let Some(last) = path.path.segments.last() else {
        return Kind::Plain("()".to_string());
    };
    let held: Vec<Kind> = match &last.arguments {
        PathArguments::AngleBracketed(list) => list
            .args
            .iter()
            .filter_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(kind(inner)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    match (last.ident.to_string().as_str(), held.as_slice()) {
        ("Option", [inner]) => Kind::Optional(Box::new(inner.clone())),
        ("Vec", [inner]) => Kind::List(Box::new(inner.clone())),
        ("HashMap" | "BTreeMap", [_, inner]) => Kind::Map(Box::new(inner.clone())),
        ("Box", [inner]) => inner.clone(),
        (name, _) => Kind::Plain(name.to_string()),
    }
}

pub fn plain(of: &Kind) -> String {
    match of {
        Kind::Plain(name) => name.clone(),
        Kind::Optional(inner) | Kind::List(inner) | Kind::Map(inner) => plain(inner),
    }
}

/// spaced is CamelCase as snake_case.
fn spaced(ident: &str) -> String {
    let mut made = String::new();
    for (at, letter) in ident.char_indices() {
        if at > 0 && letter.is_uppercase() {
            made.push('_');
        }
        made.extend(letter.to_lowercase());
    }
    made
}

/// cased is a name in snake_case by serde's rule.
fn cased(rule: Option<&str>, snake: &str) -> String {
    match rule {
        None | Some("snake_case") => snake.to_string(),
        Some("kebab-case") => snake.replace('_', "-"),
        Some("lowercase") => snake.replace('_', ""),
        Some(other) => panic!("rename_all = {other:?} is not known to nmstate-schema"),
    }
}
