-- Where the modules differ from MySQL Proxy's on purpose. Each line says what the original does.
local proto = require("mysql.proto")

-- Refuses a version whose first number is over 10, which is every MariaDB 11.
local greeting = "\01011.8.2-MariaDB\0\7\0\0\0abcdefgh\0\255\247\8\2\0\127\128\21" .. ("\0"):rep(10) .. "ijklmnopqrst\0name\0"
assert(proto.from_challenge_packet(greeting).server_version == 110802)
-- Writes "5.0.99" for versions from 10.0.0.
assert(proto.to_challenge_packet{server_version = 110802}:find("^\01011%.08%.02%z"))
-- Leaves the name out.
local challenge = proto.to_challenge_packet{capabilities = 0x88200, auth_plugin_name = "mysql_native_password"}
assert(proto.from_challenge_packet(challenge).auth_plugin_name == "mysql_native_password")
-- Aborts the process.
local done, text = pcall(proto.to_challenge_packet, {challenge = "short"})
assert(not done and text == ".challenge has to have at least 8 bytes", text)
-- Writes the length modulo 256.
done, text = pcall(proto.to_response_packet, {server_capabilities = 0x8200, response = ("x"):rep(256)})
assert(not done and text == ".response has to have at most 255 bytes", text)
-- Fills the state with what lies in memory behind it.
assert(proto.to_err_packet{sqlstate = "4"} == "\255\0\0#4\0\0\0\0")
-- Raises for each of these types.
local function parameter(kind, bytes)
	local packet = "\23\1\0\0\0\0\1\0\0\0\0\1" .. string.char(kind) .. "\0" .. bytes
	return proto.from_stmt_execute_packet(packet, 1).params[1].value
end
assert(parameter(246, "\0031.5") == "1.5")
assert(parameter(15, "\1a") == "a")
assert(parameter(245, "\2{}") == "{}")
assert(parameter(9, "\1\0\0\0") == 1)
assert(parameter(13, "\208\7") == 2000)
-- A count of parameters that no packet has room for.
assert(not pcall(proto.from_stmt_execute_packet, "\23\1\0\0\0\0\1\0\0\0\0\1", 1e15))

-- Loses the upper half of a number of eight bytes whose bit 31 is set.
assert(proto.from_ok_packet("\0\254\0\0\0\128\1\0\0\0\0\0\0\0\0").affected_rows == 2^32 + 2^31)

-- Goes on with a text whose closing quote has a quote of another kind right behind it.
local tokens = require("mysql.tokenizer").tokenize("select 'a'`b`, ''\"c\"")
assert(#tokens == 6 and tokens[2].text == "a" and tokens[3].text == "b" and tokens[6].text == "c")
-- Gives the same text, and writes each backslash that it drops to standard output.
tokens = require("mysql.tokenizer").tokenize("'a\\\nb' 'c''\\\n''d' `e\\")
assert(#tokens == 3 and tokens[1].text == "a\nb" and tokens[2].text == "c'\n'd" and tokens[3].text == "e")

local lfs = require("lfs")
-- Jumps to address 0.
assert(lfs.attributes("/", "nope") == nil)
-- Cannot change the directory at all.
assert(lfs.chdir(lfs.currentdir()) == true)
done, text = lfs.chdir("/nonexistent")
assert(done == nil and text == "Unable to change working directory to '/nonexistent'\nNo such file or directory\n", text)
-- Locks the file.
done, text = pcall(lfs.lock, io.stdout, "w")
assert(not done and text == "lock: not supported", text)

local commands = require("proxy.commands")
-- Has the name of 18 for 30, none for 31, and raises without a name.
assert(commands.parse("\30").type_name == "COM_BINLOG_DUMP_GTID" and commands.parse("\31").type_name == "COM_RESET_CONNECTION")
assert(commands.pretty_print{type = 99} == "[99] ... no idea")

local config = require("proxy.auto-config")
local options = {m_1 = {a_1 = 1, b = true, s = "x"}}
local function handle(statement)
	proxy.response = nil
	assert(config.handle(options, {type = proxy.COM_QUERY, query = statement}) == proxy.PROXY_SEND_RESULT, statement)
	assert(proxy.response.type == proxy.MYSQLD_PACKET_OK, proxy.response.errmsg)
end
-- Takes letters only in names, and whole numbers only.
handle("PROXY SET GLOBAL m_1.a_1 = 2.5")
assert(options.m_1.a_1 == 2.5)
-- Answers an error after it was set; takes small letters only.
handle("PROXY SET GLOBAL m_1.b = FALSE")
assert(options.m_1.b == false)
-- Keeps the quotes in the value, and takes " only.
handle("PROXY SET GLOBAL m_1.s = 'it is'")
assert(options.m_1.s == "it is")
handle(" PROXY SHOW CONFIG ; ")
-- Keeps the quotes in the file's name, and cannot load what it saved.
local path = os.tmpname()
options.m_1.t = {1, {x = "a\nb"}}
handle('PROXY SAVE CONFIG INTO "' .. path .. '"')
options.m_1 = {}
handle("PROXY LOAD CONFIG FROM '" .. path .. "'")
assert(options.m_1.a_1 == 2.5 and options.m_1.b == false and options.m_1.s == "it is" and options.m_1.t[2].x == "a\nb")
os.remove(path)

local tokenizer, parser = require("proxy.tokenizer"), require("proxy.parser")
proxy.connection = {client = {default_db = "d"}}
local function tables(statement, expected)
	local found = {}
	for name, access in pairs(parser.get_tables(tokenizer.tokenize(statement))) do found[#found + 1] = name .. " " .. access end
	table.sort(found)
	found = table.concat(found, ", ")
	assert(found == expected, statement .. ": " .. found)
end
-- Has "d.s write" and "d.t write".
tables("update s.t, u set a = 1", "d.u write, s.t write")
-- Has "d.s write" alone.
tables("insert into s.t (a) select b from u", "d.u read, s.t write")
-- Each of these has nothing.
tables("insert ignore into t values (1)", "d.t write")
tables("insert delayed into t(a) values (1)", "d.t write")
tables("replace into t values (1)", "d.t write")
tables("select * from (select * from t) x", "d.t read")
tables("select * from(select * from t)x, u", "d.t read, d.u read")
tables("drop table if exists t, s.u", "d.t write, s.u write")
-- Knows only the first of these in the life of the process, and loses schemas.
tables("create table if not exists s.t (a int, b int)", "s.t write")
tables("create table t (a int, b int, index (a))", "d.t write")
tables("create table t select a from u", "d.t write, d.u read")
tables("alter table t add column a int, add column b int", "d.t write")
tables("rename table t to u", "d.t write")
tables("create view v as select a from t", "d.t read")
-- Has "d.a read" too, and prints the names of aliases.
tables("select a from t x join u as y on t.a = u.a, v", "d.t read, d.u read, d.v read")
tables("select a from t inner join u using (a) where b in (select x from v)", "d.t read, d.u read, d.v read")
-- Has nothing of what follows UNION.
tables("select * from t union select * from u", "d.t read, d.u read")
-- Has the arguments of functions for tables.
tables("select extract(year from x), trim('a' from y) from t", "d.t read")
tables("select a from (t, u) where b", "d.t read, d.u read")
tables("select a into @x from t", "d.t read")
tables("delete t from t, u where t.a = u.a", "d.t write, d.u write")
tables("delete from t using t join u where t.a = u.a", "d.t write, d.u write")
tables("insert into t select * from t", "d.t write")
tables("update t set a = (select max(b) from u)", "d.t write, d.u read")
tables("insert into t values (1) on duplicate key update a = 2", "d.t write")
tables("select a from t for update", "d.t read")
tables("select case when a then 1 else 2 end from t use index (i, j), u", "d.t read, d.u read")

local lpeg = require("lpeg")
-- Refuses the grammar: "possible infinite loop in rule '1'".
assert(lpeg.match(lpeg.P{lpeg.V(2)^0, lpeg.P"a"^-1}, "aab") == 3)
-- Adds a zero byte.
assert(lpeg.match(lpeg.C"a" / "%", "a") == "%")
-- What is too much is an error, not the end of the memory or of the stack.
done, text = pcall(function() local p = lpeg.P"a"^100000000 return p end)
assert(not done and text:find("pattern too big"), text)
done, text = pcall(function() local p = lpeg.P{"a" * lpeg.V(1) + ""} return (p:match(("a"):rep(1000000))) end)
assert(not done and text:find("too many pending calls/choices"), text)
local deep = lpeg.C"a"
for _ = 1, 1000 do deep = lpeg.C(deep) end
done, text = pcall(lpeg.match, deep, "a")
assert(not done and text:find("too many nested captures"), text)
local chain = lpeg.P(false)
for i = 1, 100000 do chain = chain + "x" end
chain = nil
collectgarbage()

-- The position in the script stands in the text even after a tail call, for functions in C.
local function tail() return require("glib2").md5() end
done, text = pcall(tail)
assert(not done and text == "bad argument #1 to '?' (string expected, got no value)", text)

-- One that calls no chassis.log("error"), which ends the process.
require("chassis").log("error", "an error")
print("done")
