//! Which keys a path may name without quotes: identifiers of ECMAScript, as MySQL takes them. Of most characters it looks at
//! the lowest byte alone, so `\u{241}` is a letter because 0x41 is one.

/// Whether a key is an identifier.
pub(super) fn is_identifier(key: &[u8]) -> bool {
    let Ok(key) = std::str::from_utf8(key) else { return false };
    let mut characters = key.chars();
    characters.next().is_some_and(may_begin) && characters.all(|next| may_begin(next) || may_follow(next))
}

fn may_begin(character: char) -> bool {
    match character {
        '$' | '_' => true,
        _ if is_combining(character) => false,
        _ => matches!(lowest_byte(character), b'A'..=b'Z' | b'a'..=b'z' | 0x80..=0xfe),
    }
}

fn may_follow(character: char) -> bool {
    // Marks, joiners and the punctuation that connects words, then digits.
    is_combining(character)
        || matches!(character, '\u{200c}' | '\u{200d}' | '\u{203f}' | '\u{2040}' | '\u{ff3f}')
        || lowest_byte(character).is_ascii_digit()
}

fn is_combining(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

fn lowest_byte(character: char) -> u8 {
    (u32::from(character) & 0xff) as u8
}
