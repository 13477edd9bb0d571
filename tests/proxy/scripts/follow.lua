-- A result that asks for more: what read_query_result queues goes out next.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY or not packet:find("chain", 1, true) then return end
	proxy.queries:append(1, packet, { resultset_is_needed = true })
	proxy.queries:append(9, string.char(proxy.COM_QUERY) .. "SELECT 'never'", { resultset_is_needed = true })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	local first
	for row in inj.resultset.rows do first = first or row[1] end
	print(inj.id, first, #proxy.queries)
	if inj.id < 4 then
		proxy.queries:reset()
		proxy.queries:append(inj.id + 1, string.char(proxy.COM_QUERY) .. "SELECT " .. inj.id * 10, { resultset_is_needed = true })
		return proxy.PROXY_IGNORE_RESULT
	end
end
