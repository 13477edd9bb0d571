-- RAW packets: what the client gets is up to the script.
local answers = {
	ok = { "\0\5\7\2\0\0\0" },
	err = { "\255\81\4#42000raw error" },
	one = { "\1", "\3def\0\0\0\1n\0\12\63\0\20\0\0\0\8\0\0\0\0\0", "\254\0\0\2\0", "\2" .. "17", "\251", "\254\0\0\2\0" },
	number = { 5 },
	cut = { "\0\0\0\2\0\0\0", nil, "never" },
	none = {},
	text = "packets",
}

function read_query(packet)
	local answer = answers[packet:sub(2)]
	if answer == nil then return end
	proxy.response.type = proxy.MYSQLD_PACKET_RAW
	proxy.response.packets = answer
	return proxy.PROXY_SEND_RESULT
end
