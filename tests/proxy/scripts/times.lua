-- Statistics of time: each kind of statement with its count, and a statement that shows them.
proxy.global.times = proxy.global.times or {}

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	if packet:sub(2) == "SHOW TIMES" then
		local rows = {}
		for kind, seen in pairs(proxy.global.times) do
			rows[#rows + 1] = { kind, seen.count, tostring(seen.first >= 0 and seen.last >= seen.first), tostring(seen.last > 100000) }
		end
		table.sort(rows, function (one, two) return one[1] < two[1] end)
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { rows = rows, fields = {
			{ name = "kind", type = proxy.MYSQL_TYPE_STRING }, { name = "count", type = proxy.MYSQL_TYPE_LONGLONG },
			{ name = "ordered" }, { name = "slow", type = proxy.MYSQL_TYPE_STRING } } } }
		return proxy.PROXY_SEND_RESULT
	end
	proxy.queries:append(1, packet)
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	local kind = inj.query:match("^.(%w+)")
	local seen = proxy.global.times[kind] or { count = 0, first = 0, last = 0 }
	seen.count, seen.first, seen.last = seen.count + 1, seen.first + inj.query_time, seen.last + inj.response_time
	proxy.global.times[kind] = seen
end
