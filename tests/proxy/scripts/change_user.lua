-- Another user on the same connection.
function read_query(packet)
	print(packet:byte(), proxy.connection.client.username, proxy.connection.client.default_db)
end
