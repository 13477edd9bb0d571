-- Module proxy.tokenizer: a statement as text again, or in a form in which statements that differ only in their values are equal.

local tokenizer = require("mysql.tokenizer")

module("proxy.tokenizer", package.seeall)

-- Words that the tokenizer takes for names, and that begin a statement.
local statement_words = { BEGIN = true, COMMIT = true, ROLLBACK = true, START = true }
-- What may follow such a word and is part of it.
local following_words = { START = "TRANSACTION" }

function tokenize(statement)
	return tokenizer.tokenize(statement)
end

-- The first token that is no comment; nil if there is none.
function first_stmt_token(tokens)
	for i = 1, #tokens do
		local token = tokens[i]
		if token.token_name ~= "TK_COMMENT" then return token end
	end
	return nil
end

-- The text that a token has in a normalized statement. `before` is what stands before it.
local function normalized(token, before)
	local name, text = token.token_name, token.text
	if name == "TK_COMMENT_MYSQL" then
		return "/*!" .. text .. "*/ "
	elseif name == "TK_LITERAL" then
		local upper = text:upper()
		if text:sub(1, 1) == "@" then
			return text .. " "
		elseif #before == 0 and statement_words[upper] then
			return upper .. " "
		elseif #before == 1 and following_words[before[1]:sub(1, -2)] == upper then
			return upper .. " "
		end
		return "`" .. text .. "` "
	elseif name == "TK_STRING" or name == "TK_INTEGER" or name == "TK_FLOAT" then
		return "? "
	elseif name == "TK_FUNCTION" then
		return text:upper()
	end
	return text:upper() .. " "
end

-- Keywords and functions in capitals, names in backticks, values as "?", comments left out.
function normalize(tokens)
	local parts = {}
	for i = 1, #tokens do
		local token = tokens[i]
		if token.token_name ~= "TK_COMMENT" then
			parts[#parts + 1] = normalized(token, parts)
		end
	end
	return table.concat(parts)
end

-- The statement again, without its comments.
function tokens_to_query(tokens)
	local parts = {}
	for i = 1, #tokens do
		local token = tokens[i]
		local name, text = token.token_name, token.text
		if name == "TK_STRING" then
			parts[#parts + 1] = string.format("%q ", text)
		elseif name == "TK_FUNCTION" then
			parts[#parts + 1] = text
		elseif name ~= "TK_COMMENT" then
			parts[#parts + 1] = text .. " "
		end
	end
	return table.concat(parts)
end

-- The texts of the tokens that are no comments, as a list.
function bare_tokens(tokens)
	local texts = {}
	for i = 1, #tokens do
		local token = tokens[i]
		if token.token_name ~= "TK_COMMENT" then
			texts[#texts + 1] = token.text
		end
	end
	return texts
end

tokens_without_comments = bare_tokens
