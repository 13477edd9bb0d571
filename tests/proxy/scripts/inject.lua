-- Injection: a query before and one behind the client's own, whose results the client never sees.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	proxy.queries:append(1, packet, { resultset_is_needed = true })
	proxy.queries:append(2, string.char(proxy.COM_QUERY) .. "SHOW WARNINGS", { resultset_is_needed = true })
	proxy.queries:prepend(3, string.char(proxy.COM_QUERY) .. "SET @asked = COALESCE(@asked, 0) + 1", { resultset_is_needed = true })
	print("queued", #proxy.queries)
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	print(inj.id, inj.type, inj.query:sub(2), inj.resultset.query_status, #proxy.queries)
	if inj.id == 2 then
		for row in inj.resultset.rows do print("warning", row[1], row[2], row[3]) end
	end
	if inj.id ~= 1 then return proxy.PROXY_IGNORE_RESULT end
end
