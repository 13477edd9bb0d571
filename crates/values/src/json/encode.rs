//! The bytes of a tree: [`encode`].

use super::writer::Writer;
use super::{Built, Watch};
use errors::SqlResult;

/// The document of a tree; see [`Built::encode_within`].
pub(super) fn encode(built: &Built<'_>, bytes_max: u64, watch: &dyn Watch) -> SqlResult<Vec<u8>> {
    let mut writer = Writer::new(bytes_max, watch);
    write(built, &mut writer)?;
    writer.finish()
}

fn write(built: &Built<'_>, writer: &mut Writer<'_>) -> SqlResult<()> {
    match built {
        Built::Array(elements) => {
            writer.begin(false)?;
            elements.iter().try_for_each(|element| write(element, writer))?;
            writer.end()
        }
        Built::Object(members) => {
            writer.begin(true)?;
            for (key, value) in members.iter() {
                writer.key(key)?;
                write(value, writer)?;
            }
            writer.end()
        }
        scalar => scalar.node().map_or(Ok(()), |node| writer.value(node)),
    }
}
