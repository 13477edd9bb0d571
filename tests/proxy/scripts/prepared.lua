-- Prepared statements pass with the server's numbers; commands without answer never reach read_query_result.
local names = { [proxy.COM_STMT_PREPARE] = "prepare", [proxy.COM_STMT_EXECUTE] = "execute", [proxy.COM_STMT_CLOSE] = "close",
	[proxy.COM_STMT_RESET] = "reset", [proxy.COM_STMT_SEND_LONG_DATA] = "long data", [proxy.COM_STMT_FETCH] = "fetch" }

function read_query(packet)
	local name = names[packet:byte()]
	if not name then return end
	print(name, #packet, name == "prepare" and packet:sub(2) or "")
	proxy.queries:append(packet:byte(), packet, { resultset_is_needed = name == "prepare" or name == "execute" })
	return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
	print("result of", names[inj.id], inj.resultset.query_status, inj.resultset.row_count, inj.resultset.affected_rows)
	if inj.id == proxy.COM_STMT_PREPARE then print("first", inj.resultset.raw:byte(), #inj.resultset.raw) end
end
