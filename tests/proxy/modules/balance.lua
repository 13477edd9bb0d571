-- Which backend is chosen, with tables in place of the proxy's objects.
local balance = require("proxy.balance")
local UNKNOWN, UP, DOWN, RW, RO = 0, 1, 2, 1, 2
local function choose(name, list)
	local backends = {}
	for i, b in ipairs(list) do
		local idle = {cur_idle_connections = b.idle or 0}
		backends[i] = {
			state = b.state or UP, type = b.type or RW, connected_clients = b.clients or 0,
			pool = {users = setmetatable({}, {__index = function(_, user)
				if user == "u" then return idle end
				return {cur_idle_connections = user == "" and 10 or 0}
			end})},
		}
	end
	_G.proxy.global = {backends = backends, config = {}}
	rawset(_G.proxy, "connection", {client = {username = "u"}, backend_ndx = 0})
	show(name, function() return balance.idle_failsafe_rw(), balance.idle_ro() end)
end
choose("none", {})
choose("one without idle", {{}})
choose("one idle", {{idle = 1}})
choose("one idle, down", {{idle = 1, state = DOWN}})
choose("one idle, unknown", {{idle = 1, state = UNKNOWN}})
choose("two idle", {{idle = 1}, {idle = 5}})
choose("second idle", {{}, {idle = 1}})
choose("first down", {{idle = 1, state = DOWN}, {idle = 1}})
choose("clients", {{idle = 1, clients = 5}, {idle = 1, clients = 2}})
choose("read only", {{idle = 1}, {idle = 1, type = RO}})
choose("read only without idle", {{idle = 1}, {type = RO}})
choose("only read only", {{idle = 1, type = RO}})
choose("two read only", {{idle = 1, type = RO}, {idle = 1, type = RO}})
choose("two read only, clients", {{idle = 1, type = RO, clients = 4}, {idle = 1, type = RO, clients = 2}})
choose("two read only, clients", {{idle = 1, type = RO, clients = 2}, {idle = 1, type = RO, clients = 4}})
choose("two read only, idle", {{idle = 1, type = RO, clients = 2}, {idle = 3, type = RO, clients = 2}})
choose("two read only, fewest without idle", {{idle = 1, type = RO, clients = 2}, {type = RO, clients = 1}})
choose("read only down", {{idle = 1, type = RO, clients = 0, state = DOWN}, {idle = 1, type = RO, clients = 7}})
choose("read only unknown", {{idle = 1, type = RO, clients = 0, state = UNKNOWN}, {idle = 1, type = RO, clients = 7}})
choose("read only unknown alone", {{idle = 1, type = RO, clients = 0, state = UNKNOWN}})
choose("three", {{idle = 1, type = RO, clients = 3}, {idle = 1, type = RO, clients = 1}, {idle = 1, type = RO, clients = 2}})
choose("unknown type", {{idle = 1, type = 0}})
