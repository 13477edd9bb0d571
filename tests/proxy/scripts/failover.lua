-- Failover: the first backend that is not down; the hook runs again when one refuses.
function connect_server()
	local states = {}
	for i = 1, #proxy.global.backends do states[i] = proxy.global.backends[i].state end
	print("states", table.concat(states, " "))
	for i = 1, #proxy.global.backends do
		if proxy.global.backends[i].state ~= proxy.BACKEND_STATE_DOWN then
			proxy.connection.backend_ndx = i
			return
		end
	end
end

function read_query(packet)
	if packet:sub(2) ~= "which" then return end
	proxy.response = {
		type = proxy.MYSQLD_PACKET_OK,
		resultset = {
			fields = { { name = "ndx", type = proxy.MYSQL_TYPE_LONG }, { name = "address", type = proxy.MYSQL_TYPE_STRING } },
			rows = { { proxy.connection.backend_ndx, proxy.global.backends[proxy.connection.backend_ndx].dst.name } },
		},
	}
	return proxy.PROXY_SEND_RESULT
end
