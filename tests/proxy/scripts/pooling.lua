-- Pooling: a client's server connection waits for the next client, which logs in over it.
function connect_server()
	local backend = proxy.global.backends[1]
	local idle = backend.pool.users[""].cur_idle_connections
	print("idle", idle, "clients", backend.connected_clients)
	if idle > 0 then
		proxy.connection.backend_ndx = 1
		return proxy.PROXY_IGNORE_RESULT
	end
end

function read_auth_result(auth)
	-- Some servers ask again for the password in the form that they want.
	if auth.packet:byte() == 254 then return end
	print("login", proxy.connection.client.username, auth.packet:byte())
end

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUIT then return end
	proxy.connection.backend_ndx = 0
	print("kept", tostring(proxy.connection.server), proxy.global.backends[1].pool.users.root.cur_idle_connections)
	proxy.response = { type = proxy.MYSQLD_PACKET_OK }
	proxy.connection.connection_close = true
	return proxy.PROXY_SEND_RESULT
end
