-- Two tables with a column of each kind, without an index.
CREATE TABLE x (
  i INT, u BIGINT UNSIGNED, b BIT(16), y YEAR, n DECIMAL(12,2), f DOUBLE, d DATE, m DATETIME(3), z TIMESTAMP NULL, t TIME, v VARCHAR(30),
  c VARCHAR(30) COLLATE utf8mb4_bin, l VARCHAR(30) CHARACTER SET latin1, r VARBINARY(30), e ENUM('a', 'b'), s SET('a', 'b'), j JSON
);
CREATE TABLE w LIKE x;
INSERT INTO x (i, d) VALUES (1, '2024-01-01'), (2, '2024-01-02'), (3, '2024-01-03');
INSERT INTO w SELECT * FROM x;
ANALYZE TABLE x, w;
