-- Result rewriting: card numbers are hidden, NULL stays, a column is added.
function read_query(packet)
	if packet:byte() == proxy.COM_QUERY and packet:find("^.SELECT") then
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end
end

function read_query_result(inj)
	local result = inj.resultset
	if result.query_status ~= proxy.MYSQLD_PACKET_OK or not result.rows then return end
	local fields, rows = {}, {}
	for i = 1, #result.fields do
		fields[i] = { name = result.fields[i].name, type = result.fields[i].type }
	end
	fields[#fields + 1] = { name = "line", type = proxy.MYSQL_TYPE_LONG }
	for row in result.rows do
		local copy = {}
		for i = 1, #result.fields do
			copy[i] = row[i] and row[i]:gsub("%d%d%d%d%-%d%d%d%d", "****-****")
		end
		copy[#fields] = #rows + 1
		rows[#rows + 1] = copy
	end
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = fields, rows = rows } }
	return proxy.PROXY_SEND_RESULT
end
