-- Macros: short words for long statements, and one that takes a word.
local words = { ls = "SHOW TABLES", pwd = "SELECT DATABASE() AS d", who = "SELECT CURRENT_USER() AS me" }

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	local word, rest = packet:sub(2):match("^%s*(%w+)%s*(.-)%s*$")
	if words[word] and rest == "" then
		proxy.queries:append(1, string.char(proxy.COM_QUERY) .. words[word])
	elseif word == "cd" then
		proxy.queries:append(2, string.char(proxy.COM_INIT_DB) .. rest)
	else
		return
	end
	return proxy.PROXY_SEND_QUERY
end
