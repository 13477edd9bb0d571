-- An error in each hook: the log says where, the client is served as if there were no script.
function connect_server() error("in connect_server") end

function read_handshake() local x = nil; return x.field end

function read_auth() error({}) end

function read_auth_result(auth) return auth.packet + nil end

function read_query(packet)
	if packet:find("inject", 1, true) then
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end
	if packet:byte() == proxy.COM_QUERY then undefined_function(packet) end
end

function read_query_result(inj)
	for row in inj.resultset.rows do error("in read_query_result: " .. row[1]) end
end

function disconnect_client() error("in disconnect_client", 0) end
