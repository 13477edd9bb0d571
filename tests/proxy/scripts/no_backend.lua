-- A server of its own: the script greets, lets in, and answers what it likes.
function connect_server()
	proxy.response = { type = proxy.MYSQLD_PACKET_RAW, packets = {
		"\10" .. "5.7.99-script\0" .. "\9\0\0\0" .. "01234567" .. "\0" .. "\0\130" .. "\8" .. "\2\0" .. "\0\0" .. "\21" .. ("\0"):rep(10)
			.. "890123456789" .. "\0" } }
	return proxy.PROXY_SEND_RESULT
end

function read_auth()
	print("auth", proxy.connection.client.username, tostring(proxy.connection.server))
end

function read_query(packet)
	if packet:byte() == proxy.COM_QUERY and packet:find("^.SELECT") then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = {
			fields = { { name = "answer", type = proxy.MYSQL_TYPE_STRING } }, rows = { { "from the script" } } } }
		return proxy.PROXY_SEND_RESULT
	elseif packet:byte() == proxy.COM_PING then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = 3, insert_id = 4 }
		return proxy.PROXY_SEND_RESULT
	end
end
