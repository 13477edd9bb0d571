-- A backend that ends when a query has reached it, before and within the answer.
function read_query(packet)
	if packet:find("held", 1, true) then
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end
end

function read_query_result(inj) print("result", inj.resultset.query_status) end

function disconnect_client() print("gone", proxy.connection.server and "held" or "none") end
