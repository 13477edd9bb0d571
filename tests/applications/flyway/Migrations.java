import java.io.IOException;
import java.nio.file.*;
import java.util.Map;

/** The migrations' files: tables with every type and kind of key, data, changes, a view; and the folder they are written into. */
final class Migrations {
    static final Map<String, String> FIRST = Map.of(
        "V1__people.sql", """
            -- who there is
            CREATE TABLE people (
              id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
              name VARCHAR(80) NOT NULL COMMENT 'as printed; with a semicolon',
              born DATE,
              UNIQUE KEY one_name (name)
            ) COMMENT='who there is';
            /* a comment; of several
               lines */
            INSERT INTO people (name, born) VALUES ('Ann', '1950-01-02'), ('Bob; "x"', NULL), ('it''s', '1970-12-31');
            """,
        "V2__cards.sql", """
            CREATE TABLE cards (
              number BIGINT NOT NULL,
              person INT UNSIGNED NOT NULL,
              kind ENUM('gold', 'plain') NOT NULL DEFAULT '${kind}',
              price DECIMAL(10,2) NOT NULL DEFAULT 1.5,
              facts JSON,
              level INT AS (JSON_EXTRACT(facts, '$.level')) STORED,
              made DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
              PRIMARY KEY (number),
              KEY person_kind (person, kind DESC),
              KEY upper_kind ((UPPER(kind))),
              CONSTRAINT card_person FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE ON UPDATE RESTRICT,
              CONSTRAINT card_price CHECK (price >= 0)
            );
            INSERT INTO cards (number, person, facts) VALUES (1, 1, '{"level": 3}'), (2, 1, NULL), (3, 2, '{"level": 1, "x": [1, 2]}');
            """,
        "V3__every_type.sql", """
            CREATE TABLE every_type (
              id TINYINT UNSIGNED PRIMARY KEY, a SMALLINT, b MEDIUMINT UNSIGNED, c BIGINT, d FLOAT, e DOUBLE, f DECIMAL(30,10), g BIT(10), h BOOL,
              i CHAR(5) CHARACTER SET latin1, j VARCHAR(20) COLLATE utf8mb4_bin, k TINYTEXT, l TEXT, m MEDIUMTEXT, n LONGTEXT, o BINARY(3), p VARBINARY(9), q TINYBLOB, r BLOB,
              s DATE, t TIME(2), u DATETIME, v TIMESTAMP NULL, w YEAR, x SET('a','b','c'), y ENUM('p','q'), z VARCHAR(36) DEFAULT (UPPER('abc'))
            ) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci ROW_FORMAT=DYNAMIC;
            INSERT INTO every_type VALUES (1, -1, 2, -3, 0.5, 1e100, 12345678901234567890.0123456789, b'1010', TRUE, 'abc', 'Über 🐬', 'k', 'l', 'm', 'n', x'010203', x'ff', 'q', 'r',
              '2024-02-29', '23:59:58.12', '2024-02-29 01:02:03', '2001-09-09 01:46:40', 2024, 'a,c', 'q', 'z');
            INSERT INTO every_type (id) VALUES (2);
            """,
        "V4__changes.sql", """
            ALTER TABLE people ADD COLUMN email VARCHAR(60) AFTER name, ADD INDEX email_beginning (email(10)), MODIFY name VARCHAR(100) NOT NULL COMMENT 'as printed';
            ALTER TABLE cards DROP CHECK card_price, ADD CONSTRAINT price_range CHECK (price BETWEEN 0 AND 100), RENAME COLUMN made TO made_at, RENAME INDEX person_kind TO kind_of_person;
            UPDATE people SET email = CONCAT(LOWER(LEFT(name, 3)), '@example.org');
            CREATE TABLE copies LIKE cards;
            INSERT INTO copies (number, person) SELECT number, person FROM cards;
            CREATE UNIQUE INDEX one_of_person ON copies (person, number);
            DROP INDEX upper_kind ON copies;
            RENAME TABLE copies TO card_copies;
            """,
        "R__owners.sql", """
            CREATE OR REPLACE VIEW owners AS SELECT p.name, c.number AS card FROM people p JOIN cards c ON c.person = p.id;
            """);

    static void write(Path folder, Map<String, String> files) throws IOException {
        for (var file : files.entrySet()) Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }

    static void append(Path folder, String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text, StandardOpenOption.APPEND);
    }
}
