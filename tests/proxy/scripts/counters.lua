-- Counters of all connections are in proxy.global; what the script holds itself is each connection's own.
proxy.global.total = (proxy.global.total or 0) + 1
mine = (mine or 0) + 1
local number = proxy.global.total

function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	mine = mine + 1
	proxy.global.asked = (proxy.global.asked or 0) + 1
	proxy.own = (proxy.own or 0) + 1
	print("connection", number, "mine", mine, "asked", proxy.global.asked, "own", proxy.own, "visible", tostring(_G.mine))
end

function disconnect_client()
	proxy.global.total = proxy.global.total - 1
	print("left", proxy.global.total)
end
