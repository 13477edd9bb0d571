-- Packets of 16 MiB and more arrive as one string, and are cut again on their way.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	print("command of", #packet)
	local word = packet:sub(2, 5)
	if word == "HELD" or word == "SEEN" then
		proxy.queries:append(1, "\3SELECT" .. packet:sub(6), { resultset_is_needed = word == "HELD" })
		return proxy.PROXY_SEND_QUERY
	end
end

function read_query_result(inj)
	print("query of", #inj.query, "rows", inj.resultset.row_count)
	if inj.query:find("LENGTH", 1, true) then return end
	print("bytes", inj.resultset.bytes)
end
