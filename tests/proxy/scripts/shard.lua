-- Sharding by a comment: /* shard=N */ names the backend; connections of all of them are opened ahead.
function connect_server()
	for i = 1, #proxy.global.backends do
		if proxy.global.backends[i].pool.users[""].cur_idle_connections < 1 then
			proxy.connection.backend_ndx = i
			return
		end
	end
	proxy.connection.backend_ndx = 1
	return proxy.PROXY_IGNORE_RESULT
end

function read_auth_result(auth)
	if auth.packet:byte() == proxy.MYSQLD_PACKET_OK then proxy.connection.backend_ndx = 0 end
end

function read_query(packet)
	local shard = tonumber(packet:match("^.*/%* shard=(%d+) %*/")) or 1
	proxy.connection.backend_ndx = shard
	if not proxy.global.backends[shard] or not proxy.connection.server then
		proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errcode = 9001, sqlstate = "HY000", errmsg = "no shard " .. shard }
		return proxy.PROXY_SEND_RESULT
	end
	print("shard", shard, proxy.connection.server.dst.name == proxy.global.backends[shard].dst.name)
	proxy.queries:append(shard, packet, { resultset_is_needed = true })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	proxy.connection.backend_ndx = 0
end
