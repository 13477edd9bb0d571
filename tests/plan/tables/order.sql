-- Indexes whose entries are in other orders than their columns alone say: with the primary key behind them, descending parts,
-- first parts of columns, NULLs, and tables that are joined by them.
SET SESSION cte_max_recursion_depth = 100000;
CREATE TABLE p (
  id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), d INT NOT NULL, e INT,
  KEY a (a), KEY a_b (a, b DESC), KEY c_start (c(2)), UNIQUE KEY d (d), UNIQUE KEY e (e)
);
CREATE TABLE q (x INT, y INT, z INT, w INT, PRIMARY KEY (x, y DESC), KEY z (z), KEY z_down (z DESC, w));
CREATE TABLE r (name VARCHAR(30) NOT NULL, v INT, w INT, PRIMARY KEY (name(4)), KEY v (v));
CREATE TABLE h (v INT, w INT, KEY v (v));
CREATE TABLE g (id INT PRIMARY KEY, v INT, w INT, s VARCHAR(10), KEY v_w (v, w DESC), KEY s (s), KEY s_start (s(1)));
INSERT INTO p WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
  SELECT i, IF(i % 40 = 0, NULL, i % 200), i * 7 % 30, CONCAT(CHAR(97 + i % 26 USING utf8mb4), i % 900), 5000 - i, IF(i % 3 = 0, NULL, i) FROM n;
INSERT INTO q WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
  SELECT i DIV 3, i % 3, i * 13 % 500, i * 17 % 4000 FROM n;
INSERT INTO r WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT CONCAT(LPAD(i, 4, 'r'), i), i % 50, i FROM n;
INSERT INTO h WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i % 50, i FROM n;
INSERT INTO g WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, i % 8, i % 5, CONCAT('s', i % 3) FROM n;
ANALYZE TABLE p, q, r, h, g;
