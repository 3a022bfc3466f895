//! The blocks of a file: each struct with the `update` that belongs to it.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{GenericArgument, GenericParam, ImplItem, Item, ItemFn, ItemImpl, ItemStruct, PathArguments, Type};

/// What a field of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    In,
    /// An output or a Local: this block's `update` writes it.
    Written,
    Dff,
    Constant,
    /// A child block or an interface.
    Child,
}

/// A struct together with its `update`.
pub struct Block<'a> {
    pub update: &'a syn::ImplItemFn,
    pub fields: BTreeMap<String, Kind>,
    /// The names of the const generics.
    pub consts: Vec<String>,
}

#[derive(Default)]
pub struct Source {
    pub structs: Vec<ItemStruct>,
    impls: Vec<ItemImpl>,
}

impl Source {
    pub fn read(file: syn::File) -> syn::Result<Self> {
        let mut source = Self::default();
        let mut macros = Macros::default();
        source.visit_file(&file);
        macros.visit_file(&file);
        for tokens in macros.0 {
            source.visit_file(&syn::parse2(tokens)?);
        }
        Ok(source)
    }

    /// Every impl with an `update` that is turned into Verilog.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.impls.iter().filter_map(|item| {
            let update = item.items.iter().find_map(|item| match item {
                ImplItem::Fn(function) if function.attrs.iter().any(|a| a.path().is_ident("hdl_gen")) => Some(function),
                _ => None,
            })?;
            let name = last_name(&item.self_ty)?;
            let fields = self.structs.iter().find(|item| item.ident == name).map(fields).unwrap_or_default();
            let consts = item.generics.params.iter().filter_map(|param| match param {
                GenericParam::Const(param) => Some(param.ident.to_string()),
                _ => None,
            });
            Some(Block { update, fields, consts: consts.collect() })
        })
    }
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.structs.push(item.clone());
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        self.impls.push(item.clone());
    }
}

/// The bodies of those `macro_rules!` that stamp out blocks, with `$name` read as `name`.
#[derive(Default)]
struct Macros(Vec<TokenStream>);

impl<'ast> Visit<'ast> for Macros {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Macro(item) = item {
            if item.mac.path.is_ident("macro_rules") && item.mac.tokens.to_string().contains("hdl_gen") {
                // Arms are `(pattern) => { body }`: the body is the group after each arrow.
                let trees: Vec<TokenTree> = item.mac.tokens.clone().into_iter().collect();
                for arm in trees.windows(2) {
                    if let [TokenTree::Punct(arrow), TokenTree::Group(body)] = arm {
                        if arrow.as_char() == '>' {
                            self.0.push(without_dollars(body.stream()));
                        }
                    }
                }
            }
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, _: &'ast ItemFn) {}
}

fn without_dollars(tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .filter(|tree| !matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '$'))
        .map(|tree| match tree {
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), without_dollars(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            other => other,
        })
        .collect()
}

fn fields(item: &ItemStruct) -> BTreeMap<String, Kind> {
    item.fields.iter().filter_map(|field| Some((field.ident.as_ref()?.to_string(), kind(&field.ty)))).collect()
}

fn kind(ty: &Type) -> Kind {
    let ty = match ty {
        Type::Array(array) => &array.elem,
        other => other,
    };
    match last_name(ty).unwrap_or_default().as_str() {
        "Signal" => match first_argument(ty).as_deref() {
            Some("In") => Kind::In,
            Some("Out" | "Local") => Kind::Written,
            _ => Kind::Child,
        },
        "Constant" => Kind::Constant,
        name if name.starts_with("DFF") => Kind::Dff,
        _ => Kind::Child,
    }
}

/// The last segment of the path of a type: `Signal` of `rust_hdl_core::Signal<In, Bit>`.
pub fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

fn first_argument(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => last_name(ty),
        _ => None,
    }
}
