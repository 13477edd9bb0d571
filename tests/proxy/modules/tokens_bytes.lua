-- Every byte, alone and inside a name, and every pair of signs.
local tokenizer = require("mysql.tokenizer")
local function tokens(s)
	local ok, list = pcall(tokenizer.tokenize, s)
	local out = {}
	for i = 1, #list do
		local token = list[i]
		out[#out + 1] = ("%d:%s:%s"):format(token.token_id, token.token_name, quote(token.text))
	end
	print(quote(s), #list, table.concat(out, " "))
end
for i = 0, 255 do
	local c = string.char(i)
	tokens(c)
	tokens("a" .. c .. "b")
end
for i = 33, 126 do
	for j = 33, 126 do
		local a, b = string.char(i), string.char(j)
		local open_quote = a:match("['\"`]") and b == "\\"
		if not a:match("[%w_]") and not b:match("[%w]") and not open_quote then tokens(a .. b) end
	end
end
