//! COMMENT and ATTRIBUTE of accounts: each patches the JSON object that the account keeps.

use super::AccountDefiner;
use accounts::account::{Account, comment_object};
use errors::{SqlResult, sql_error};
use instance::SessionShared;
use parser::ast::UserAttributes;
use values::json::{self, Built, Members, Node, Steps, TextError, Watch};

/// Long objects end with the statement.
struct UntilKilled<'s>(&'s SessionShared);

impl Watch for UntilKilled<'_> {
    fn go_on(&self, _bytes: usize) -> SqlResult<()> {
        self.0.check_killed()
    }
}

impl AccountDefiner<'_> {
    /// Changes what the statement says of the object. Error 3982 for what is none.
    pub(super) fn patch_metadata(&self, account: &mut Account, attributes: &UserAttributes) -> SqlResult<()> {
        let watch = UntilKilled(self.shared);
        let patch = match (&attributes.comment, &attributes.attribute) {
            (Some(comment), _) => comment_object(&String::from_utf8_lossy(comment)).into_bytes(),
            (None, Some(attribute)) => attribute.clone(),
            (None, None) => return Ok(()),
        };
        account.metadata = Some(patched(account.metadata.as_deref(), &patch, &watch)?);
        Ok(())
    }
}

/// The object with that patch, as text.
fn patched(known: Option<&str>, patch: &[u8], watch: &dyn Watch) -> SqlResult<String> {
    let invalid = |error| match error {
        TextError::Failed(error) => error,
        TextError::Syntax { .. } => sql_error!(ER_INVALID_USER_ATTRIBUTE_JSON),
    };
    let read = |text: &[u8]| json::read(text, watch).map_err(invalid);
    let patch = read(patch)?;
    let Node::Object(_) = Node::of(&patch) else { return Err(sql_error!(ER_INVALID_USER_ATTRIBUTE_JSON)) };
    let known = known.map(|text| read(text.as_bytes())).transpose()?;
    let target = known.as_ref().map_or(Built::Object(Members::new()), |known| Built::Kept(Node::of(known)));
    let object = ::json::merge_patch(target, Node::of(&patch), &mut Steps::new(watch))?.encode()?;
    let mut text = Vec::new();
    json::print_watched(Node::of(&object), &mut text, watch)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    // It stands one level deeper in mysql.user: error 3157.
    read(format!("{{\"metadata\": {text}}}").as_bytes())?;
    Ok(text)
}
