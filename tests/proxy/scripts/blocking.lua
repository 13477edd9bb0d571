-- Blocking: no change of a whole table, and a list of commands that nobody may use.
local forbidden = { [proxy.COM_SHUTDOWN] = true, [proxy.COM_PROCESS_KILL] = true, [proxy.COM_DEBUG] = true }

local function refuse(message)
	proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errcode = 1227, sqlstate = "42000", errmsg = message }
	return proxy.PROXY_SEND_RESULT
end

function read_query(packet)
	if forbidden[packet:byte()] then return refuse("this command is blocked") end
	if packet:byte() ~= proxy.COM_QUERY then return end
	local statement = packet:sub(2):upper()
	if statement:find("^%s*DELETE%s") or statement:find("^%s*UPDATE%s") then
		if not statement:find("%sWHERE%s") then return refuse("a change of all rows is blocked") end
	elseif statement:find("^%s*DROP%s") then
		return refuse("DROP is blocked for " .. proxy.connection.client.username)
	end
end
