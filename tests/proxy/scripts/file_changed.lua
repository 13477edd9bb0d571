-- The file changes while the proxy runs: new connections get the new script, old ones keep theirs.
function read_query(packet)
	if packet:sub(2) ~= "version" then return end
	proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = 1 }
	return proxy.PROXY_SEND_RESULT
end
