//! Authentication: the password plugins and the exchange of a login.
//! Main types: [`exchange::Exchange`] (one login), [`cache::PasswordCache`] (shared).
//! Everything that depends on a secret is compared in constant time.

pub mod cache;
pub mod caching_sha2;
pub mod exchange;
pub mod native;
mod sha_crypt;

/// Random bytes of the greeting.
pub const SCRAMBLE_BYTES: usize = 20;

/// Makes scramble bytes of random ones: 7-bit and neither zero nor `$`, as clients take zero for the end.
pub fn scramble_from_random(random: [u8; SCRAMBLE_BYTES]) -> [u8; SCRAMBLE_BYTES] {
    random.map(|byte| match byte & 0x7F {
        0 => 1,
        b'$' => b'%',
        byte => byte,
    })
}

fn exclusive_or<const N: usize>(left: [u8; N], right: &[u8; N]) -> [u8; N] {
    let mut result = left;
    result.iter_mut().zip(right).for_each(|(byte, other)| *byte ^= other);
    result
}
