-- A shop: orders of customers with their items, products of makers. Rows come in the order of their keys.
SET SESSION cte_max_recursion_depth = 100000;
CREATE TABLE countries (id INT PRIMARY KEY, name VARCHAR(30) NOT NULL, UNIQUE KEY name (name));
CREATE TABLE customers (
  id INT PRIMARY KEY, country INT NOT NULL, email VARCHAR(40) NOT NULL, name VARCHAR(40), credit DECIMAL(10,2), born DATE,
  UNIQUE KEY email (email), KEY country (country), KEY born (born)
);
CREATE TABLE products (
  id INT PRIMARY KEY, maker INT NOT NULL, name VARCHAR(40) NOT NULL, price DECIMAL(8,2) NOT NULL, kind CHAR(1) NOT NULL,
  KEY maker (maker), KEY price (price), KEY kind_price (kind, price)
);
CREATE TABLE orders (
  id INT PRIMARY KEY, customer INT NOT NULL, placed DATETIME NOT NULL, state TINYINT NOT NULL, note VARCHAR(60),
  KEY customer (customer), KEY placed (placed), KEY state_placed (state, placed)
);
CREATE TABLE items (
  `order` INT NOT NULL, line INT NOT NULL, product INT NOT NULL, amount INT NOT NULL, price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (`order`, line), KEY product (product)
);
CREATE TABLE archive LIKE orders;
CREATE TABLE tiny (id INT PRIMARY KEY, n INT);
INSERT INTO countries WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39) SELECT i, CONCAT('country ', i) FROM n;
INSERT INTO customers WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
  SELECT i, i * 7 % 40, CONCAT('mail', i, '@example.com'), IF(i % 50 = 0, NULL, CONCAT('name ', i % 300)), i % 97 * 10.5,
    DATE'1960-01-01' + INTERVAL i * 7 DAY FROM n;
INSERT INTO products WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
  SELECT i, i % 25, CONCAT('product ', i), i % 113 + 0.95, CHAR(97 + i % 5 USING utf8mb4) FROM n;
INSERT INTO orders WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5999)
  SELECT i, i * 37 % 2000, TIMESTAMP'2024-01-01 00:00:00' + INTERVAL i HOUR, IF(i % 100 = 0, 0, 1 + i % 4), REPEAT('n', i % 60) FROM n;
INSERT INTO items WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 17999)
  SELECT i DIV 3, i % 3, i * 11 % 500, 1 + i % 9, i % 113 + 0.95 FROM n;
INSERT INTO tiny VALUES (1, 10), (2, 20), (3, NULL);
ANALYZE TABLE countries, customers, products, orders, items, archive, tiny;
