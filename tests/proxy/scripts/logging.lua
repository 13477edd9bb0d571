-- Logging: who asks what, and what came of it, for every command and connection.
local commands = {}
for name, number in pairs(proxy) do
	if name:find("^COM_") then commands[number] = name end
end

function read_auth_result(auth)
	print("login", proxy.connection.client.username, proxy.connection.client.default_db, auth.packet:byte())
end

function read_query(packet)
	print(proxy.connection.client.username, commands[packet:byte()], (packet:sub(2):gsub("[^%g ]", ".")))
	proxy.queries:append(1, packet, { resultset_is_needed = true })
	if packet:byte() == proxy.COM_QUERY then return proxy.PROXY_SEND_QUERY end
	proxy.queries:reset()
end

function read_query_result(inj)
	local result = inj.resultset
	print("rows", result.row_count, "affected", result.affected_rows, "status", result.query_status)
end

function disconnect_client()
	print("gone", proxy.connection.client.username)
end
