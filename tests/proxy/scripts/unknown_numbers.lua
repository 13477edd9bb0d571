-- Numbers that end the original's process, and those that leave its client waiting.
function read_query(packet)
	local number = tonumber(packet:match("query (%-?%d+)"))
	if number then return number end
	if packet:find("result", 1, true) then
		proxy.queries:append(tonumber(packet:match("result (%d+)")), packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end
end

function read_query_result(inj) return inj.id end
