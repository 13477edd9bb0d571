-- Statements that were once far slower than in MySQL.

-- c1 ordered: one row of a union
SELECT * FROM (SELECT id, k FROM t UNION ALL SELECT id, v FROM u) d WHERE d.id = 5 ORDER BY k;

-- c2: either of two indexes
SELECT * FROM t WHERE k = 5 OR s = 'apple5';

-- c3 ordered: rows that have others
SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.tid = t.id AND u.v > 990);

-- c4 ordered: a value among others
SELECT COUNT(*) FROM t WHERE k IN (SELECT v FROM u WHERE v < 50);

-- c5 ordered: the first of a join in one table's order
SELECT u.id, t.id, t.k, t.s FROM t JOIN u ON u.tid = t.id ORDER BY u.id LIMIT 5;
