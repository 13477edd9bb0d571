-- LOAD DATA LOCAL: the server asks the client for the file, and the script sees the request.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY or not packet:find("LOAD", 1, true) then return end
	local held = packet:find("held", 1, true) ~= nil
	if not held and not packet:find("seen", 1, true) then return end
	proxy.queries:append(1, packet, { resultset_is_needed = held })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	print(inj.id, inj.resultset.query_status, inj.resultset.affected_rows, inj.resultset.row_count)
	if inj.query:find("held", 1, true) then print(inj.resultset.raw) end
end
