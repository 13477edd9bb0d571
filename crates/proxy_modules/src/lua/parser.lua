-- Module proxy.parser: which tables a statement reads and writes, from its tokens alone.
-- It follows the lists of tables behind FROM, JOIN, UPDATE, INTO and TABLE through parentheses and subqueries. The original
-- loses qualified names in changes, INSERT IGNORE, REPLACE, and subqueries; takes columns in ON for tables; and prints every token
-- that it cannot place.

module("proxy.parser", package.seeall)

-- "schema.table"; without a schema in that of the client.
function tablename_expand(name, schema)
	return (schema or proxy.connection.client.default_db or "") .. "." .. name
end

-- Words that are a function to the tokenizer when a parenthesis follows at once.
local keywords = {}
for word in ("SELECT FROM JOIN STRAIGHT_JOIN ON USING WHERE SET VALUES UNION HAVING"):gmatch("%S+") do
	keywords[word] = "TK_SQL_" .. word
end

local function kind_of(token)
	if token.token_name == "TK_FUNCTION" then return keywords[token.text:upper()] or "TK_FUNCTION" end
	return token.token_name
end

-- Words that end a list of tables.
local ends = {
	TK_SQL_WHERE = true, TK_SQL_GROUP = true, TK_SQL_ORDER = true, TK_SQL_HAVING = true, TK_SQL_LIMIT = true,
	TK_SQL_UNION = true, TK_SQL_VALUES = true, TK_SQL_PROCEDURE = true, TK_SQL_FOR = true, TK_SQL_LOCK = true,
	TK_SQL_INTO = true, TK_SEMICOLON = true,
}

-- A state for each open parenthesis. `access`: what a list of tables here means; `place`: "name" where a table's name may come,
-- "after" behind it, nil outside of lists.
local starts = {
	TK_SQL_SELECT = { access = "read" },
	TK_SQL_INSERT = { access = "write", place = "name" },
	TK_SQL_REPLACE = { access = "write", place = "name" },
	TK_SQL_UPDATE = { access = "write", place = "name" },
	TK_SQL_DELETE = { access = "write" },
}

-- Statements that change the tables behind the word TABLE, and those of them that have only one.
local definers = { TK_SQL_CREATE = true, TK_SQL_ALTER = true, TK_SQL_DROP = true, TK_SQL_RENAME = true }
local takes_one = { TK_SQL_INSERT = true, TK_SQL_REPLACE = true, TK_SQL_CREATE = true, TK_SQL_ALTER = true }

local function step(state, kind, command)
	if starts[kind] and (kind == "TK_SQL_SELECT" or kind == command) and not state.started then
		state.access, state.place, state.started = starts[kind].access, starts[kind].place, true
	elseif kind == "TK_SQL_SELECT" then
		state.access, state.place = "read", nil
	elseif kind == "TK_SQL_TABLE" and definers[command] then
		state.access, state.place = "write", "name"
	elseif kind == "TK_SQL_FROM" and state.access then
		state.place = "name"
	elseif kind == "TK_SQL_USING" and command == "TK_SQL_DELETE" and state.place == "after" then
		state.place = "name"
	elseif (kind == "TK_SQL_JOIN" or kind == "TK_SQL_STRAIGHT_JOIN" or kind == "TK_COMMA") and state.place == "after" then
		state.place = "name"
	elseif ends[kind] and state.place == "after" then
		state.place = nil
	elseif kind == "TK_SQL_SET" then
		state.access, state.place = nil, nil
	end
end

-- The name that begins at token i, with the schema before it, and the index of its last token.
local function name_at(tokens, i)
	local first = tokens[i].text
	local dot, second = tokens[i + 1], tokens[i + 2]
	if dot and second and dot.token_name == "TK_DOT" then return second.text, first, i + 2 end
	return first, nil, i
end

-- A table of "schema.table" to "read" or "write".
function get_tables(tokens)
	local tables = {}
	local states = { {} }
	local first = nil
	local i = 1
	while i <= #tokens do
		local kind = kind_of(tokens[i])
		local state = states[#states]
		if kind ~= "TK_COMMENT" and kind ~= "TK_COMMENT_MYSQL" then
			first = first or kind
			if kind == "TK_OBRACE" then
				-- A list in parentheses goes on in them; a subquery begins with SELECT.
				local goes_on = state.place == "name"
				states[#states + 1] = { access = goes_on and state.access or nil, place = goes_on and "name" or nil }
				if goes_on then state.place = "after" end
			elseif kind == "TK_CBRACE" then
				if #states > 1 then states[#states] = nil end
			elseif state.place == "name" and (kind == "TK_LITERAL" or kind == "TK_FUNCTION") then
				local name, schema
				name, schema, i = name_at(tokens, i)
				local key = tablename_expand(name, schema)
				if tables[key] ~= "write" then tables[key] = state.access end
				state.place = "after"
				if takes_one[first] and state.access == "write" then state.place = nil end
			else
				step(state, kind, first)
			end
		end
		i = i + 1
	end
	return tables
end
