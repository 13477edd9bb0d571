-- What proxy.connection shows, hook by hook.
local function shown(value)
	if type(value) == "string" then return "(" .. (value:gsub("[^%g ]", "?")) .. ")" end
	return tostring(value)
end

local function address(side)
	if not side then return "none" end
	return ("%s %s/%s"):format(side.src and side.src.type or "-", side.src and side.src.address or "-", side.dst and side.dst.name or "-")
end

local function show(hook)
	local connection = proxy.connection
	local client, server = connection.client, connection.server
	print(hook, connection.backend_ndx, "client", address(client):gsub(" .*", ""), "server", address(server))
	if hook ~= "read_auth" and hook ~= "read_query" then return end
	print("  client", shown(client.username), shown(client.default_db), #client.scrambled_password, #client.scramble_buffer,
		client.thread_id == server.thread_id, client.mysqld_version == server.mysqld_version)
	if hook == "read_query" then
		print("  server", shown(server.username), shown(server.default_db), #server.scrambled_password, #server.scramble_buffer)
	end
end

function connect_server() show("connect_server") end

function read_handshake() show("read_handshake") end

function read_auth() show("read_auth") end

function read_auth_result() show("read_auth_result") end

function read_query(packet)
	show("read_query")
	if packet:sub(2) ~= "SELECT 'mistakes'" then return end
	for _, call in ipairs({
		function () return proxy.connection.default_db end, function () return proxy.connection.thread_id end,
		function () return proxy.connection.mysqld_version end, function () return proxy.connection.other end,
		function () proxy.connection.other = 1 end, function () proxy.connection.backend_ndx = "x" end,
		function () proxy.connection.connection_close = 1 end, function () return proxy.connection.connection_close end,
		function () proxy.connection.client.username = "x" end, function () return proxy.connection.client.address end,
		function () return proxy.global.backends[1].address end, function () proxy.global.backends[1].type = 2 end,
		function () return proxy.global.backends.x end, function () return proxy.global.backends[0] end,
		function () return proxy.global.backends[2] end, function () return #proxy.global.backends end,
		function () proxy.global.backends[1].uuid = 5 end, function () return proxy.global.backends[1].pool.x end,
		function () proxy.global.backends[1].pool.x = 1 end, function () return proxy.global.backends[1].pool.max_idle_connections end,
		function () proxy.global.backends[1].pool.min_idle_connections = 4; return proxy.global.backends[1].pool.min_idle_connections end,
		function () return proxy.global.backends[1].pool.users.x.cur_idle_connections end,
		function () return proxy.global.backends[1].pool.users.x.other end,
		function () proxy.global.backends[1].state = "words"; return proxy.global.backends[1].state end,
		function () proxy.global.backends[1].uuid = "u"; return proxy.global.backends[1].uuid end,
		function () return proxy.global.config.proxy end, function () return getmetatable(proxy) ~= nil end,
	}) do
		print("  ", pcall(call))
	end
end

function disconnect_client() show("disconnect_client") end
