-- Several results in one answer: the hook is called once, with the first result and the numbers of all.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	proxy.queries:append(1, packet, { resultset_is_needed = packet:find("held", 1, true) ~= nil })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	local result = inj.resultset
	print("rows", result.row_count, "bytes", result.bytes, "affected", result.affected_rows, "status", result.query_status)
	if not inj.query:find("held", 1, true) then return end
	print("fields", #result.fields, type(result.rows))
	if result.rows then
		for row in result.rows do print("row", row[1]) end
	end
end
