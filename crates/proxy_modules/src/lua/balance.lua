-- Module proxy.balance: a backend with an idle connection of the client's user. Index into proxy.global.backends, 0 for none.

module("proxy.balance", package.seeall)

local function has_idle(backend, kind)
	local user = proxy.connection.client.username
	return backend.type == kind and backend.state ~= proxy.BACKEND_STATE_DOWN
		and backend.pool.users[user].cur_idle_connections > 0
end

-- The first read-write backend.
function idle_failsafe_rw()
	local backends = proxy.global.backends
	for i = 1, #backends do
		if has_idle(backends[i], proxy.BACKEND_TYPE_RW) then return i end
	end
	return 0
end

-- The read-only backend with the fewest clients, the first of several.
function idle_ro()
	local backends = proxy.global.backends
	local chosen, fewest = 0, math.huge
	for i = 1, #backends do
		local backend = backends[i]
		if has_idle(backend, proxy.BACKEND_TYPE_RO) and backend.connected_clients < fewest then
			chosen, fewest = i, backend.connected_clients
		end
	end
	return chosen
end
