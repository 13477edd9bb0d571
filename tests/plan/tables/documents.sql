-- Documents with multi-valued indexes.
SET SESSION cte_max_recursion_depth = 10000;
CREATE TABLE d (
  id INT PRIMARY KEY, g INT, j JSON,
  KEY k ((CAST(j->'$.z' AS UNSIGNED ARRAY))), KEY g_n (g, (CAST(j->'$.n' AS SIGNED ARRAY)))
);
INSERT INTO d WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  SELECT i, i % 7, JSON_OBJECT('z', JSON_ARRAY(i, i % 100, 5000), 'n', JSON_ARRAY(i % 30, -1)) FROM n;
CREATE TABLE e (
  id INT PRIMARY KEY, g INT, j JSON,
  KEY k ((CAST(j->'$.z' AS UNSIGNED ARRAY))), KEY g_k (g, (CAST(j->'$.z' AS UNSIGNED ARRAY)))
);
INSERT INTO e SELECT id, g, j FROM d;
ANALYZE TABLE d, e;
