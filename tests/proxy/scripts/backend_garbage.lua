-- A backend that greets with garbage, and one that answers with it.
function connect_server()
	proxy.global.clients = (proxy.global.clients or 0) + 1
	proxy.connection.backend_ndx = math.min(proxy.global.clients, 2)
	print("to", proxy.connection.backend_ndx)
end

function read_query(packet)
	if packet:find("held", 1, true) then
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end
end

function read_query_result(inj) print("result", inj.resultset.query_status) end
