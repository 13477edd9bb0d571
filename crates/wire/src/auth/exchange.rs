//! One login from the client's first answer to the verdict. Main type: [`Exchange`].
//! A user that does not exist goes through the same packets as one with a wrong password.

use super::cache::PasswordCache;
use super::caching_sha2::{self, PASSWORD_BYTES_MAX};
use super::{SCRAMBLE_BYTES, native};
use crate::handshake::encode_plugin_switch;

/// Marks data of the plugin in a packet to the client.
const MORE_DATA: u8 = 0x01;
/// The scramble was right; OK follows.
const FAST_SUCCESS: u8 = 0x03;
/// The client is to send the password itself.
const FULL_AUTHENTICATION: u8 = 0x04;
/// A client asks for the RSA key.
const PUBLIC_KEY_REQUEST: u8 = 0x02;

/// How a password is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// caching_sha2_password.
    CachingSha2,
    /// mysql_native_password.
    Native,
}

impl Plugin {
    /// MySQL's name.
    pub fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => caching_sha2::NAME,
            Plugin::Native => native::NAME,
        }
    }
}

/// What the account says.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Its plugin.
    pub plugin: Plugin,
    /// Stored forms that are accepted: the current and perhaps a retained one. Empty: no such account.
    pub stored: Vec<Vec<u8>>,
}

/// The channel that the exchange runs over.
pub struct Channel<'a> {
    /// TLS or a UNIX socket: passwords may cross it in clear.
    pub is_protected: bool,
    /// The key for passwords over unprotected channels, if the server has one.
    pub key: Option<&'a dyn PasswordKey>,
    /// Fast digests of earlier logins.
    pub cache: &'a PasswordCache,
}

/// An RSA key pair (OAEP with SHA-1, as MySQL's clients use it).
pub trait PasswordKey {
    /// The public key as PEM.
    fn public_key_pem(&self) -> &[u8];

    /// What the client encrypted; None if it cannot be decrypted.
    fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>>;
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send this payload and give the client's next packet to [`Exchange::receive`].
    Ask(Vec<u8>),
    /// The user is who it says. A payload, if any, precedes the OK packet.
    Accepted {
        /// Payload to send before OK.
        before_ok: Option<Vec<u8>>,
    },
    /// Error 1045.
    Denied,
    /// The client cannot do the account's plugin: error 1251.
    ClientTooOld,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    /// The client was asked to answer the scramble with the account's plugin.
    AwaitSwitched,
    /// The client was asked for the password.
    AwaitPassword,
    /// The client was sent the public key.
    AwaitEncrypted,
}

/// A login in progress.
#[derive(Clone, Debug)]
pub struct Exchange {
    credentials: Credentials,
    scramble: [u8; SCRAMBLE_BYTES],
    state: State,
}

impl Exchange {
    /// A login against those credentials.
    pub fn new(credentials: Credentials, scramble: [u8; SCRAMBLE_BYTES]) -> Exchange {
        Exchange { credentials, scramble, state: State::Start }
    }

    /// Whether the next packet may bring the password itself, which takes milliseconds to check.
    pub fn next_is_slow(&self) -> bool {
        matches!(self.state, State::AwaitPassword | State::AwaitEncrypted)
    }

    /// The client's answer in its first packet. `client_plugin` is None for clients that know no plugins.
    pub fn start(&mut self, client_plugin: Option<&[u8]>, response: &[u8], channel: &Channel<'_>) -> Next {
        let plugin = self.credentials.plugin;
        match client_plugin {
            Some(name) if name == plugin.name().as_bytes() => self.check_response(response, channel),
            None if plugin == Plugin::Native => self.check_response(response, channel),
            None => Next::ClientTooOld,
            Some(_) => {
                self.state = State::AwaitSwitched;
                let mut payload = Vec::new();
                encode_plugin_switch(plugin.name(), &self.scramble, &mut payload);
                Next::Ask(payload)
            }
        }
    }

    /// The client's next packet.
    pub fn receive(&mut self, payload: &[u8], channel: &Channel<'_>) -> Next {
        match self.state {
            State::Start => Next::Denied,
            State::AwaitSwitched => self.check_response(payload, channel),
            State::AwaitPassword if channel.is_protected => self.check_password(payload, channel),
            State::AwaitPassword => match channel.key {
                Some(key) if payload == [PUBLIC_KEY_REQUEST] => {
                    self.state = State::AwaitEncrypted;
                    Next::Ask([&[MORE_DATA], key.public_key_pem()].concat())
                }
                // A client that has the key already encrypts at once.
                Some(_) => self.check_encrypted(payload, channel),
                None => Next::Denied,
            },
            State::AwaitEncrypted => self.check_encrypted(payload, channel),
        }
    }

    fn check_response(&mut self, response: &[u8], channel: &Channel<'_>) -> Next {
        match self.credentials.plugin {
            Plugin::Native => {
                let proved = |stored: &Vec<u8>| native::verify(stored, &self.scramble, response);
                verdict(self.credentials.stored.iter().any(proved))
            }
            Plugin::CachingSha2 => self.check_sha2_response(response, channel),
        }
    }

    fn check_sha2_response(&mut self, response: &[u8], channel: &Channel<'_>) -> Next {
        // Some clients mark the empty password by one zero byte.
        if response.is_empty() || response == [0] {
            return verdict(self.credentials.stored.iter().any(Vec::is_empty));
        }
        let proved = |stored: &Vec<u8>| {
            let known = channel.cache.find(stored);
            known.is_some_and(|known| caching_sha2::verify_scramble(&known, &self.scramble, response))
        };
        if self.credentials.stored.iter().any(proved) {
            return Next::Accepted { before_ok: Some(vec![MORE_DATA, FAST_SUCCESS]) };
        }
        self.state = State::AwaitPassword;
        Next::Ask(vec![MORE_DATA, FULL_AUTHENTICATION])
    }

    fn check_encrypted(&mut self, payload: &[u8], channel: &Channel<'_>) -> Next {
        let Some(mut password) = channel.key.and_then(|key| key.decrypt(payload)) else {
            return Next::Denied;
        };
        // The client masks the password with the scramble before it encrypts it.
        password.iter_mut().zip(self.scramble.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        self.check_password(&password, channel)
    }

    /// `sent` is the password and a zero byte.
    fn check_password(&mut self, sent: &[u8], channel: &Channel<'_>) -> Next {
        let Some(password) = sent.strip_suffix(&[0]) else { return Next::Denied };
        if password.len() > PASSWORD_BYTES_MAX {
            return Next::Denied;
        }
        if self.credentials.stored.is_empty() {
            // No such account: take as long as for one that exists.
            caching_sha2::hash(password, [1; SCRAMBLE_BYTES], caching_sha2::ROUNDS_DEFAULT);
        }
        for stored in &self.credentials.stored {
            if caching_sha2::verify_password(stored, password) {
                if !stored.is_empty() {
                    channel.cache.insert(stored, caching_sha2::fast_digest(password));
                }
                return Next::Accepted { before_ok: None };
            }
        }
        Next::Denied
    }
}

fn verdict(proved: bool) -> Next {
    if proved { Next::Accepted { before_ok: None } } else { Next::Denied }
}

#[cfg(test)]
mod tests;
