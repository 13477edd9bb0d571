-- The second version of file_changed.lua.
function read_query(packet)
	if packet:sub(2) ~= "version" then return end
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = 2 }
	return proxy.PROXY_SEND_RESULT
end
