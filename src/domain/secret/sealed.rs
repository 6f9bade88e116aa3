//! Values that may stand under the name of a secret because they open nothing by themselves: what was encrypted for a
//! repository, and what was hashed. Must never pass a value for its name's sake where the value could be the secret.

/// How encrypted values start: sops and eyaml, Vault's transit, dotenvx, Spring, Ansible, the base64 of age, of PGP and
/// of OpenSSL, ciphertext of the KMS of AWS and of Google, Fernet, the base64 of Laravel's `{"iv":`.
const ENCRYPTED: [&str; 28] = [
    "ENC[",
    "ENC(",
    "enc:",
    "encrypted:",
    "vault:v",
    "kms:",
    "{cipher}",
    "$ANSIBLE_VAULT",
    "-----BEGIN AGE ENCRYPTED",
    "-----BEGIN PGP MESSAGE",
    "-----BEGIN PKCS7",
    "age-encryption.org",
    "YWdlLWVuY3J5cHRpb24ub3Jn",
    "LS0tLS1CRUdJTiBBR0Ug",
    "LS0tLS1CRUdJTiBQR1AgTUVTU0FHR",
    "JEFOU0lCTEVfVkFVTFQ",
    "U2FsdGVkX1",
    "AQICAH",
    "AQECAH",
    "CiQA",
    "gAAAAA",
    "hQEMA",
    "hQIMA",
    "hF4D",
    "wcBMA",
    "wcFMA",
    "wV4D",
    "eyJpdiI6",
];
/// How a sealed secret starts: the length of its wrapped key, 512 bytes, in base64.
const SEALED: [&str; 4] = ["AgA", "AgB", "AgC", "AgD"];
/// The fewest characters of a sealed secret, whose wrapped key alone is longer than any password.
const SEALED_LEAST: usize = 200;

/// How hashed values start, beside those that start with a dollar sign.
const HASHED: [&str; 22] = [
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "sha1:",
    "sha256:",
    "sha384:",
    "sha512:",
    "md5:",
    "blake2b:",
    "blake3:",
    "{SHA",
    "{SSHA",
    "{MD5}",
    "{bcrypt}",
    "pbkdf2",
    "bcrypt",
    "scrypt",
    "argon2",
    "SCRAM-SHA-",
    "SHA256:",
    "MD5:",
];

/// Words that say that the value is no secret but made from one.
const HASH_WORDS: [&str; 16] = [
    "hash",
    "digest",
    "fingerprint",
    "thumbprint",
    "checksum",
    "revision",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha-",
    "md5",
    "blake",
    "crc32",
    "hmac of",
];
/// How far in front of a name such a word may stand, in bytes.
const BEFORE: usize = 40;

/// True for a value that was encrypted.
pub(super) fn is_encrypted(value: &str) -> bool {
    let is_sealed = value.len() >= SEALED_LEAST && SEALED.iter().any(|start| value.starts_with(start));
    is_sealed || ENCRYPTED.iter().any(|start| value.starts_with(start))
}

/// True for a value that says that it is a hash.
pub(super) fn is_hashed(value: &str) -> bool {
    let is_of_postgres = value.len() == 35 && value.starts_with("md5") && is_hex(&value[3..]);
    is_of_postgres || HASHED.iter().any(|start| value.starts_with(start))
}

/// True for a value of a hash's length in front of whose name the line says that it is one: `checksum/secret: …`,
/// `sha256 of the token: …`.
pub(super) fn is_called_hash(text: &str, name: usize, value: &str) -> bool {
    let start = text.floor_char_boundary(name.saturating_sub(BEFORE));
    let before = text[start..name].rsplit(['\n', ',', ';', '|', '&', '=']).next().unwrap_or_default();
    let before = before.to_ascii_lowercase();
    has_length_of_hash(value) && HASH_WORDS.iter().any(|word| before.contains(word))
}

fn has_length_of_hash(value: &str) -> bool {
    let base = value.trim_end_matches('=');
    let lawful = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let of_base64 = matches!(base.len(), 22 | 27 | 43 | 64 | 86) && base.bytes().all(lawful);
    of_base64 || (matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128) && is_hex(value))
}

fn is_hex(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit())
}
