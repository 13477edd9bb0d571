-- Result sets that cannot be built: the client gets an error, and the connection goes on.
local OK = proxy.MYSQLD_PACKET_OK
local one = { { name = "n", type = proxy.MYSQL_TYPE_LONG } }
local cases = {
	no_fields = { type = OK, resultset = { rows = {} } }, no_list = { type = OK, resultset = { fields = one } },
	empty_fields = { type = OK, resultset = { fields = {}, rows = {} } }, row_text = { type = OK, resultset = { fields = one, rows = { "x" } } },
	field_text = { type = OK, resultset = { fields = { "x" }, rows = {} } },
	packet_table = { type = proxy.MYSQLD_PACKET_RAW, packets = { {} } },
}

function read_query(packet)
	if not cases[packet:sub(2)] then return end
	proxy.response = cases[packet:sub(2)]
	return proxy.PROXY_SEND_RESULT
end
