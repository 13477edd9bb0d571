//! What inputs are made from: packets and statements as clients send them.

use wire::auth::caching_sha2;
use wire::capabilities::client;
use wire::compression::{Algorithm, Compressor};
use wire::output::{Output, push_length_encoded_bytes};

/// First packets of logins, requests for TLS, changes of user.
pub fn handshakes() -> Vec<Vec<u8>> {
    let all = client::OFFERED | client::SSL;
    let mut seeds = Vec::new();
    for capabilities in [all, all & !client::PLUGIN_AUTH_LENENC_CLIENT_DATA, client::PROTOCOL_41, 0x0200] {
        let mut packet = capabilities.to_le_bytes().to_vec();
        packet.extend_from_slice(&[0, 0, 0, 1, 45]);
        packet.extend_from_slice(&[0; 23]);
        seeds.push(packet.clone());
        packet.extend_from_slice(b"root\0");
        push_length_encoded_bytes(&mut packet, &caching_sha2::response(b"pw", &[b'x'; 20]));
        packet.extend_from_slice(b"shop\0caching_sha2_password\0");
        push_length_encoded_bytes(&mut packet, b"\x03_os\x05Linux\x0cprogram_name\x05mysql");
        packet.push(3);
        seeds.push(packet);
    }
    seeds.push(b"bob\0\x14aaaaaaaaaaaaaaaaaaaashop\0\xff\0mysql_native_password\0".to_vec());
    seeds.push(b"\x02".to_vec());
    seeds.push(b"pw\0".to_vec());
    seeds
}

/// Commands.
pub fn commands() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [
        &b"\x01"[..],
        b"\x02shop",
        b"\x03\x00\x01SELECT 1",
        b"\x03\x02\x01\x00\x01\xfe\x00\x01k\x08\x00\x01n\x01v\x07\0\0\0\0\0\0\0SELECT mysql_query_attribute_string('k')",
        b"\x04t\0a%",
        b"\x09",
        b"\x0c\x05\0\0\0",
        b"\x0e",
        b"\x11bob\0\x00shop\0\xff\0caching_sha2_password\0",
        b"\x16SELECT ? + ?",
        b"\x17\x01\0\0\0\x01\x01\0\0\0\x02\x00\x01\x08\x00\x00\xfe\x00\x00\x05\0\0\0\0\0\0\0\x01v",
        b"\x17\x01\0\0\0\x08\x01\0\0\0\x03\x00\x01\x0c\x00\x00\x0b\x80\x00\xf6\x00\x01k\x0b\xea\x07\x0b\x15\x01\x02\x03\x04\0\0\0\x0c\0\x01\0\0\0\x02\x03\x04\x05\0\0\0\x0412.5",
        b"\x17\x01\0\0\0\x00\x01\0\0\0\x00\x00\x05\0\0\0\0\0\0\0\x01v",
        b"\x18\x01\0\0\0\x01\x00piece",
        b"\x19\x01\0\0\0",
        b"\x1a\x01\0\0\0",
        b"\x1b\x01\0",
        b"\x1c\x01\0\0\0\x0a\0\0\0",
        b"\x1f",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    let code_list = (1u8..=16).chain(242..=255);
    seeds.extend(
        code_list.map(|code| [b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01", &[code, 0][..], &[9; 14]].concat()),
    );
    seeds
}

/// Frames, plain and compressed; the first byte picks the algorithm.
pub fn frames() -> Vec<Vec<u8>> {
    let mut output = Output::new();
    output.packet(&[b"\x03SELECT ", &[b'a'; 300][..]].concat());
    output.packet(b"\x0e");
    let mut seeds = vec![[b"\0", output.bytes()].concat()];
    for (mark, algorithm) in [(1, Algorithm::Zlib), (2, Algorithm::Zstd { level: 1 })] {
        let mut seed = vec![mark];
        let mut compressor = Compressor::new(algorithm);
        compressor.compress(output.bytes(), &mut seed);
        compressor.compress(&[0, 1, 2, 3], &mut seed);
        seeds.push(seed);
    }
    seeds
}

/// Statements.
pub fn statements() -> Vec<Vec<u8>> {
    [
        "SELECT 1",
        "SELECT a.x, COUNT(DISTINCT b.y) AS n FROM t1 a LEFT JOIN `t 2` b ON a.id = b.id AND b.z IN (1, 2.5, 'q''r') \
         WHERE a.c LIKE '%x\\_%' ESCAPE '|' AND NOT EXISTS (SELECT 1 FROM t3 WHERE t3.k <=> a.k) \
         GROUP BY a.x WITH ROLLUP HAVING n > 3 ORDER BY 1 DESC, a.x LIMIT 10 OFFSET 5 FOR UPDATE SKIP LOCKED",
        "SELECT CASE WHEN x BETWEEN 1 AND 2 THEN 'a' ELSE b END, CAST(x AS DECIMAL(10,2)), -x DIV 3 MOD 2, x'4142', \
         0b101, _utf8mb4'x' COLLATE utf8mb4_bin, DATE '2020-01-01' + INTERVAL 1 DAY, @u := @@session.sql_mode, ~1 << 2 ^ 3",
        "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 10) SELECT * FROM c",
        "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
        "SELECT * FROM t LEFT JOIN LATERAL (SELECT t.a AS k FROM u LIMIT 1) AS d (k) ON d.k = 1, JSON_TABLE(t.j, '$[*]' COLUMNS \
         (o FOR ORDINALITY, a INT PATH '$.a' DEFAULT '1' ON EMPTY ERROR ON ERROR, e INT EXISTS PATH '$.e', NESTED PATH '$.b' \
         COLUMNS (c VARCHAR(3) COLLATE utf8mb4_bin PATH '$'))) AS j",
        "INSERT INTO t (a, b) VALUES (1, 'x'), (DEFAULT, NULL) ON DUPLICATE KEY UPDATE b = VALUES(b), a = a + 1",
        "REPLACE INTO t SELECT * FROM u", "UPDATE t SET a = a + 1, b = 'x' WHERE c IS NOT NULL ORDER BY a LIMIT 3",
        "DELETE FROM t WHERE a IN (SELECT b FROM u) LIMIT 1",
        "CREATE TABLE IF NOT EXISTS t (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, a VARCHAR(20) CHARACTER SET \
         latin1 DEFAULT 'x' COMMENT 'c', e ENUM('a','b'), d DECIMAL(10,3) DEFAULT 0.5, ts TIMESTAMP(3) DEFAULT \
         CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), KEY k (a(10) DESC), UNIQUE (e, d), CHECK (id > 0)) \
         ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 /*!50100 PARTITION BY HASH (id) */",
        "ALTER TABLE t ADD COLUMN z INT AFTER a, DROP INDEX k, MODIFY b TEXT, RENAME TO u, ALGORITHM=INPLACE",
        "CREATE USER 'a'@'%' IDENTIFIED WITH caching_sha2_password BY 'x' REQUIRE SSL PASSWORD EXPIRE NEVER",
        "GRANT SELECT, INSERT (a) ON db.* TO 'a'@'%' WITH GRANT OPTION", "SHOW FULL COLUMNS FROM t LIKE 'a%'",
        "SET NAMES utf8mb4, @@global.x = 5, SESSION y = 'z', TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "LOAD DATA LOCAL INFILE 'f' IGNORE INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"' LINES STARTING BY 'x' \
         IGNORE 1 LINES (a, @b) SET c = @b + 1",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY; SAVEPOINT s; ROLLBACK TO s; COMMIT -- done",
        "SELECT ((((((((((1)))))))))) /* c */ # x\n + .5e-3 || 'a' 'b' \"c\" AND 1 XOR 2 OR !3",
        "PREPARE s FROM 'SELECT ?'; EXECUTE s USING @a; DEALLOCATE PREPARE s", "EXPLAIN FORMAT=JSON SELECT 1 FROM dual",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Numbers and names of numbers, as text.
pub fn numbers() -> Vec<Vec<u8>> {
    [
        "0",
        "-1.5e10",
        "  +123456789012345678901234567890.12345e-5",
        ".5",
        "1e999",
        "99999999999999999999",
        "-0.0",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
