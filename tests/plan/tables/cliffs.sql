-- The tables of statements that were measured to be far slower than in MySQL: many rows, few of them wanted.
SET SESSION cte_max_recursion_depth = 100000;
CREATE TABLE t (id INT PRIMARY KEY, k INT, g INT, s VARCHAR(20), pad VARCHAR(60), KEY k (k), KEY g (g), KEY s (s));
CREATE TABLE u (id INT PRIMARY KEY, tid INT, v INT, KEY tid (tid));
CREATE TABLE tiny (id INT PRIMARY KEY);
INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15000)
  SELECT i, i * 7919 % 5000, i % 10, CONCAT('apple', i * 31 % 7500), REPEAT('x', 60) FROM n;
INSERT INTO u WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
  SELECT i, 1 + i * 13 % 15000, i * 17 % 1000 FROM n;
INSERT INTO tiny VALUES (3), (5), (8);
ANALYZE TABLE t, u, tiny;
