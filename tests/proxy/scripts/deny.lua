-- Nobody is let in, each at another place of the login.
local number = (proxy.global.number or 0) + 1
proxy.global.number = number

local function refuse(hook)
	print(number, hook, proxy.connection.client.username)
	proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errcode = 1000 + number, sqlstate = "HY000", errmsg = hook .. " refuses" }
	return proxy.PROXY_SEND_RESULT
end

function connect_server()
	if number == 1 then return refuse("connect_server") end
end

function read_handshake()
	if number == 2 then return refuse("read_handshake") end
end

function read_auth()
	if number == 3 then return refuse("read_auth") end
end

function read_auth_result(auth)
	if number == 4 then return refuse("read_auth_result") end
end
