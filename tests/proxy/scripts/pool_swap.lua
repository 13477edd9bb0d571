-- Swapping: a connection that another client has put into the pool, with its session as it is.
function read_query(packet)
	local word = packet:sub(2)
	if word == "leave" or word == "take" then
		proxy.connection.backend_ndx = word == "take" and 1 or 0
		print(word, proxy.connection.backend_ndx, proxy.connection.server and "held" or "none",
			proxy.global.backends[1].connected_clients, proxy.global.backends[1].pool.users.root.cur_idle_connections)
		proxy.response = { type = proxy.MYSQLD_PACKET_OK }
		return proxy.PROXY_SEND_RESULT
	end
end
