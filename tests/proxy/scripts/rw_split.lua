-- Read-write split: reads outside of transactions go to the read-only backend, all else to the other one.
local is_in_transaction = false

function connect_server()
	-- The first client of each backend connects for itself; later ones find idle connections.
	for i = 1, #proxy.global.backends do
		local backend = proxy.global.backends[i]
		if backend.pool.users[""].cur_idle_connections == 0 and backend.connected_clients == 0 then
			proxy.connection.backend_ndx = i
			return
		end
	end
end

function read_auth_result(auth)
	if auth.packet:byte() == proxy.MYSQLD_PACKET_OK then proxy.connection.backend_ndx = 0 end
end

function read_query(packet)
	if packet:byte() == proxy.COM_QUIT then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK }
		return proxy.PROXY_SEND_RESULT
	end
	local is_read = packet:byte() == proxy.COM_QUERY and packet:find("^.SELECT") and not packet:find("FOR UPDATE")
	proxy.connection.backend_ndx = (is_read and not is_in_transaction) and 2 or 1
	print(proxy.connection.backend_ndx, proxy.global.backends[proxy.connection.backend_ndx].type, packet:sub(2))
	proxy.queries:append(1, packet, { resultset_is_needed = true })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	is_in_transaction = inj.resultset.flags.in_trans
	if not is_in_transaction then proxy.connection.backend_ndx = 0 end
end
