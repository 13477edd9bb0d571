//! What a schema asks of arrays and objects. Neighbour: `schema.rs`.

use super::scalars::check_count;
use super::{Checked, Failure, Validator, require};
use std::collections::HashSet;
use values::json::{Array, Node, Object, compare};

impl Validator<'_> {
    /// The elements in turn, then their number.
    pub(super) fn check_array(&self, schema: Object<'_>, array: Array<'_>) -> Checked {
        let duplicate = match schema.get(b"uniqueItems") {
            Some(Node::Boolean(true)) => first_duplicate(array),
            _ => None,
        };
        for (position, element) in array.iter().enumerate() {
            let key = position.to_string().into_bytes();
            self.check_element(schema, position, element)
                .and_then(|()| require(duplicate != Some(position), "uniqueItems"))
                .map_err(|failure| failure.within(&key))?;
        }
        let count = || array.len() as u64;
        check_count(schema, (b"minItems", "minItems"), (b"maxItems", "maxItems"), count)
    }

    fn check_element(&self, schema: Object<'_>, position: usize, element: Node<'_>) -> Checked {
        match schema.get(b"items") {
            Some(Node::Object(items)) => {
                self.check(items, element).map_err(|failure| failure.behind(&[b"items"]))
            }
            Some(Node::Array(items)) if !items.is_empty() => {
                match (items.get(position), schema.get(b"additionalItems")) {
                    (Some(Node::Object(item)), _) => self
                        .check(item, element)
                        .map_err(|failure| failure.behind(&[b"items", position.to_string().as_bytes()])),
                    (None, Some(Node::Object(additional))) => self
                        .check(additional, element)
                        .map_err(|failure| failure.behind(&[b"additionalItems"])),
                    (None, Some(Node::Boolean(false))) => Err(Failure::of("additionalItems")),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The members in turn, then what is asked of all of them.
    pub(super) fn check_object(&self, schema: Object<'_>, object: Object<'_>) -> Checked {
        let known = known_keys(schema);
        for (key, value) in object {
            self.check_member(schema, &known, key, value).map_err(|failure| failure.within(key))?;
        }
        if let Some(Node::Array(required)) = schema.get(b"required") {
            let is_there = |key: Node<'_>| match key {
                Node::String(key) => object.get(key).is_some() || has_default(schema, key),
                _ => true,
            };
            require(required.iter().all(is_there), "required")?;
        }
        let count = || object.len() as u64;
        let (minimum, maximum) =
            ((b"minProperties".as_slice(), "minProperties"), (b"maxProperties".as_slice(), "maxProperties"));
        check_count(schema, minimum, maximum, count)?;
        self.check_dependencies(schema, object)
    }

    /// A member by the patterns that its key matches, by `properties`, or by `additionalProperties`.
    fn check_member(
        &self,
        schema: Object<'_>,
        known: &HashSet<&[u8]>,
        key: &[u8],
        value: Node<'_>,
    ) -> Checked {
        let (has_pattern, is_pattern_valid) = self.check_patterns(schema, key, value);
        let own = || match schema.get(b"properties") {
            Some(Node::Object(properties)) => match properties.get(key) {
                Some(Node::Object(own)) => {
                    self.check(own, value).map_err(|failure| failure.behind(&[b"properties", key]))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        };
        let pattern_failure = || Failure { is_at_root: true, ..Failure::of("patternProperties") };
        if known.contains(key) {
            return match has_pattern {
                true if is_pattern_valid && own().is_ok() => Ok(()),
                true => Err(pattern_failure()),
                false => own(),
            };
        }
        match schema.get(b"additionalProperties") {
            Some(Node::Object(additional)) if has_pattern => {
                let is_valid = is_pattern_valid || self.check(additional, value).is_ok();
                if is_valid { Ok(()) } else { Err(pattern_failure()) }
            }
            Some(Node::Object(additional)) => {
                self.check(additional, value).map_err(|failure| failure.behind(&[b"additionalProperties"]))
            }
            Some(Node::Boolean(false)) if !has_pattern => Err(Failure::of("additionalProperties")),
            _ if is_pattern_valid => Ok(()),
            _ => Err(pattern_failure()),
        }
    }

    /// Whether a pattern matches the key, and whether the value is valid by all that do.
    fn check_patterns(&self, schema: Object<'_>, key: &[u8], value: Node<'_>) -> (bool, bool) {
        let Some(Node::Object(patterns)) = schema.get(b"patternProperties") else { return (false, true) };
        let mut result = (false, true);
        for (pattern, schema) in patterns {
            if (self.matches)(pattern, key) == Some(true) {
                result = (true, result.1 && self.is_valid(schema, value));
            }
        }
        result
    }

    /// `dependencies`: what has to be there, or to be valid, if a key is there.
    fn check_dependencies(&self, schema: Object<'_>, object: Object<'_>) -> Checked {
        let Some(Node::Object(dependencies)) = schema.get(b"dependencies") else { return Ok(()) };
        for (_, dependency) in dependencies.iter().filter(|(key, _)| object.get(key).is_some()) {
            let is_met = match dependency {
                Node::Array(keys) => {
                    keys.iter().all(|key| !matches!(key, Node::String(key) if object.get(key).is_none()))
                }
                other => self.is_valid(other, Node::Object(object)),
            };
            require(is_met, "dependencies")?;
        }
        Ok(())
    }
}

/// The position of the first element that is equal to an earlier one.
fn first_duplicate(array: Array<'_>) -> Option<usize> {
    let mut elements: Vec<(usize, Node<'_>)> = array.iter().enumerate().collect();
    // The sort keeps the order of equal elements.
    elements.sort_by(|a, b| compare(a.1, b.1));
    let pairs = elements.iter().zip(elements.iter().skip(1));
    pairs.filter(|(a, b)| compare(a.1, b.1).is_eq()).map(|(_, later)| later.0).min()
}

/// The keys that a schema names: they are not additional, even if they are only required or depended on.
fn known_keys<'s>(schema: Object<'s>) -> HashSet<&'s [u8]> {
    let mut known = HashSet::new();
    let mut add_all = |names: Node<'s>| {
        if let Node::Array(names) = names {
            known.extend(names.iter().filter_map(|name| match name {
                Node::String(name) => Some(name),
                _ => None,
            }));
        }
    };
    schema.get(b"required").into_iter().for_each(&mut add_all);
    let dependencies = schema.get(b"dependencies");
    if let Some(Node::Object(dependencies)) = dependencies {
        dependencies.iter().for_each(|(_, names)| add_all(names));
    }
    for named in [dependencies, schema.get(b"properties")] {
        if let Some(Node::Object(named)) = named {
            known.extend(named.iter().map(|(key, _)| key));
        }
    }
    known
}

/// Whether a property has a text as its default; MySQL does not require it then.
fn has_default(schema: Object<'_>, key: &[u8]) -> bool {
    let Some(Node::Object(properties)) = schema.get(b"properties") else { return false };
    let Some(Node::Object(property)) = properties.get(key) else { return false };
    matches!(property.get(b"default"), Some(Node::String(text)) if !text.is_empty())
}
