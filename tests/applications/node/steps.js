// A program is a list of steps. Each prints one line: `passed`, its name and what it saw, or `failed`, its name and the
// error; run.py compares the lines of two servers, so what is seen must not depend on the moment.
const mysql = require('mysql2/promise')

const server = { host: process.env.APPLICATION_HOST, port: Number(process.env.APPLICATION_PORT), user: 'root', password: '' }

function plain(_, value) {
  if (typeof value === 'bigint') return `${value}n`
  if (value && value.type === 'Buffer') return Buffer.from(value.data).toString('hex')
  return value
}

// What the server says of an error, below what the library wrapped it in.
function described(error) {
  const cause = [error.parent, error.original, error.driverError, error.cause, error].find(candidate => candidate && candidate.errno)
  return cause ? `${cause.errno} ${cause.sqlState} ${cause.sqlMessage}` : `${error.name}: ${error.message}`
}

async function step(name, action) {
  try {
    const seen = await action()
    console.log(`passed\t${name}\t${JSON.stringify(seen === undefined ? null : seen, plain)}`)
  } catch (error) {
    console.log(`failed\t${name}\t${described(error).replace(/\s+/g, ' ')}`)
    if (process.env.APPLICATION_TRACE) console.error(error)
  }
}

// For what the server must refuse: the refusal is what the step sees.
async function refused(action) {
  try {
    await action()
  } catch (error) {
    return described(error)
  }
  throw new Error('was not refused')
}

// Makes the program's schema anew, runs it, and drops the schema.
async function program(schema, body) {
  const connection = await mysql.createConnection(server)
  await connection.query(`DROP DATABASE IF EXISTS ${schema}`)
  await connection.query(`CREATE DATABASE ${schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci`)
  await connection.query(`USE ${schema}`)
  try {
    await body(connection)
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  await connection.query(`DROP DATABASE IF EXISTS ${schema}`)
  // Whatever connections a step that failed has left.
  process.exit()
}

// One step for each table and view of the schema: its definition as the server writes it.
async function definitions(connection, stage) {
  const [tables] = await connection.query('SHOW FULL TABLES')
  for (const [table, kind] of tables.map(Object.values)) {
    await step(`${stage}: SHOW CREATE ${table}`, async () => Object.values((await connection.query(`SHOW CREATE ${kind === 'VIEW' ? 'VIEW' : 'TABLE'} \`${table}\``))[0][0])[1])
  }
}

module.exports = { definitions, program, refused, server, step }
