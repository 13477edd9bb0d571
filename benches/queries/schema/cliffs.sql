-- The tables of tests/plan/tables/cliffs.sql, ten times as many rows at scale 0.1.
CREATE TABLE t (id INT PRIMARY KEY, k INT, g INT, s VARCHAR(20), pad VARCHAR(60), KEY k (k), KEY g (g), KEY s (s));
CREATE TABLE u (id INT PRIMARY KEY, tid INT, v INT, KEY tid (tid));
