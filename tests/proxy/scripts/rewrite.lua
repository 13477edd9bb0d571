-- Query rewriting: one statement in the place of another, by pattern.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	local table_name = packet:sub(2):match("^%s*COUNT%s+([%w_.]+)%s*$")
	if table_name then
		proxy.queries:append(1, string.char(proxy.COM_QUERY) .. "SELECT COUNT(*) AS c FROM " .. table_name)
		return proxy.PROXY_SEND_QUERY
	end
end
