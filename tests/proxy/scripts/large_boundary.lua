-- Rows whose packet fills a frame exactly, or nearly; with and without being held, and read by the script.
function read_query(packet)
	if packet:byte() ~= proxy.COM_QUERY then return end
	local word = packet:sub(2, 5)
	if word ~= "HELD" and word ~= "SEEN" then return end
	proxy.queries:append(1, "\3SELECT" .. packet:sub(6), { resultset_is_needed = word == "HELD" })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	print("rows", inj.resultset.row_count, "bytes", inj.resultset.bytes)
	if not inj.query:find("%*/") then return end
	for row in inj.resultset.rows do print("row of", #row[1], row[2]) end
end
