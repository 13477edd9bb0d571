-- A client that wants no EOF packets: what is held, read, and built has its form.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	if packet:sub(2) == "built" then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = { { name = "n", type = 3 } }, rows = { { 1 }, { 2 } } } }
		return proxy.PROXY_SEND_RESULT
	end
	proxy.queries:append(1, packet, { resultset_is_needed = packet:find("held", 1, true) ~= nil })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	print(inj.resultset.query_status, inj.resultset.row_count, inj.resultset.warning_count, inj.resultset.flags.auto_commit)
	if not inj.resultset.query_status == 0 or not inj.query:find("held", 1, true) then return end
	print(#inj.resultset.fields, inj.resultset.rows and inj.resultset.rows()[1])
end
