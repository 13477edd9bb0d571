-- Sysbench's statements over a tenth of the table instead of 100 rows; `{rows}` is the number of rows.

-- s1 ordered: a range of keys
SELECT COUNT(c), MIN(c), MAX(pad) FROM sbtest1 WHERE id BETWEEN {rows} DIV 2 AND {rows} DIV 2 + {rows} DIV 10;

-- s2 ordered: a sum
SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN {rows} DIV 3 AND {rows} DIV 3 + {rows} DIV 10;

-- s3 ordered: the first in the order of a text without index
SELECT c FROM sbtest1 WHERE id BETWEEN {rows} DIV 4 AND {rows} DIV 4 + {rows} DIV 10 ORDER BY c LIMIT 100;

-- s4 ordered: distinct texts
SELECT DISTINCT SUBSTRING(c, 1, 3) AS start FROM sbtest1 WHERE id BETWEEN {rows} DIV 5 AND {rows} DIV 5 + {rows} DIV 10 ORDER BY start;

-- s5 ordered: an index's order with the key behind it
SELECT id, k, pad FROM sbtest2 ORDER BY k, id LIMIT 10;
