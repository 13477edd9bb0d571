-- Module admin: the script of the admin plugin. `SELECT * FROM backends` and `SELECT * FROM help`, in capitals or not.

local states = { [0] = "unknown", "up", "down" }
local types = { [0] = "unknown", "rw", "ro" }

-- Makes the error that answers the statement.
function set_error(text)
	proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = text or "error" }
end

-- One entry for each field: name and type. Then how its rows are made.
local function answer(fields, rows)
	local named = {}
	for i, field in ipairs(fields) do
		named[i] = { name = field[1], type = proxy[field[2]] }
	end
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = named, rows = rows } }
	return proxy.PROXY_SEND_RESULT
end

local function show_backends()
	local rows = {}
	for i = 1, #proxy.global.backends do
		local backend = proxy.global.backends[i]
		rows[i] = {
			i, backend.dst.name, states[backend.state], types[backend.type], backend.uuid, backend.connected_clients,
		}
	end
	return answer({
		{ "backend_ndx", "MYSQL_TYPE_LONG" }, { "address", "MYSQL_TYPE_STRING" }, { "state", "MYSQL_TYPE_STRING" },
		{ "type", "MYSQL_TYPE_STRING" }, { "uuid", "MYSQL_TYPE_STRING" }, { "connected_clients", "MYSQL_TYPE_LONG" },
	}, rows)
end

local function show_help()
	return answer({ { "command", "MYSQL_TYPE_STRING" }, { "description", "MYSQL_TYPE_STRING" } }, {
		{ "SELECT * FROM help", "shows this help" },
		{ "SELECT * FROM backends", "lists the backends and their state" },
	})
end

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then
		set_error("[admin] we only handle text-based queries (COM_QUERY)")
		return proxy.PROXY_SEND_RESULT
	end
	local statement = packet:sub(2):lower()
	if statement == "select * from backends" then return show_backends() end
	if statement == "select * from help" then return show_help() end
	set_error("use 'SELECT * FROM help' to see the supported commands")
	return proxy.PROXY_SEND_RESULT
end
