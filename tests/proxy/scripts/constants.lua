-- The constants of the table proxy, and that each connection may add fields of its own to it.
local names = {}
for name, value in pairs(proxy) do
	if type(value) == "number" then names[#names + 1] = name end
end
table.sort(names)

function read_query(packet)
	if packet:sub(2) ~= "constants" then return end
	local rows = {}
	for i, name in ipairs(names) do rows[i] = { name, proxy[name] } end
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { rows = rows,
		fields = { { name = "name", type = proxy.MYSQL_TYPE_STRING }, { name = "value", type = proxy.MYSQL_TYPE_LONG } } } }
	return proxy.PROXY_SEND_RESULT
end
