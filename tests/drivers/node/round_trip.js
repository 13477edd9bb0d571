// Typed round trip through mysql2: text protocol by query(), binary protocol by execute().
const fs = require('fs');
const mysql = require('mysql2/promise');

const { DB_HOST: host, DB_PORT: port } = process.env;
const types = JSON.parse(fs.readFileSync(process.env.DB_TYPES, 'utf8'));
const accounts = process.env.DB_ACCOUNTS.split(',').map((pair) => pair.split(':'));

let tables = 0;

// A table name of its own each time: the driver keeps prepared statements by text, with the old column's type.
async function roundTrip(connection, columnType, literal) {
  const table = `drivers.t${tables++}`;
  await connection.query(`DROP TABLE IF EXISTS ${table}`);
  await connection.query(`CREATE TABLE ${table} (id INT PRIMARY KEY, c ${columnType})`);
  await connection.query(`INSERT INTO ${table} VALUES (1, ${literal})`);
  const [text] = await connection.query(`SELECT c FROM ${table} WHERE id = 1`);
  await connection.query(`INSERT INTO ${table} VALUES (2, ?)`, [text[0].c]);
  const [binary] = await connection.execute(`SELECT c FROM ${table} WHERE id = ?`, [1]);
  await connection.execute(`INSERT INTO ${table} VALUES (3, ?)`, [binary[0].c]);
  const [equal] = await connection.query(
    `SELECT COUNT(*) AS n FROM ${table} a JOIN ${table} b ON b.id = 1 WHERE a.c <=> b.c`);
  if (Number(equal[0].n) !== 3) throw new Error(`${equal[0].n} of 3 rows equal, read ${text[0].c} / ${binary[0].c}`);
  await connection.query(`DROP TABLE ${table}`);
}

async function main() {
  let passed = 0, failed = 0;
  for (const [user, plugin] of accounts) {
    for (const tls of [true, false]) {
      let connection;
      try {
        connection = await mysql.createConnection({
          host, port: Number(port), user, password: 'secret', ssl: tls ? { rejectUnauthorized: false } : undefined,
          supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, decimalNumbers: false,
        });
        passed++;
      } catch (error) {
        failed++;
        console.log(`mysql2 ${plugin} tls=${tls}: ${error.message}`);
        continue;
      }
      for (const [columnType, literal] of types) {
        try {
          await roundTrip(connection, columnType, literal);
          passed++;
        } catch (error) {
          failed++;
          console.log(`mysql2 ${plugin} tls=${tls} ${columnType} ${literal.slice(0, 40)}: ${String(error.message).slice(0, 300)}`);
        }
      }
      await connection.end();
    }
  }
  console.log(`mysql2: ${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

main();
