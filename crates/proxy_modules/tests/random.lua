-- Random bytes into everything that reads what a client or a server sent: a table or a string that is raised, nothing else.
local proto, tokenizer = require("mysql.proto"), require("proxy.tokenizer")
local commands, parser, lpeg = require("proxy.commands"), require("proxy.parser"), require("lpeg")
print = function() end
proxy.connection = {client = {default_db = "d"}}
math.randomseed(7)
-- Bytes that mean something come more often.
local signs = "'\"`\\/*-! \n\t.,;()<>=:&|@_#?0123456789eExXselectfrom\0\1\2\4\7\8\11\23\250\251\252\253\254\255"
local function random_text(bytes)
	local out = {}
	for i = 1, math.random(0, bytes) do
		local at = math.random(1, #signs)
		out[i] = math.random() < 0.8 and signs:sub(at, at) or string.char(math.random(0, 255))
	end
	return table.concat(out)
end
local first_bytes = {
	from_challenge_packet = "\0105.6.24\0", from_ok_packet = "\0", from_err_packet = "\255", from_eof_packet = "\254",
	from_stmt_execute_packet = "\23\1\0\0\0\0\1\0\0\0", from_stmt_prepare_ok_packet = "\0", from_stmt_close_packet = "\25",
	from_stmt_prepare_packet = "\22", from_masterinfo_string = "14\n",
}
local readers = {}
for name, f in pairs(proto) do
	if name:find("^from_") then readers[name] = f end
end
local function check(name, done, value)
	assert(type(value) == (done and "table" or "string"), name .. ": " .. tostring(value))
end
for _ = 1, 3000 do
	for name, read in pairs(readers) do
		local packet = (math.random() < 0.8 and first_bytes[name] or "") .. random_text(60)
		check(name, pcall(read, packet, math.random(0, 20)))
	end
	check("parse", pcall(commands.parse, random_text(20)))
	local statement = random_text(80)
	local tokens = tokenizer.tokenize(statement)
	for i = 1, #tokens do assert(type(tokens[i].text) == "string" and tokens[i].token_name:find("^TK_")) end
	assert(type(tokenizer.normalize(tokens)) == "string" and type(tokenizer.tokens_to_query(tokens)) == "string")
	check("tables", pcall(parser.get_tables, tokens))
end
-- Patterns of random parts over random texts, with captures that look at each other.
local function random_pattern(depth)
	local choice = math.random(1, depth == 0 and 5 or 19)
	local function inner() return random_pattern(depth - 1) end
	if choice == 1 then return lpeg.P(random_text(2)) end
	if choice == 2 then return lpeg.S(random_text(5)) end
	if choice == 3 then return lpeg.P(math.random(-2, 2)) end
	if choice == 4 then return lpeg.Cp() end
	if choice == 5 then return lpeg.Cb(math.random(1, 2)) end
	if choice == 6 then return inner() * inner() end
	if choice == 7 then return inner() + inner() end
	if choice == 8 then return inner() - inner() end
	if choice == 9 then return -inner() end
	if choice == 10 then return #inner() end
	if choice == 11 then return inner() ^ math.random(-2, 2) end
	if choice == 12 then return lpeg.C(inner()) end
	if choice == 13 then return lpeg.Ct(inner()) end
	if choice == 14 then return lpeg.Cs(inner()) end
	if choice == 15 then return lpeg.Ca(lpeg.Cc(1) * inner()) end
	if choice == 16 then return inner() / "%0%1%%" end
	if choice == 17 then return inner() / function(...) return ... end end
	if choice == 18 then return lpeg.Cmt(inner(), function(_, at, ...) return at + math.random(-1, 1), ... end) end
	return lpeg.P{inner() + lpeg.V(2) * lpeg.V(1), inner() * lpeg.V(1) ^ -1}
end
for _ = 1, 20000 do
	local done, pattern = pcall(random_pattern, 4)
	if done then
		local value
		done, value = pcall(lpeg.match, pattern, random_text(20), math.random(-3, 25))
		assert(done or type(value) == "string", tostring(value))
	else
		assert(type(pattern) == "string", tostring(pattern))
	end
end
require("chassis").critical("the end")
