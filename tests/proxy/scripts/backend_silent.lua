-- A backend that accepts and says nothing: other clients are served, and the one that waits may leave.
function connect_server()
	proxy.global.clients = (proxy.global.clients or 0) + 1
	proxy.connection.backend_ndx = proxy.global.clients % 2 + 1
	print("to", proxy.connection.backend_ndx)
end

function disconnect_client() print("gone") end
