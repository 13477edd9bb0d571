-- What scripts do wrong with the queue.
local cases = {
	empty = function () return proxy.PROXY_SEND_QUERY end,
	forgotten = function (packet) proxy.queries:append(1, packet) end,
	both = function (packet)
		proxy.queries:append(1, packet)
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = 7 }
		return proxy.PROXY_SEND_RESULT
	end,
	second = function (packet)
		proxy.queries:append(1, packet, { resultset_is_needed = true })
		proxy.queries:append(2, "\3SELECT 2", { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end,
	ignored = function (packet)
		proxy.queries:append(5, packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end,
	changed = function (packet)
		proxy.queries:append(6, packet)
		return proxy.PROXY_SEND_QUERY
	end,
	two = function (packet)
		proxy.queries:append(7, packet)
		proxy.queries:append(8, packet)
		return proxy.PROXY_SEND_QUERY
	end,
	replaced = function (packet)
		proxy.queries:append(9, packet, { resultset_is_needed = true })
		proxy.queries:append(9, packet, { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end,
	arguments = function ()
		for _, call in ipairs({
			function () proxy.queries:append() end, function () proxy.queries:append(1) end,
			function () proxy.queries:append("x", "y") end, function () proxy.queries:append(1, {}) end,
			function () proxy.queries:append(1, "x", { resultset_is_needed = 1 }) end,
			function () proxy.queries:prepend(1, "x", { resultset_is_needed = "yes" }) end,
			function () proxy.queries.x = 1 end,
			function () return proxy.queries.append.x end,
		}) do
			print((select(2, pcall(call))))
		end
		print(proxy.queries[1], proxy.queries.x, proxy.queries.len, #proxy.queries)
		proxy.queries:append("7", 5)
		proxy.queries:append(1.7, "x", { other = 5 })
		print(#proxy.queries)
		proxy.queries:reset()
		print(#proxy.queries)
	end,
	number = function ()
		proxy.queries:append("7", "\3SELECT 'as a number'", { resultset_is_needed = true })
		proxy.queries:prepend(-1.7, "\3DO 1", { resultset_is_needed = true })
		return proxy.PROXY_SEND_QUERY
	end,
}

function read_query(packet)
	local case = cases[packet:match("case (%w+)")]
	if case then return case(packet) end
end

function read_query_result(inj)
	print("result", inj.id)
	if inj.id == 5 or inj.id == 6 or inj.id == -1 then return proxy.PROXY_IGNORE_RESULT end
	if inj.id == 9 then
		proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = 9 }
		return proxy.PROXY_SEND_RESULT
	end
end
